package lower_test

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// large returns 1F1B plans of about a million operations: few devices with many micro-batches,
// and many devices with few.
func large() map[string]*model.Problem {
	shapes := map[string]*model.Problem{}
	for _, s := range [][2]int{{16, 20_000}, {1000, 333}} {
		shapes[fmt.Sprintf("P=%d,M=%d", s[0], s[1])] = modelgen.Problem(modelgen.Spec{Devices: s[0], MicroBatches: s[1],
			Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Latency: 1})
	}
	return shapes
}

func report(b *testing.B, p *model.Problem) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
}

func BenchmarkLower(b *testing.B) {
	for name, p := range large() {
		plan := modelgen.OneForwardOneBackward(p)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lower.Lower(p, plan); err != nil {
					b.Fatal(err)
				}
			}
			report(b, p)
		})
	}
}

func BenchmarkSimulate(b *testing.B) {
	for name, p := range large() {
		g, err := lower.Lower(p, modelgen.OneForwardOneBackward(p))
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range lower.AllChannels() {
			b.Run(name+"/"+c.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := g.Simulate(c); err != nil && c.Required() {
						b.Fatal(err)
					}
				}
				report(b, p)
			})
		}
	}
}
