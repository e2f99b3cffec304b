package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// probeLayer is a layer that computes little and looks closely at what it is given.
type probeLayer struct {
	t      *testing.T
	name   string
	f      footprint
	weight *parameter
	last   bool // puts nothing out
}

func (l *probeLayer) footprint() footprint     { return l.f }
func (l *probeLayer) parameters() []*parameter { return []*parameter{l.weight} }

// holds tests that the parts of a record have the lengths given.
func (l *probeLayer) holds(call string, r *record, input, retained, kept, scores, added int) {
	l.t.Helper()
	got := fmt.Sprint(len(r.input), len(r.retained), len(r.kept), len(r.scores), len(r.added), len(r.work))
	if want := fmt.Sprint(input, retained, kept, scores, added, l.f.work); got != want {
		l.t.Errorf("%s of %s: input, retained, kept, scores, added, work have %s elements, want %s", call, l.name, got, want)
	}
}

// fill writes a value everywhere, so that two parts in the same place are noticed.
func fill(data []float32, x float32) {
	for i := range data {
		data[i] = x
	}
}

// want tests that all of data has a value.
func (l *probeLayer) want(call, what string, data []float32, x float32) {
	l.t.Helper()
	for _, y := range data {
		if y != x {
			l.t.Errorf("%s of %s: %s holds %v, want %v", call, l.name, what, y, x)
			return
		}
	}
}

func (l *probeLayer) forward(r *record, in [][]float32, out []float32) {
	l.holds("forward", r, l.f.input, l.f.retained, l.f.kept, l.f.scores, 0)
	fill(r.work, -1)
	x := in[0][0]
	fill(out, x+1)
	l.want("forward", "in, after out is written,", in[0], x)
	fill(r.input, x)
	l.rest(r)
}

func (l *probeLayer) rest(r *record) {
	fill(r.retained, 2)
	fill(r.kept, 3)
	fill(r.scores, 4)
}

func (l *probeLayer) rebuild(r *record) {
	l.holds("rebuild", r, l.f.input, l.f.retained, l.f.kept, l.f.scores, 0)
	l.rest(r)
}

func (l *probeLayer) backwardInput(r *record, dout []float32, din [][]float32) {
	l.holds("backwardInput", r, l.f.input, l.f.retained, l.f.kept, l.f.scores, l.f.added)
	fill(r.work, -2)
	if r.rescore {
		fill(r.scores, 4)
	}
	l.want("backwardInput", "retained", r.retained, 2)
	l.want("backwardInput", "kept", r.kept, 3)
	l.want("backwardInput", "scores", r.scores, 4)
	fill(r.added, 5)
	gradient := float32(1)
	if !l.last {
		gradient = dout[0]
		l.want("backwardInput", "dout", dout, gradient)
	}
	fill(din[0], gradient*2)
	l.want("backwardInput", "dout, after din is written,", dout, gradient)
}

func (l *probeLayer) backwardWeight(r *record) {
	l.holds("backwardWeight", r, l.f.input, l.f.retained, 0, 0, l.f.added)
	fill(r.work, -3)
	l.want("backwardWeight", "retained", r.retained, 2)
	l.want("backwardWeight", "added", r.added, 5)
	l.weight.grad[0]++
}

// probeStage builds a stage of probe layers with the footprints given.
func probeStage(t *testing.T, prints []footprint, r network.Recompute, microBatches int) *stage {
	s := &stage{home: &home{memory: newAllocator()}, between: 5, slice: network.Slice{End: len(prints)}}
	for i, f := range prints {
		l := &probeLayer{t: t, name: fmt.Sprintf("layer %d (%v)", i, r), f: f, weight: &parameter{name: "w", rows: 1, cols: 1, value: make([]float32, 1), grad: make([]float32, 1)}}
		l.last = i == len(prints)-1
		s.layers = append(s.layers, l)
		s.plans = append(s.plans, planMemory(f, r))
		s.parameters = append(s.parameters, l.weight)
	}
	for range microBatches {
		s.records = append(s.records, make([]record, len(prints)))
	}
	s.home.work = make([]float32, s.work())
	return s
}

