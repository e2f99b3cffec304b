package benchmarks

import (
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/proof"
)

// half returns chunks placed there and back, two on each device, with half the memory
// that 1F1B takes; V-ten-half of the scheduling suite.
func half(devices, microBatches int) *model.Problem {
	placement, _ := model.VPlacement(2*devices, devices)
	return modelgen.Problem(modelgen.Spec{
		Devices: devices, MicroBatches: microBatches, Placement: placement, Latency: 1,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{model.Bytes(2 * devices)},
	})
}

// benchConflicts is the budget of BenchmarkConflicts.
const benchConflicts = 3000

// BenchmarkConflicts measures how fast a search meets contradictions, with its proof
// told to nobody, and verified.
func BenchmarkConflicts(b *testing.B) {
	p := half(4, 16)
	for _, checked := range []bool{false, true} {
		name := "untold"
		if checked {
			name = "verified"
		}
		b.Run(name, func(b *testing.B) {
			conflicts := int64(0)
			for b.Loop() {
				conflicts += searchFor(b, p, checked)
			}
			b.ReportMetric(float64(conflicts)/b.Elapsed().Seconds(), "conflicts/s")
		})
	}
}

// searchFor searches with one worker until the budget is spent.
func searchFor(b *testing.B, p *model.Problem, checked bool) int64 {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	o := solve.Options{Seed: 1, Workers: 1, Progress: func(g solve.Progress) {
		if g.Conflicts >= benchConflicts {
			cancel()
		}
	}}
	var checker *proof.Checker
	if checked {
		o.NewTrace = func() solve.Trace {
			checker, _ = proof.New(p)
			return checker
		}
	}
	r, err := lcg.New().Solve(ctx, p, o)
	if err != nil {
		b.Fatal(err)
	}
	if checked && checker.Err() != nil {
		b.Fatal(checker.Err())
	}
	return r.Stats.Conflicts
}
