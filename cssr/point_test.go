package cssr_test

import (
	"context"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestPointsNameSchedules shows that a few choices are enough to name schedules
// of the literature. The decoded orders of GPipe and 1F1B are the published ones.
// In interleaved 1F1B the published order waits where an actor of ours goes on
// with other ready work, so there the test compares makespan and memory.
func TestPointsNameSchedules(t *testing.T) {
	for p := 2; p <= 6; p++ {
		for _, m := range []int{p, 2 * p, 3 * p} {
			gpipe := cssr.Point{Types: []model.Kind{model.Forward}}
			comparePoint(t, "gpipe", p, m, 1, gpipe, true)
			oneByOne := cssr.Point{Types: []model.Kind{model.BackwardFull},
				InFlight: perActor(p, func(d int) int { return p - d })}
			comparePoint(t, "1f1b", p, m, 1, oneByOne, true)
			for v := 2; v <= 3; v++ {
				interleaved := cssr.Point{Types: []model.Kind{model.Forward}, Group: p,
					InFlight: perActor(p, func(d int) int { return 2*(p-1-d) + (v-1)*p + 1 })}
				comparePoint(t, "interleaved", p, m, v, interleaved, false)
			}
		}
	}
}

// comparePoint compares the plan of a point with the named schedule on P devices
// with v chunks of unit costs each.
func comparePoint(t *testing.T, name string, p, m, v int, point cssr.Point, sameOrder bool) {
	t.Helper()
	problem := modelgen.Problem(modelgen.Spec{Devices: p, MicroBatches: m, Backward: model.Fused,
		Placement: model.LoopPlacement(v*p, p), Activation: []model.Bytes{1}})
	schedule, err := heuristics.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := schedule.Build(problem)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cssr.NewDecoder(problem).Decode(context.Background(), point.Rule(problem), 0)
	if err != nil {
		t.Fatal(err)
	}
	published, decoded := measured(t, problem, want), measured(t, problem, &out.Plan)
	if decoded.Makespan > published.Makespan {
		t.Errorf("%s P=%d M=%d v=%d: makespan %d, published %d", name, p, m, v, decoded.Makespan, published.Makespan)
	}
	for d := range want.Order {
		if decoded.Devices[d].Peak > published.Devices[d].Peak {
			t.Errorf("%s P=%d M=%d v=%d device %d: peak %d, published %d", name, p, m, v, d, decoded.Devices[d].Peak, published.Devices[d].Peak)
		}
		if sameOrder && !slices.Equal(want.Order[d], out.Plan.Order[d]) {
			t.Errorf("%s P=%d M=%d device %d: another order", name, p, m, d)
		}
	}
}

// measured evaluates and judges a plan.
func measured(t *testing.T, p *model.Problem, plan *model.Plan) *model.Metrics {
	t.Helper()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := constraints.Check(p, plan, tl).Err(); err != nil {
		t.Fatal(err)
	}
	return model.Measure(p, plan, tl)
}

func perActor(devices int, f func(d int) int) []int {
	list := make([]int, devices)
	for d := range list {
		list[d] = f(d)
	}
	return list
}

// TestTightBoundsNeverBlock decodes random problems with in-flight bounds of 1
// or 2 and memory for little more than one micro-batch, and judges the plans.
func TestTightBoundsNeverBlock(t *testing.T) {
	for seed := range uint64(2000) {
		spec := modelgen.Random(seed, 6)
		p := modelgen.Problem(spec)
		point := cssr.Point{
			Types:     [][]model.Kind{{model.Forward}, {model.BackwardInput, model.Forward}, {model.BackwardWeight}}[seed%3],
			Traversal: cssr.Traversal(seed / 3 % 3),
			Group:     int(seed / 9 % 4),
			InFlight:  perActor(spec.Devices, func(int) int { return 1 + int(seed%2) }),
			Patience:  int(seed / 2 % 2 * 8),
		}
		out, err := cssr.NewDecoder(p).Decode(context.Background(), point.Rule(p), 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		measured(t, p, &out.Plan)
	}
}