// TestStageMemory runs stages of all footprints under all recomputations, with micro-batches
// in flight, and compares what is held after and within each operation with what bytes says.
func TestStageMemory(t *testing.T) {
	prints := []footprint{
		{added: 7, fixed: true},                    // an embedding: grows
		{input: 5, retained: 6, added: 3, work: 2}, // an mlp: grows
		{input: 3, retained: 11, kept: 2, scores: 9, work: 4},
		{input: 4, retained: 6, kept: 8, work: 1},
		{input: 4, retained: 6, kept: 20, fixed: true, work: 30}, // a head: shrinks
	}
	for _, r := range []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull} {
		for first := range prints {
			for end := first + 1; end <= len(prints); end++ {
				checkStageMemory(t, probeStage(t, prints[first:end], r, 3))
			}
		}
	}
}

func checkStageMemory(t *testing.T, s *stage) {
	t.Helper()
	ctx, a, b := context.Background(), s.home.memory, s.bytes()
	live := int64(0)
	step := func(name string, atStart, atEnd int64, run func() error) {
		t.Helper()
		a.peak = 0
		if err := run(); err != nil {
			t.Fatal(err)
		}
		peak := max(live, live+atStart) // the problem's view of the operation
		live += atStart + atEnd
		if a.live != live || max(a.peak, a.live) > max(peak, live) {
			t.Errorf("%s: %d bytes after it and %d within, want %d and at most %d", name, a.live, a.peak, live, peak)
		}
	}
	in, out, din := [][]float32{{1, 1, 1, 1, 1}}, make([]float32, 5), [][]float32{make([]float32, 5)}
	forward := func(m int) {
		step("forward", b.Activation, 0, func() error { return s.forward(ctx, m, in, out) })
	}
	input := func(m int) {
		freed := b.FreedByBackwardInput
		step("backward input", max(0, -freed), -max(0, freed), func() error { return s.backwardInput(ctx, m, nil, din) })
	}
	weight := func(m int) {
		step("backward weight", 0, b.FreedByBackwardInput-b.Activation, func() error { return s.backwardWeight(ctx, m) })
	}
	s.begin([][]*batch{{{}}, {{}}, {{}}})
	forward(0)
	forward(1)
	input(0)
	forward(2)
	input(2)
	weight(2)
	input(1)
	weight(0)
	weight(1)
	if live != 0 {
		t.Errorf("%d bytes are left in the count of the test", live)
	}
	if want := float32(1 + len(s.layers)); out[0] != want {
		t.Errorf("the stage puts out %v, want %v", out[0], want)
	}
	if want := float32(int(1) << len(s.layers)); din[0][0] != want {
		t.Errorf("the gradient is %v, want %v", din[0][0], want)
	}
	for _, p := range s.parameters {
		if p.grad[0] != 3 {
			t.Errorf("a gradient got %v micro-batches, want 3", p.grad[0])
		}
	}
}

// TestStageStops tests that a stage looks at its context between layers.
func TestStageStops(t *testing.T) {
	s := probeStage(t, []footprint{{input: 1}, {input: 1}}, network.RecomputeNone, 1)
	s.begin([][]*batch{{{}}})
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := fmt.Errorf("enough")
	cancel(cause)
	in := [][]float32{make([]float32, 5)}
	for name, err := range map[string]error{
		"forward":         s.forward(ctx, 0, in, make([]float32, 5)),
		"backward input":  s.backwardInput(ctx, 0, nil, in),
		"backward weight": s.backwardWeight(ctx, 0),
	} {
		if err != cause {
			t.Errorf("%s returned %v, want the cause of the end", name, err)
		}
	}
}

// TestAllocator compares the allocator with a count of its own, and demands that it uses
// memory again.
func TestAllocator(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := newAllocator()
	var held [][]float32
	live, peak := int64(0), int64(0)
	for range 1000 {
		if len(held) < 10 && r.IntN(2) == 0 {
			data := a.take(r.IntN(5))
			held = append(held, data)
			live += int64(len(data)) * 4
			peak = max(peak, live)
		} else if len(held) > 0 {
			last := len(held) - 1
			live -= int64(len(held[last])) * 4
			a.give(&held[last])
			if held[last] != nil {
				t.Fatal("what is given back can still be reached")
			}
			held = held[:last]
		}
		if a.live != live || a.peak != peak {
			t.Fatalf("live %d, peak %d, want %d, %d", a.live, a.peak, live, peak)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		x, y := a.take(3), a.take(3)
		a.give(&x)
		a.give(&y)
	}); n != 0 {
		t.Errorf("%v allocations in steady state, want none", n)
	}
	a.take(7)
	if a.restart(); a.live != 0 || a.peak != 0 {
		t.Errorf("after a restart %d bytes are live and %d the peak", a.live, a.peak)
	}
}
