package lcg_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/solvetest"
)

func TestConformance(t *testing.T) {
	solvetest.Run(t, lcg.New(), solvetest.Suite{Proves: true})
}

// vHalf returns chunks placed there and back, two on each of four devices, with half the
// memory that 1F1B takes.
func vHalf(objective model.Objective) *model.Problem {
	placement, _ := model.VPlacement(8, 4)
	return modelgen.Problem(modelgen.Spec{
		Devices: 4, MicroBatches: 8, Placement: placement, Objective: objective,
		F: []model.Time{1}, I: []model.Time{1}, W: []model.Time{1},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{8},
	})
}

// TestSamePlan demands the same plan from each run with the same number of workers,
// however fast each worker is, and the same value from any number.
func TestSamePlan(t *testing.T) {
	for _, objective := range []model.Objective{model.Makespan, model.Span} {
		p := vHalf(objective)
		var value model.Time
		for workers := 1; workers <= 4; workers++ {
			var first *model.Plan
			for run := range 3 {
				r, err := lcg.New().Solve(t.Context(), p, solve.Options{Seed: 7, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if r.Status != solve.Optimal {
					t.Fatalf("%v, %d workers: status %v, %s", objective, workers, r.Status, r.Reason)
				}
				if run == 0 {
					first = r.Plan
				} else if diff := cmp.Diff(first, r.Plan); diff != "" {
					t.Errorf("%v, %d workers: run %d gives another plan: %s", objective, workers, run, diff)
				}
				if value == 0 {
					value = r.Value
				}
				if r.Value != value {
					t.Errorf("%v, %d workers: value %d, with one worker %d", objective, workers, r.Value, value)
				}
			}
		}
	}
}

// TestRefusesEntangled: what waits for backwards with a choice, one by one, does not
// keep index order; what waits once for all of them does.
func TestRefusesEntangled(t *testing.T) {
	for _, once := range []bool{false, true} {
		pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 2, Backward: model.Auto, B: []model.Time{1}})
		pl.Operations = []model.Operation{{Name: "reduce", Letter: "R", Single: once, Duration: 3, After: []model.Ref{{Kind: model.Backward}}}}
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		r, err := lcg.New().Solve(t.Context(), p, solve.Options{})
		var feature *solve.FeatureError
		switch {
		case !once && !errors.As(err, &feature):
			t.Errorf("error %v, want a refusal", err)
		case once && (err != nil || r.Status != solve.Optimal || r.Value != 2+2+3):
			t.Errorf("result %+v, error %v; want 7: two forwards, two fused backwards, the reduction", r, err)
		}
	}
}
