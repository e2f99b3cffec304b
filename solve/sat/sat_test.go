package sat_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/sat"
	"github.com/flexpipe/flexpipe/solve/solvetest"
)

func TestConformance(t *testing.T) {
	solvetest.Run(t, sat.New(), solvetest.Suite{Proves: true, Hard: vHalf(8, 8, 10, 11, 9, 1)})
}

// vHalf returns chunks placed there and back, two on each device, with half the
// memory that 1F1B takes.
func vHalf(devices, microBatches int, f, i, w, latency model.Time) *model.Problem {
	placement, _ := model.VPlacement(2*devices, devices)
	return modelgen.Problem(modelgen.Spec{
		Devices: devices, MicroBatches: microBatches, Placement: placement, Latency: latency,
		F: []model.Time{f}, I: []model.Time{i}, W: []model.Time{w},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{model.Bytes(2 * devices)},
	})
}

// uneven returns a chain of eight stages with uneven costs and the memory of 1F1B.
func uneven(microBatches int) *model.Problem {
	return modelgen.Problem(modelgen.Spec{
		Devices: 8, MicroBatches: microBatches, Latency: 1,
		F:          []model.Time{8, 11, 8, 10, 8, 12, 12, 8},
		I:          []model.Time{10, 12, 13, 12, 13, 10, 9, 10},
		W:          []model.Time{11, 7, 9, 10, 10, 8, 8, 10},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{16},
	})
}

// named are instances of the scheduling suite with their optima.
var named = []struct {
	name    string
	problem *model.Problem
	best    model.Time
}{
	{"V-unit-half-P4-M8", vHalf(4, 8, 1, 1, 1, 0), 59},
	{"lin-rnd-1f1b-P8-M8", uneven(8), 341},
	{"V-unit-half-P4-M16", vHalf(4, 16, 1, 1, 1, 0), 107},
	{"lin-rnd-1f1b-P8-M16", uneven(16), 585},
}

// TestNamed proves optima that take a search.
func TestNamed(t *testing.T) {
	for _, x := range named[:2] {
		if r := solveNamed(t, x.problem); r.Status != solve.Optimal || r.Value != x.best {
			t.Errorf("%s: status %v, value %d, bound %d; the optimum is %d", x.name, r.Status, r.Value, r.Bound, x.best)
		}
	}
}

func solveNamed(tb testing.TB, p *model.Problem) *solve.Result {
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	r, err := sat.New().Solve(ctx, p, solve.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// TestRefuses tests what the engine refuses, and that it says so.
func TestRefuses(t *testing.T) {
	for _, test := range []struct {
		name, feature string
		p             *model.Problem
	}{
		{"many operations", "4800 operations (at most 4096)", modelgen.Unit(4, 400)},
		{"many units", "a horizon of at least 300001 units of time for 6 operations (at most 174762)",
			modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 1, F: []model.Time{100000}, I: []model.Time{100001}, W: []model.Time{100000}})},
		{"few units", "", modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 1, F: []model.Time{100000}, I: []model.Time{200000}, W: []model.Time{300000}})},
	} {
		err := sat.New().Refuses(test.p)
		var feature *solve.FeatureError
		switch {
		case test.feature == "":
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		case !errors.As(err, &feature) || feature.Feature != test.feature || feature.Engine != "sat":
			t.Errorf("%s: %v, want the feature %q", test.name, err, test.feature)
		}
	}
}

// TestTooLarge tests that a formula beyond the budget of clauses ends the search
// with what is known, and a reason.
func TestTooLarge(t *testing.T) {
	r := solveNamed(t, vHalf(8, 16, 10, 11, 9, 1))
	if r.Status != solve.Unknown || r.Bound == 0 || r.Reason == "" {
		t.Errorf("status %v, bound %d, reason %q", r.Status, r.Bound, r.Reason)
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, x := range named {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				if r := solveNamed(b, x.problem); r.Status != solve.Optimal {
					b.Fatalf("status %v, value %d, bound %d", r.Status, r.Value, r.Bound)
				}
			}
		})
	}
}
