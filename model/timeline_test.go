package model_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// oneForwardOneBackward returns the 1F1B order of a split linear problem, with
// each weight gradient right after its input gradient.
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

func TestEvaluateOneForwardOneBackward(t *testing.T) {
	for _, c := range []struct {
		p, m int
		want model.Time
	}{{4, 8, 33 - 3}, {8, 16, 69 - 7}, {1, 4, 12}, {4, 1, 9}} {
		p := modelgen.Unit(c.p, c.m)
		plan := oneForwardOneBackward(p)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("P=%d M=%d: %d", c.p, c.m, model.Measure(p, plan, tl).Makespan)
	}
}

func BenchmarkEvaluate(b *testing.B) {
	for _, size := range []struct{ p, m int }{{4, 833}, {32, 1042}, {256, 1302}, {1024, 3255}} {
		p := modelgen.Unit(size.p, size.m)
		plan := oneForwardOneBackward(p)
		b.Run(sizeName(p.NumOps()), func(b *testing.B) {
			for b.Loop() {
				if _, err := model.Evaluate(p, plan); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
		})
	}
}

func sizeName(n int) string {
	name := map[int]string{}[n]
	if name == "" {
		switch {
		case n < 2e4:
			name = "1e4"
		case n < 2e5:
			name = "1e5"
		case n < 2e6:
			name = "1e6"
		default:
			name = "1e7"
		}
	}
	return name
}
