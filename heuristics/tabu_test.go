package heuristics

import (
	"context"
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestTabuImproves improves poor plans of random problems, with memory limits,
// operations of no length and both objectives. No plan gets worse, many get
// better, each passes the judge and has the value that is returned, and the same
// seed leads to the same plan.
func TestTabuImproves(t *testing.T) {
	tried, better := 0, 0
	for seed := range uint64(1500) {
		pl := modelgen.RandomPipeline(seed, 5)
		if seed%2 == 0 {
			pl = modelgen.Pipeline(modelgen.Random(seed, 6))
		}
		pl.Objective = model.Objective(seed / 2 % 2)
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		if !tabuFits(p) {
			continue
		}
		tried++
		out, err := cssr.NewDecoder(p).Decode(context.Background(), cssr.NewRule(p), 0)
		if err != nil {
			t.Fatal(err)
		}
		start := out.Clone()
		tl, err := model.Evaluate(p, start)
		if err != nil {
			t.Fatal(err)
		}
		value := model.Measure(p, start, tl).Value(pl.Objective)
		plan, got := improve(context.Background(), p, start, value, 0, seed)
		if again, _ := improve(context.Background(), p, start, value, 0, seed); !reflect.DeepEqual(plan, again) {
			t.Errorf("seed %d: two runs differ", seed)
		}
		if tl, err = model.Evaluate(p, plan); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := constraints.Check(p, plan, tl).Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if v := model.Measure(p, plan, tl).Value(pl.Objective); v != got || got > value {
			t.Errorf("seed %d: value %d, returned %d, at first %d", seed, v, got, value)
		}
		if got < value {
			better++
		}
	}
	t.Logf("%d of %d plans improved", better, tried)
	if better < tried/5 {
		t.Error("the search has stopped to improve")
	}
}

// TestTabuFindsTheOptimum starts from an order that finishes each micro-batch
// before the next begins, and demands the closed form.
func TestTabuFindsTheOptimum(t *testing.T) {
	p := modelgen.Unit(3, 4)
	point := cssr.Policy{Types: []string{"W", "I"}, InFlight: []int{1}}
	rule, err := point.Rule(p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cssr.NewDecoder(p).Decode(context.Background(), rule, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, got := improve(context.Background(), p, out.Clone(), out.Makespan, 0, 1); got != 14 || out.Makespan <= 14 {
		t.Errorf("from %d to %d, want 14", out.Makespan, got)
	}
}
