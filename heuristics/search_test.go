package heuristics_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestSearchFindsJudgedPlans searches random problems with every feature, for
// both objectives. Every plan passes the judge, has the value that the result
// names, and lies on or above the lower bound.
func TestSearchFindsJudgedPlans(t *testing.T) {
	for seed := range uint64(600) {
		pl := modelgen.RandomPipeline(seed, 4)
		pl.Objective = model.Objective(seed % 2)
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		r, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: seed, Tries: 60})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		tl, err := model.Evaluate(p, r.Plan)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := constraints.Check(p, r.Plan, tl).Err(); err != nil {
			t.Fatalf("seed %d, %s: %v", seed, r.Rule, err)
		}
		if v := model.Measure(p, r.Plan, tl).Value(pl.Objective); v != r.Value {
			t.Errorf("seed %d, %s: value %d, result says %d", seed, r.Rule, v, r.Value)
		}
		if b := bound.Lower(p); b.Value > r.Value {
			t.Errorf("seed %d: bound %d (%s) above value %d", seed, b.Value, b.Reason, r.Value)
		}
	}
}

// TestSearchIsDeterministic demands the same result from any number of workers.
func TestSearchIsDeterministic(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 4, MicroBatches: 8, Latency: 1,
		F: []model.Time{8, 12, 9, 10}, I: []model.Time{13, 9, 10, 11}, W: []model.Time{7, 11, 8, 9},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{8}})
	var first *heuristics.Result
	for _, workers := range []int{1, 2, 3, 16} {
		r, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 7, Workers: workers, Tries: 300})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if !reflect.DeepEqual(first, r) {
			t.Errorf("%d workers: value %d by %s after %d tries; 1 worker: %d by %s after %d", workers, r.Value, r.Rule, r.Tries, first.Value, first.Rule, first.Tries)
		}
	}
}

// TestSearchReportsWhatDoesNotFit demands a typed error for a device that cannot
// hold a single micro-batch, and the context's error before the first plan.
func TestSearchReportsWhatDoesNotFit(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Activation: []model.Bytes{3}, Limit: []model.Bytes{3, 2}})
	_, err := heuristics.Search(context.Background(), p, heuristics.Options{})
	var memory *cssr.MemoryError
	if !errors.As(err, &memory) || memory.Device != 1 || memory.Need != 3 || memory.Limit != 2 {
		t.Errorf("error %v, want a memory error for device 1", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := heuristics.Search(ctx, modelgen.Unit(2, 2), heuristics.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context canceled", err)
	}
}

// TestSearchRefusesOnlyWhatCannotFit compares refusals on random limits with the
// proof of infeasibility. On a chain of stages they agree; on other graphs the
// search may refuse more, but nothing that is proved infeasible gets a plan.
func TestSearchRefusesOnlyWhatCannotFit(t *testing.T) {
	chains, proved, unproved := 0, 0, 0
	for seed := range uint64(4000) {
		pl := modelgen.RandomPipeline(seed, 3)
		for d := range pl.Devices {
			if !pl.Devices[d].Engine {
				pl.Devices[d].Limit = model.Bytes((seed*7 + uint64(d)*3) % 14)
			}
		}
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		_, err = heuristics.Search(context.Background(), p, heuristics.Options{Tries: 1})
		var memory *cssr.MemoryError
		refused, infeasible := errors.As(err, &memory), bound.Infeasible(p) != nil
		if err != nil && !refused {
			t.Fatalf("seed %d: %v", seed, err)
		}
		switch {
		case infeasible && !refused:
			t.Errorf("seed %d: a plan for a problem that is proved infeasible", seed)
		case infeasible:
			proved++
		case refused && isChain(pl) && len(pl.Operations) == 0:
			t.Errorf("seed %d: refused without a proof: %v", seed, memory)
		case refused:
			unproved++
		}
		if isChain(pl) {
			chains++
		}
	}
	t.Logf("%d chains; %d proved infeasible, %d refused without proof", chains, proved, unproved)
}

func isChain(pl *model.Pipeline) bool {
	for s, st := range pl.Stages {
		if s == 0 && len(st.After) > 0 || s > 0 && (len(st.After) != 1 || st.After[0] != s-1) {
			return false
		}
	}
	return true
}

// TestNamedSchedulesAreAlwaysTried demands the plan of a named schedule where a
// single rule does worse.
func TestNamedSchedulesAreAlwaysTried(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 8, MicroBatches: 32,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9}, Latency: 1,
		Activation: []model.Bytes{1}, Limit: []model.Bytes{8}})
	r, err := heuristics.Search(context.Background(), p, heuristics.Options{Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Rule != "zb-h1" {
		t.Errorf("value %d by %s, want that of zb-h1", r.Value, r.Rule)
	}
}

// TestSearchDoesNotDependOnTheUnit demands the same order for costs that are
// multiplied by a large factor.
func TestSearchDoesNotDependOnTheUnit(t *testing.T) {
	var orders [][][]model.OpID
	for _, unit := range []model.Time{1, 1e13} {
		p := modelgen.Problem(modelgen.Spec{Devices: 3, MicroBatches: 6, Latency: unit,
			F: []model.Time{10 * unit, 7 * unit, 12 * unit}, I: []model.Time{11 * unit}, W: []model.Time{9 * unit},
			Activation: []model.Bytes{1}, Limit: []model.Bytes{3}})
		r, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 3, Tries: 200})
		if err != nil {
			t.Fatal(err)
		}
		orders = append(orders, r.Plan.Order)
	}
	if !reflect.DeepEqual(orders[0], orders[1]) {
		t.Error("the order depends on the unit of time")
	}
}

