package constraints_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// oneForwardOneBackward returns the 1F1B plan of a linear problem: warm-up
// forwards, then forward, input gradient and weight gradient in turn.
func oneForwardOneBackward(p *model.Problem) *model.Plan {
	n, m := p.NumDevices(), p.MicroBatches()
	plan := &model.Plan{Order: make([][]model.OpID, n)}
	for d := range n {
		f, i, w := int(p.RowsOn[d][0]), int(p.RowsOn[d][1]), int(p.RowsOn[d][2])
		warm := min(n-1-d, m)
		order := make([]model.OpID, 0, 3*m)
		for k := range warm {
			order = append(order, p.Op(f, k))
		}
		for k := range m {
			if warm+k < m {
				order = append(order, p.Op(f, warm+k))
			}
			order = append(order, p.Op(i, k), p.Op(w, k))
		}
		plan.Order[d] = order
	}
	return plan
}

func BenchmarkCheck(b *testing.B) {
	for _, size := range []struct {
		name string
		p, m int
	}{{"1e4", 4, 833}, {"1e5", 32, 1042}, {"1e6", 256, 1302}, {"1e7", 1024, 3255}} {
		p := modelgen.Problem(modelgen.Spec{Devices: size.p, MicroBatches: size.m,
			Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{2*model.Bytes(size.p) + 2}})
		plan := oneForwardOneBackward(p)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := constraints.Check(p, plan, tl).Err(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
		})
	}
}

func BenchmarkCheckCompiled(b *testing.B) {
	p := modelgen.Unit(4096, 8)
	for b.Loop() {
		constraints.CheckCompiled(p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.Rows)), "ns/row")
}
