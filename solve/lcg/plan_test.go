package lcg

import (
	"context"
	"math"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestHint demands that what a hint says of a plan is a schedule of the plan's value: a
// search with nothing free finds it.
func TestHint(t *testing.T) {
	choices := 0
	for seed := range uint64(300) {
		p, err := model.Compile(modelgen.RandomPipeline(seed, 4))
		if err != nil {
			t.Fatal(err)
		}
		found, err := heuristics.Search(t.Context(), p, heuristics.Options{Seed: seed, Tries: 4, Target: math.MaxInt64})
		if err != nil {
			continue // it knows no order that fits
		}
		tl, err := model.Evaluate(p, found.Plan)
		if err != nil {
			t.Fatal(err)
		}
		f := newForm(p)
		n := newNeighbours(f, 1)
		n.fix(newSearch(f, nil, false), newHint(f, found.Plan, tl))
		s := newSearch(f, nil, false)
		s.ctx, s.until = context.Background(), math.MaxInt64
		s.root()
		value := model.Measure(p, found.Plan, tl).Value(p.Pipeline.Objective)
		if v := s.run(atMost(0, int64(value)), n.lits, 100); v != satisfied {
			t.Errorf("seed %d: the hint of a plan of value %d is no schedule (verdict %d)", seed, value, v)
		}
		if p.HasChoice {
			choices++
		}
	}
	if choices < 50 {
		t.Errorf("%d problems had a choice, the test is weak", choices)
	}
}
