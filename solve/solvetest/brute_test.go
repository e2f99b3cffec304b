package solvetest

import (
	"flag"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// TestOptimumOfKnown compares exhaustive search with optima that follow from a
// bound and a plan.
func TestOptimumOfKnown(t *testing.T) {
	compile := func(pl *model.Pipeline) *model.Problem {
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, test := range []struct {
		name string
		p    *model.Problem
		best model.Time
	}{
		{"one device", modelgen.Unit(1, 4), 12},
		{"two devices, one micro-batch", modelgen.Unit(2, 1), 5},
		{"two devices, two micro-batches", modelgen.Unit(2, 2), 7},
		{"no room for the first", compile(eitherOr(1, 4)), none},
		{"room for the first", compile(eitherOr(1, 5)), 14},
	} {
		if best, ok := optimum(test.p); !ok || best != test.best {
			t.Errorf("%s: optimum %d, %v; want %d", test.name, best, ok, test.best)
		}
	}
}

// TestOptimumAgainstPlans compares exhaustive search with random plans: none is
// better than the optimum, many are as good.
func TestOptimumAgainstPlans(t *testing.T) {
	met := 0
	for seed := range uint64(30) {
		for _, f := range []family{families[0], families[1], families[2], families[4]} {
			x, ok := newTiny(t, &f, seed)
			if !ok {
				continue
			}
			p, best := x.problem, x.best
			least := none
			for walk := range uint64(50) {
				plan, _ := modelgen.RandomPlan(p, walk)
				tl, err := model.Evaluate(p, plan)
				if err == nil && constraints.Check(p, plan, tl).OK() {
					least = min(least, model.Measure(p, plan, tl).Value(p.Pipeline.Objective))
				}
			}
			if least < best {
				t.Errorf("%s %d: a plan of %d, the optimum is said to be %d", f.name, seed, least, best)
			}
			if least == best {
				met++
			}
		}
	}
	if met < 40 {
		t.Errorf("random plans met the optimum of %d problems, want 40", met)
	}
}

// TestHardProblem tests that the problem for deadlines is not closed by bounds.
func TestHardProblem(t *testing.T) {
	if r := solve.NewResult(hard()); r.Status != solve.Unknown {
		t.Errorf("status %v", r.Status)
	}
}

var find = flag.Bool("find", false, "list seeds of problems that take a search")

// TestSeeds lists, if asked to, seeds for families: of problems whose optimum is
// above the bound, and each fortieth, unless exhaustive search takes long.
func TestSeeds(t *testing.T) {
	if !*find {
		return
	}
	for _, f := range families[:5] {
		var seeds []uint64
		for seed := range uint64(1200) {
			start := time.Now()
			x, ok := newTiny(t, &f, seed)
			if ok && time.Since(start) < 60*time.Millisecond && (x.searched || seed%40 == 0) {
				seeds = append(seeds, seed)
			}
		}
		t.Log(f.name, seeds)
	}
}
