package periodic_test

import (
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/periodic"
	"github.com/flexpipe/flexpipe/solve/solvetest"
)

func TestSuite(t *testing.T) {
	solvetest.Run(t, periodic.New(), solvetest.Suite{
		Refuses: []string{"micro-batches that differ", "several routes", "operations of a whole iteration"}, Searched: 30,
	})
}

func run(t *testing.T, p *model.Problem, o solve.Options) *solve.Result {
	t.Helper()
	r, err := periodic.New().Solve(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSolve(t *testing.T) {
	p := modelgen.Unit(4, 8)
	if r := run(t, p, solve.Options{}); r.Status != solve.Optimal || r.Proof != solve.BoundProof || r.Value != 27 {
		t.Errorf("4 stages: %+v, want 27, optimal by the bound", r)
	}
	p = modelgen.Problem(vshape(4, 8, 1, 1, 1, 0, 4))
	r := run(t, p, solve.Options{})
	if r.Status != solve.Feasible || r.Value != 59 || r.Engine != "periodic" || r.Reason == "" {
		t.Errorf("half memory: %+v, want 59, feasible", r)
	}
	r = run(t, p, solve.Options{Bound: 59, Basis: solve.SearchProof})
	if r.Status != solve.Optimal || r.Proof != solve.SearchProof {
		t.Errorf("with the bound given: %+v, want optimal", r)
	}
}

// TestChoice has a backward pass that runs much faster fused.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		full   model.Time
		period model.Time
		fused  bool
	}{{2, 3, true}, {6, 7, true}, {6, 5, false}, {2, 5, false}} {
		p := modelgen.Problem(modelgen.Spec{
			Devices: 3, MicroBatches: 6, F: []model.Time{1}, I: []model.Time{2}, W: []model.Time{2},
			B: []model.Time{c.full}, Backward: model.Auto,
		})
		got := find(t, p, periodic.Options{Fused: c.fused})
		if got.Period != c.period {
			t.Errorf("fused in %d: period %d, want %d", c.full, got.Period, c.period)
		}
		judged(t, p, got.Unroll(p))
		if r := run(t, p, solve.Options{}); r.Status != solve.Optimal && c.full == 2 {
			t.Errorf("fused in %d: %s, value %d, bound %d", c.full, r.Status, r.Value, r.Bound)
		}
	}
}
