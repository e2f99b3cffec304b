package benchmarks

import (
	"context"
	"runtime"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// scaleProblem is a linear pipeline with the memory of 1F1B.
func scaleProblem(devices, microBatches int) *model.Problem {
	return modelgen.Problem(modelgen.Spec{
		Devices: devices, MicroBatches: microBatches, Latency: 1,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9},
		Activation: []model.Bytes{1}, Limit: []model.Bytes{model.Bytes(devices)},
	})
}

// scaleRule ranks gradients before forwards before weight gradients.
func scaleRule(p *model.Problem) *cssr.Rule {
	rule := cssr.NewRule(p)
	for r := range p.Rows {
		switch row := &p.Rows[r]; row.Kind {
		case model.Forward:
			rule.Offset[r], rule.Cap[r] = 1, int32(p.NumDevices()-row.Stage)
		case model.BackwardWeight:
			rule.Offset[r] = 2
		}
	}
	return rule
}

// BenchmarkScale reports what an operation costs in the three steps that every
// plan goes through, at 10^4 to 10^7 operations, and the memory that the
// decoder, the plan and the timeline take for it.
func BenchmarkScale(b *testing.B) {
	for _, size := range []struct {
		name                  string
		devices, microBatches int
	}{{"1e4", 4, 833}, {"1e5", 32, 1042}, {"1e6", 256, 1302}, {"1e7", 1024, 3255}} {
		p := scaleProblem(size.devices, size.microBatches)
		rule := scaleRule(p)
		before := heap()
		decoder := cssr.NewDecoder(p)
		out, err := decoder.Decode(context.Background(), rule, 0)
		if err != nil {
			b.Fatal(err)
		}
		perOp := float64(heap()-before) / float64(p.NumOps())
		plan := out.Clone()
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("decode/"+size.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := decoder.Decode(context.Background(), rule, 0); err != nil {
					b.Fatal(err)
				}
			}
			reportOperations(b, p)
			b.ReportMetric(perOp, "bytes/operation")
		})
		b.Run("evaluate/"+size.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := model.Evaluate(p, plan); err != nil {
					b.Fatal(err)
				}
			}
			reportOperations(b, p)
		})
		b.Run("judge/"+size.name, func(b *testing.B) {
			for b.Loop() {
				if err := constraints.Check(p, plan, tl).Err(); err != nil {
					b.Fatal(err)
				}
			}
			reportOperations(b, p)
		})
		runtime.KeepAlive(decoder)
	}
}

func reportOperations(b *testing.B, p *model.Problem) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
