package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// clocked is a device whose operations last a tick a second.
func clocked(p *model.Problem) *fake {
	return &fake{compute: func(_ context.Context, op model.OpID) error {
		time.Sleep(time.Duration(p.Duration(op)) * time.Second)
		return nil
	}}
}

// TestTimes runs random plans on a virtual clock, on which the engine itself takes no time:
// then what it records is the timeline that the model computes, and so is all that follows.
func TestTimes(t *testing.T) {
	for seed := range uint64(60) {
		s := modelgen.Random(seed, 4)
		s.Latency, s.Blocking = s.Latency*model.Time(seed%2), seed%2 == 1
		p := modelgen.Problem(s)
		plan, _ := modelgen.RandomPlan(p, seed)
		synctest.Test(t, func(t *testing.T) { testTimes(t, p, plan, seed) })
	}
}

func testTimes(t *testing.T, p *model.Problem, plan *model.Plan, seed uint64) {
	devices := make([]pipert.Device, p.NumDevices())
	for d := range devices {
		devices[d] = clocked(p)
	}
	e := newEngine(t, lowered(t, p, plan), devices, pipert.Options{Stall: time.Hour})
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	m := model.Measure(p, plan, tl)
	for range 2 { // an engine may run again
		record, err := e.Run(t.Context())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkTimes(t, p, tl, record, seed)
		if record.Makespan != time.Duration(m.Makespan)*time.Second {
			t.Errorf("seed %d: makespan %v, want %d s", seed, record.Makespan, m.Makespan)
		}
		for d, got := range record.Devices {
			last, work := model.Time(0), model.Time(0)
			for _, op := range plan.Order[d] {
				last = max(last, tl.End(p, op))
				if p.Kinds[p.Row(op).Kind].Busy {
					work += p.Duration(op)
				}
			}
			want := pipert.DeviceRecord{
				Busy: time.Duration(work) * time.Second, Wait: time.Duration(last-work) * time.Second,
				Peak: m.Devices[d].Peak, Preempted: -1,
			}
			if got != want {
				t.Errorf("seed %d, device %d: got %+v, want %+v", seed, d, got, want)
			}
		}
	}
}

func checkTimes(t *testing.T, p *model.Problem, tl *model.Timeline, record *pipert.Record, seed uint64) {
	t.Helper()
	for op := range model.OpID(p.NumOps()) {
		start, end := int64(-1), int64(-1)
		if tl.Start[op] != model.Absent {
			start, end = int64(tl.Start[op])*1e9, int64(tl.End(p, op))*1e9
		}
		if record.Start[op] != start || record.End[op] != end {
			t.Errorf("seed %d: %s ran from %d to %d, want %d to %d", seed, p.Name(op), record.Start[op], record.End[op], start, end)
		}
	}
}

// TestAccounts has busy, waiting and overhead add up on the real clock, every operation
// run once, after what it waits for, and as often as the plan says.
func TestAccounts(t *testing.T) {
	for _, processors := range []int{1, 2, 8} {
		for _, locked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%v", processors, locked), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				checkLeaks(t)
				for seed := range uint64(20) {
					testAccounts(t, seed, locked)
				}
			})
		}
	}
}

func testAccounts(t *testing.T, seed uint64, locked bool) {
	s := modelgen.Random(seed, 6)
	s.Blocking = seed%2 == 0
	p := modelgen.Problem(s)
	plan, _ := modelgen.RandomPlan(p, seed)
	var calls atomic.Int64
	devices := make([]pipert.Device, p.NumDevices())
	for d := range devices {
		devices[d] = &fake{compute: func(context.Context, model.OpID) error { calls.Add(1); return nil }}
	}
	e := newEngine(t, lowered(t, p, plan), devices, pipert.Options{LockThreads: locked})
	for range 3 {
		calls.Store(0)
		record, err := e.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if calls.Load() != int64(plan.NumOps()) {
			t.Errorf("%d operations ran, the plan has %d", calls.Load(), plan.NumOps())
		}
		for d, order := range plan.Order {
			got, before := record.Devices[d], int64(0)
			for _, op := range order {
				if record.Start[op] < before || record.End[op] < record.Start[op] {
					t.Errorf("device %d: %s ran from %d to %d, the one before it to %d", d, p.Name(op), record.Start[op], record.End[op], before)
				}
				before = record.End[op]
				for _, pred := range p.Row(op).Preds {
					first, end := p.PredOps(p.RowOf(op), p.Index(op), pred)
					for ; first < end; first++ {
						if record.End[first] > record.Start[op] {
							t.Errorf("%s started before %s had ended", p.Name(op), p.Name(first))
						}
					}
				}
			}
			if got.Busy < 0 || got.Wait < 0 || got.Overhead < 0 || int64(got.Busy+got.Wait+got.Overhead) < before {
				t.Errorf("device %d: %+v, last end %d", d, got, before)
			}
			if got.Live != 0 || (got.Preempted >= 0) != (locked && pipert.MeasuresThreads) {
				t.Errorf("device %d: %+v", d, got)
			}
		}
	}
}