// TestSearchSavesMemory demands, among plans of the same makespan, one that takes
// little memory: that of 1F1B on a chain with fused backward passes, and no more
// than ZB-V takes on a V.
func TestSearchSavesMemory(t *testing.T) {
	v, _ := model.VPlacement(8, 4)
	for _, c := range []struct {
		name string
		spec modelgen.Spec
		want []model.Bytes
	}{
		{"chain", modelgen.Spec{Devices: 4, MicroBatches: 16, Backward: model.Fused}, []model.Bytes{4, 3, 2, 1}},
		{"uneven chain", modelgen.Spec{Devices: 4, MicroBatches: 16, Backward: model.Fused,
			F: []model.Time{1, 2, 1, 2}, Latency: 1}, []model.Bytes{7, 6, 4, 2}},
		{"V", modelgen.Spec{Devices: 4, MicroBatches: 8, Placement: v}, []model.Bytes{8, 8, 8, 8}},
	} {
		c.spec.Activation = []model.Bytes{1}
		p := modelgen.Problem(c.spec)
		r, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 1, Target: bound.Lower(p).Value})
		if err != nil {
			t.Fatal(err)
		}
		for d, dm := range model.Measure(p, r.Plan, evaluate(t, p, r.Plan)).Devices {
			if dm.Peak > c.want[d] {
				t.Errorf("%s: device %d takes %d, want at most %d (%s)", c.name, d, dm.Peak, c.want[d], r.Rule)
			}
		}
	}
}

// TestSearchChoosesFusion demands the optimum of a case where only some backward
// passes should be fused (the fused one is shorter than its two halves).
func TestSearchChoosesFusion(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 4, Backward: model.Auto,
		I: []model.Time{2}, W: []model.Time{2}, B: []model.Time{3}})
	r, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Value != 19 { // all separated 21, all fused 20
		t.Errorf("value %d, want 19", r.Value)
	}
}

func BenchmarkSearch(b *testing.B) {
	p := modelgen.Problem(modelgen.Spec{Devices: 8, MicroBatches: 32,
		Placement: func() [][]int { v, _ := model.VPlacement(16, 8); return v }(),
		F:         []model.Time{10}, I: []model.Time{11}, W: []model.Time{9}, Latency: 1,
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{16}})
	for b.Loop() {
		if _, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 1, Tries: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

func evaluate(t *testing.T, p *model.Problem, plan *model.Plan) *model.Timeline {
	t.Helper()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}
