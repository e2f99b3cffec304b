package bound_test

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// linear returns a pipeline of uneven stages with the memory of 1F1B.
func linear(devices, microBatches int, objective model.Objective) *model.Problem {
	s := modelgen.Spec{Devices: devices, MicroBatches: microBatches, Latency: 1, Objective: objective,
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{model.Bytes(2 * devices)}}
	for k := range devices {
		s.F = append(s.F, model.Time(10+k%3))
		s.I = append(s.I, model.Time(11-k%2))
		s.W = append(s.W, model.Time(9+k%2))
	}
	return modelgen.Problem(s)
}

func BenchmarkLower(b *testing.B) {
	for _, objective := range []model.Objective{model.Makespan, model.Span} {
		for _, size := range [][2]int{{8, 32}, {8, 256}, {64, 256}, {64, 1024}, {8, 8192}, {512, 512}, {4096, 4096}} {
			p := linear(size[0], size[1], objective)
			b.Run(fmt.Sprintf("%v/devices=%d/micro-batches=%d", objective, size[0], size[1]), func(b *testing.B) {
				for b.Loop() {
					bound.Lower(p)
				}
			})
		}
	}
}
