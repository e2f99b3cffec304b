package cssr_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

func TestDecoderCompletesRandomProblems(t *testing.T) {
	for seed := range uint64(3000) {
		spec := modelgen.Random(seed, 6)
		p := modelgen.Problem(spec)
		rule := cssr.NewRule(p)
		for r := range rule.Offset {
			rule.Offset[r] = int64(seed*uint64(r+3)%7) * 10
			rule.Slope[r] = int64(seed % 13)
			rule.Patience[r] = uint8(seed % 3 * 4)
		}
		out, err := cssr.NewDecoder(p).Decode(rule, 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		plan, tl := out.Clone(), out.Timeline
		early, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for op, s := range early.Start {
			if s > tl.Start[op] {
				t.Fatalf("seed %d: %s starts at %d in the simulation, but not before %d", seed, p.Name(model.OpID(op)), tl.Start[op], s)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []struct {
		name string
		p, m int
	}{{"1e4", 4, 833}, {"1e5", 32, 1042}, {"1e6", 256, 1302}, {"1e7", 1024, 3255}} {
		limit := []model.Bytes{model.Bytes(size.p)}
		p := modelgen.Problem(modelgen.Spec{Devices: size.p, MicroBatches: size.m,
			F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9}, Latency: 1,
			Activation: []model.Bytes{1}, Limit: limit})
		rule := cssr.NewRule(p)
		for r := range p.Rows {
			rule.Offset[r] = []int64{model.Forward: 1 << 30, model.BackwardInput: 0, model.BackwardWeight: 2 << 30}[p.Rows[r].Kind]
			if p.Rows[r].Kind == model.Forward {
				rule.Cap[r] = int32(size.p - p.Rows[r].Stage)
			}
		}
		d := cssr.NewDecoder(p)
		b.Run(size.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.Decode(rule, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
		})
	}
}
