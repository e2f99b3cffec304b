package emulated_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// lowered builds 1F1B for a problem with fused backwards and one stage on each device.
func lowered(t testing.TB, p *model.Problem) *lower.Program {
	t.Helper()
	s, err := heuristics.Lookup("1f1b")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	pr, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

// predict is how long an iteration takes on ideal devices.
func predict(t testing.TB, pr *lower.Program, perTick float64) time.Duration {
	t.Helper()
	tl, err := model.Evaluate(pr.Problem, pr.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(float64(model.Measure(pr.Problem, pr.Plan, tl).Makespan) * perTick)
}

// iterate runs an iteration.
func iterate(t testing.TB, ctx context.Context, b *emulated.Backend, e *pipert.Engine) *pipert.Record {
	t.Helper()
	if err := b.Begin(0); err != nil {
		t.Fatal(err)
	}
	record, err := e.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// BenchmarkEmulated compares iterations of 1F1B with 16 micro-batches, forward 1 tick and
// backward 2, with their prediction. error-% is the median over iterations of measured over
// predicted time, less 1. It has two parts, of which medians over operations are reported:
// overshoot-us, by how much an operation lasted too long, and hop-us, the time between the
// end of an operation and the start of one on another device that waited for nothing else.
func BenchmarkEmulated(b *testing.B) {
	for _, devices := range []int{1, 2, 4, 8} {
		for _, tick := range []time.Duration{time.Millisecond, 5 * time.Millisecond} {
			for _, anchored := range []bool{false, true} {
				mode := "free"
				if anchored {
					mode = "anchored"
				}
				b.Run(fmt.Sprintf("P=%d/tick=%v/%s", devices, tick, mode), func(b *testing.B) {
					benchmark(b, devices, emulated.Options{Tick: tick, Anchored: anchored})
				})
			}
		}
	}
}

func benchmark(b *testing.B, devices int, o emulated.Options) {
	pr := lowered(b, modelgen.Problem(modelgen.Spec{Devices: devices, MicroBatches: 16, Backward: model.Fused}))
	back, err := emulated.Open(pr, o)
	if err != nil {
		b.Fatal(err)
	}
	defer back.Close()
	e, err := pipert.NewEngine(pr, back.Devices(), pipert.Options{Stall: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	want := predict(b, pr, back.PerTick())
	iterate(b, b.Context(), back, e)
	var errors, overshoots, hops []float64
	for b.Loop() {
		record := iterate(b, b.Context(), back, e)
		errors = append(errors, 100*(float64(record.Makespan)/float64(want)-1))
		overshoots, hops = delays(pr, record, back.PerTick(), overshoots, hops)
	}
	b.ReportMetric(quantile(errors, 0.5), "error-%")
	b.ReportMetric(quantile(errors, 0.9), "p90-error-%")
	b.ReportMetric(quantile(overshoots, 0.5), "overshoot-us")
	if len(hops) > 0 {
		b.ReportMetric(quantile(hops, 0.5), "hop-us")
	}
}

func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	return values[int(q*float64(len(values)-1)+0.5)]
}

// delays appends, in microseconds, by how much operations lasted too long, and how long after
// the last end that it waited for an operation started, where that was on another device.
func delays(pr *lower.Program, record *pipert.Record, perTick float64, overshoots, hops []float64) (o, h []float64) {
	p := pr.Problem
	for _, order := range pr.Plan.Order {
		free := int64(0)
		for _, op := range order {
			lasted := float64(record.End[op] - record.Start[op])
			overshoots = append(overshoots, (lasted-float64(p.Duration(op))*perTick)/1e3)
			ready := int64(0)
			for _, pred := range p.Row(op).Preds {
				first, end := p.PredOps(p.RowOf(op), p.Index(op), pred)
				for before := first; before < end; before++ {
					ready = max(ready, record.End[before])
				}
			}
			if ready > free {
				hops = append(hops, float64(record.Start[op]-ready)/1e3)
			}
			free = record.End[op]
		}
	}
	return overshoots, hops
}
