package runtime

import (
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// course returns a plan of pair's forwards, with the message of each, and a record in which
// forwards start at the given times and take 10 each.
func course(t *testing.T, starts [2][3]int64) (*lower.Program, *Record) {
	t.Helper()
	p, err := model.Compile(pair())
	if err != nil {
		t.Fatal(err)
	}
	program := &lower.Program{Problem: p, Plan: &model.Plan{Order: make([][]model.OpID, 2)}}
	r := &Record{Start: make([]int64, p.NumOps()), End: make([]int64, p.NumOps())}
	for op := range r.Start {
		r.Start[op], r.End[op] = -1, -1
	}
	for d, row := range starts {
		for m, start := range row {
			op := p.Op(rowOf(p, d, model.Forward), m)
			program.Plan.Order[d] = append(program.Plan.Order[d], op)
			r.Start[op], r.End[op] = start, start+10
			if d == 1 {
				program.Messages = append(program.Messages, lower.Message{
					Producer: program.Plan.Order[0][m], Consumer: op, From: 0, To: 1, Carries: lower.Output})
			}
		}
	}
	return program, r
}

func rowOf(p *model.Problem, stage int, kind model.Kind) int {
	for row := range p.Rows {
		if p.Rows[row].Stage == stage && p.Rows[row].Kind == kind {
			return row
		}
	}
	return -1
}

func TestHops(t *testing.T) {
	// The first forward of stage 1 comes 3 after its input, the second 5; the third had its
	// input long before its device was free.
	program, r := course(t, [2][3]int64{{0, 14, 24}, {13, 29, 45}})
	if got, want := Hops(program, []*Record{r}), (Quantiles{2, 3.2, 4, 4.8}); got != want {
		t.Errorf("hops %v, want %v", got, want)
	}
}

// TestHopsOfOthers has consumers that wait for more than one message: a hop is that of the
// message that came last, also if it carries nothing, if all devices of a gang were free.
func TestHopsOfOthers(t *testing.T) {
	for want, change := range map[Quantiles]func(program *lower.Program, r *Record){
		// Another message to the first forward left 1 later, with nothing in it, 2 before the start.
		{2, 2.3, 3.5, 4.7}: func(program *lower.Program, r *Record) {
			late := program.Plan.Order[0][1]
			r.End[late] = 11
			program.Messages = append(program.Messages, lower.Message{Producer: late, Consumer: program.Plan.Order[1][0], From: 0, To: 1})
			program.Messages[1].Producer = program.Plan.Order[0][2]
			r.End[program.Plan.Order[0][2]] = 24
		},
		// The second forward stands in the order of device 0, too, as that of a gang.
		{1, 3, 3, 3}: func(program *lower.Program, _ *Record) {
			program.Plan.Order[0] = append(program.Plan.Order[0], program.Plan.Order[1][1])
		},
	} {
		program, r := course(t, [2][3]int64{{0, 14, 24}, {13, 29, 45}})
		change(program, r)
		if got := Hops(program, []*Record{r}); got != want {
			t.Errorf("hops %v, want %v", got, want)
		}
	}
}

func TestRowTimes(t *testing.T) {
	program, r := course(t, [2][3]int64{{0, 10, 20}, {13, 25, 36}})
	p := program.Problem
	times := RowTimes(p, []*Record{r, r})
	if got := times[rowOf(p, 1, model.Forward)]; got.N != 6 || got.Median != 10 {
		t.Errorf("forward of stage 1: %+v, want 6 samples of 10", got)
	}
	if got := times[rowOf(p, 1, model.BackwardInput)]; got.N != 0 {
		t.Errorf("backward of stage 1: %+v, want none", got)
	}
}

func TestShares(t *testing.T) {
	program, r := course(t, [2][3]int64{{0, 10, 20}, {13, 25, 36}})
	_ = program
	r.Devices = []DeviceRecord{{Busy: 30, Wait: 5, Overhead: 1, Preempted: 1}, {Busy: 30, Wait: 6, Overhead: 2, Preempted: 2}}
	other := &Record{Start: r.Start, Devices: []DeviceRecord{{Busy: 40, Wait: 7, Overhead: 3}, {Busy: 30, Wait: 6, Overhead: 2}}}
	if got, want := DeviceShares([]*Record{r, other})[0], (Shares{35 * time.Nanosecond, 6, 2}); got != want {
		t.Errorf("shares %v, want %v", got, want)
	}
	if got := PreemptedShare([]*Record{r, other}); got != 0.25 {
		t.Errorf("preempted %v, want 0.25", got)
	}
	r.Devices[1].Preempted = -1
	if got := PreemptedShare([]*Record{r, other}); got != -1 {
		t.Errorf("preempted %v, want -1 where it is not measured", got)
	}
}
