package runtime_test

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

func oneForwardOneBackward(p *model.Problem) *model.Plan {
	s, err := heuristics.Lookup("1f1b")
	if err != nil {
		panic(err)
	}
	plan, err := s.Build(p)
	if err != nil {
		panic(err)
	}
	return plan
}

func lowered(t testing.TB, p *model.Problem, plan *model.Plan) *lower.Program {
	t.Helper()
	pr, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

// BenchmarkOverhead is what the engine adds to an operation: a receive, a send, time stamps
// and accounts, on devices whose operations take no time. ns/op is per operation, not per
// iteration.
func BenchmarkOverhead(b *testing.B) {
	for _, locked := range []bool{false, true} {
		for _, devices := range []int{2, 4, 8} {
			name := fmt.Sprintf("goroutines/P=%d", devices)
			if locked {
				name = fmt.Sprintf("threads/P=%d", devices)
			}
			b.Run(name, func(b *testing.B) { benchmarkOverhead(b, devices, locked) })
		}
	}
}

func benchmarkOverhead(b *testing.B, devices int, locked bool) {
	p := modelgen.Problem(modelgen.Spec{Devices: devices, MicroBatches: 1000, Backward: model.Fused, Activation: []model.Bytes{1}})
	plan := oneForwardOneBackward(p)
	e := newEngine(b, lowered(b, p, plan), fakes(devices), pipert.Options{LockThreads: locked})
	b.ReportAllocs()
	operations := 0
	for b.Loop() {
		if _, err := e.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		operations += plan.NumOps()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(operations), "ns/operation")
}