// TestPayload hands what one device sends to the other.
func TestPayload(t *testing.T) {
	p, plan := chain()
	devices := fakes(2)
	devices[0].(*fake).send = func(m int) (any, error) { return m * 10, nil }
	devices[1].(*fake).receive = func(m int, payload any) error {
		if payload != m*10 {
			return fmt.Errorf("message %d carries %v", m, payload)
		}
		return nil
	}
	if _, err := newEngine(t, assemble(p, plan), devices, pipert.Options{}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestPreempted counts operations that sleep, and none that work.
func TestPreempted(t *testing.T) {
	if !pipert.MeasuresThreads {
		t.Skip("the CPU time of threads is not measured here")
	}
	p, plan := chain()
	devices := fakes(2)
	devices[0].(*fake).compute = func(context.Context, model.OpID) error { time.Sleep(time.Millisecond); return nil }
	record, err := newEngine(t, assemble(p, plan), devices, pipert.Options{LockThreads: true}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if record.Devices[0].Preempted != 4 {
		t.Errorf("%d operations of device 0 preempted, want all 4", record.Devices[0].Preempted)
	}
}

// TestForm refuses programs that no engine could run.
func TestForm(t *testing.T) {
	p, plan := chain()
	for _, c := range []struct {
		text  string
		spoil func(pr *lower.Program)
	}{
		{"program: there are programs for 1 devices and 2 devices to run them, the problem has 2",
			func(pr *lower.Program) { pr.Devices = pr.Devices[:1] }},
		{"program: device 0, step 1: operation 99 does not exist", func(pr *lower.Program) { pr.Devices[0][1].Op = 99 }},
		{"program: device 0, step 2: message 77 does not exist", func(pr *lower.Program) { pr.Devices[0][2].Message = 77 }},
		{"program: device 1, step 0: code 9 does not exist", func(pr *lower.Program) { pr.Devices[1][0].Code = 9 }},
		{"program: device 1, step 0: sends message 2, which comes from device 0", func(pr *lower.Program) { pr.Devices[1][0].Code = lower.Send }},
		{"program: device 0, step 2: receives message 2, which goes to device 1", func(pr *lower.Program) { pr.Devices[0][2].Code = lower.Receive }},
		{"program: device 0, step 0: -1 bytes of memory: a Take or Give of less than nothing", func(pr *lower.Program) { pr.Devices[0][0].Bytes = -1 }},
		{"program: device 0, step 4: 0F0 is computed twice", func(pr *lower.Program) { pr.Devices[0][4].Op = pr.Devices[0][1].Op }},
		{"program: message 2 goes from device 0 to itself", func(pr *lower.Program) { pr.Messages[2].To = 0 }},
		{"program: message 1 names device 5, which does not exist", func(pr *lower.Program) { pr.Messages[1].To = 5 }},
		{"program: message 0 names operation -1, which does not exist", func(pr *lower.Program) { pr.Messages[0].Consumer = -1 }},
	} {
		pr := assemble(p, plan)
		c.spoil(pr)
		_, err := pipert.NewEngine(pr, fakes(2), pipert.Options{})
		var form *pipert.ProgramError
		if !errors.As(err, &form) {
			t.Errorf("no error for: %s", c.text)
			continue
		}
		lines(t, err.Error(), c.text)
	}
	if _, err := pipert.NewEngine(assemble(p, plan), []pipert.Device{&fake{}, nil}, pipert.Options{}); err == nil {
		t.Error("a device is missing, and there is no error")
	}
}

// TestAllocations has an operation allocate nothing: a program of twice the length takes as
// many allocations.
func TestAllocations(t *testing.T) {
	measure := func(microBatches int) float64 {
		p := modelgen.Problem(modelgen.Spec{Devices: 4, MicroBatches: microBatches, Backward: model.Fused})
		e := newEngine(t, lowered(t, p, oneForwardOneBackward(p)), fakes(4), pipert.Options{})
		return testing.AllocsPerRun(20, func() {
			if _, err := e.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
	short, long := measure(50), measure(400)
	if long > short+10 {
		t.Errorf("%.0f allocations for 50 micro-batches, %.0f for 400", short, long)
	}
}

// TestGang has three devices run an operation together that takes each of them another time:
// they start when the last one has come, and end with the slowest.
func TestGang(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 3, MicroBatches: 1, Backward: model.Fused, Placement: [][]int{{0}, {0, 1, 2}}})
	plan := orders(p, []string{"0F0", "1F0", "1B0", "0B0"}, []string{"1F0", "1B0"}, []string{"1F0", "1B0"})
	synctest.Test(t, func(t *testing.T) {
		devices := make([]pipert.Device, 3)
		for d := range devices {
			devices[d] = &fake{compute: func(context.Context, model.OpID) error {
				time.Sleep(time.Duration(2+3*d) * time.Second)
				return nil
			}}
		}
		record, err := newEngine(t, lowered(t, p, plan), devices, pipert.Options{}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, times := range [][2]int64{{0, 2}, {2, 10}, {10, 18}, {18, 20}} {
			op := plan.Order[0][i]
			if record.Start[op] != times[0]*1e9 || record.End[op] != times[1]*1e9 {
				t.Errorf("%s ran from %d to %d, want %d to %d s", p.Name(op), record.Start[op], record.End[op], times[0], times[1])
			}
		}
		for d, want := range []pipert.DeviceRecord{
			{Busy: 8 * time.Second, Wait: 12 * time.Second, Preempted: -1},
			{Busy: 10 * time.Second, Wait: 8 * time.Second, Preempted: -1},
			{Busy: 16 * time.Second, Wait: 2 * time.Second, Preempted: -1},
		} {
			if record.Devices[d] != want {
				t.Errorf("device %d: %+v, want %+v", d, record.Devices[d], want)
			}
		}
	})
}
