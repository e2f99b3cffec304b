package bound_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// withBarrier returns a chain of one stage per device, forwards of 1 tick and fused
// backwards of 2, in which no backward starts before a loss of 5 ticks that waits for
// all forwards of the last stage.
func withBarrier(devices, microBatches int, limit model.Bytes) *model.Pipeline {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: devices, MicroBatches: microBatches, Backward: model.Fused,
		Activation: []model.Bytes{1}, Limit: []model.Bytes{limit}})
	last := devices - 1
	pl.Operations = []model.Operation{{Name: "loss", Letter: "LOSS", Stage: last, Single: true, Duration: 5,
		After: []model.Ref{{Kind: "forward", Stage: last}}, Before: []model.Ref{{Kind: model.Backward, Stage: last}}}}
	return pl
}

// TestBarrier: before a barrier and behind it, a device has all of its work.
func TestBarrier(t *testing.T) {
	for _, c := range []struct{ devices, microBatches int }{{1, 1}, {1, 7}, {2, 2}, {4, 8}, {8, 4}, {4, 3000}, {2, 40000}} {
		p, err := model.Compile(withBarrier(c.devices, c.microBatches, model.Unlimited))
		if err != nil {
			t.Fatal(err)
		}
		want := model.Time(3*(c.microBatches+c.devices-1) + 5)
		if b := bound.Lower(p); b.Value != want {
			t.Errorf("%d devices, %d micro-batches: bound %d, want %d: %s", c.devices, c.microBatches, b.Value, want, b.Reason)
		}
	}
}

// TestBarrierNeedsMemory: all micro-batches are live at a barrier, on every device.
func TestBarrierNeedsMemory(t *testing.T) {
	for _, c := range []struct {
		limit model.Bytes
		want  string
	}{
		{4, ""},
		{3, "device 0 needs 4 for all micro-batches, at the loss of stage 1; its limit is 3: a limit of 4 would fit; device 1 needs 4 (limit 3)"},
	} {
		p, err := model.Compile(withBarrier(2, 4, c.limit))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if no := bound.Infeasible(p); no != nil {
			got = no.Reason
		}
		if got != c.want {
			t.Errorf("limit %d: got %q\nwant %q", c.limit, got, c.want)
		}
	}
}

// TestSpreadBarrier: the work before a barrier counts on devices other than its own,
// and what must still follow it before the barrier.
func TestSpreadBarrier(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 3, Placement: [][]int{{0}, {0}, {1}},
		F: []model.Time{4, 4, 1}, Backward: model.Fused, Latency: 2})
	pl.Devices = append(pl.Devices, model.Device{Name: "network", Limit: model.Unlimited, Engine: true})
	pl.Operations = []model.Operation{{Name: "step", Letter: "STEP", Stage: -1, Single: true, Duration: 7, Devices: []int{2},
		After: []model.Ref{{Kind: "forward", Stage: 2, Lag: 3}}}}
	for s := range pl.Stages {
		d := &pl.Stages[s].Replicas[0].Durations
		d.BackwardInput, d.BackwardWeight, d.BackwardFull = model.Absent, model.Absent, model.Absent
	}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	// Device 0 works for 24 ticks, then 2 of latency, 1 of stage 2, the lag of 3, the step.
	if b := bound.Lower(p); b.Value != 24+2+1+3+7 {
		t.Errorf("bound %d, want 37: %s", b.Value, b.Reason)
	}
}

// TestPlansWithOperations compares the bounds of larger problems with operations of
// their own with random plans, in limits that are just what these take.
func TestPlansWithOperations(t *testing.T) {
	for seed := range uint64(enough()) {
		pl := modelgen.RandomPipeline(seed, 12)
		if len(pl.Operations) == 0 {
			modelgen.AddOperations(pl, seed)
		}
		pl.Objective = model.Objective(seed % 2)
		p := compile(t, pl)
		plan, _ := modelgen.RandomPlan(p, seed)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m := model.Measure(p, plan, tl)
		for d := range pl.Devices {
			if !pl.Devices[d].Engine {
				pl.Devices[d].Limit = m.Devices[d].Peak
			}
		}
		p = compile(t, pl)
		if err := constraints.Check(p, plan, tl).Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if no := bound.Infeasible(p); no != nil {
			t.Errorf("seed %d: called infeasible, but has a plan: %s\n%s", seed, no.Reason, describe(pl))
		}
		if b := bound.Lower(p); b.Value > m.Value(pl.Objective) {
			t.Errorf("seed %d: bound %d above a plan of %d: %s\n%s", seed, b.Value, m.Value(pl.Objective), b.Reason, describe(pl))
		}
	}
}

func compile(t *testing.T, pl *model.Pipeline) *model.Problem {
	t.Helper()
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
