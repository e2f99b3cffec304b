package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/config"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
)

// benchSearch is how the benchmarks solve.
var benchSearch = search{limit: 3 * time.Second, seed: 1, workers: 2}

// BenchmarkTrain trains networks on two devices that compute, by each schedule. An operation of
// the benchmark is an iteration of the schedule, one of 1F1B and one that measures costs, in
// turn; ns/op is the median of the schedule's own.
func BenchmarkTrain(b *testing.B) {
	for _, name := range []string{"small", "mlp"} {
		b.Run(name, func(b *testing.B) {
			cfg, err := load(name)
			if err != nil {
				b.Fatal(err)
			}
			eachPlan(b, cfg, slices.Concat(whole, chunked), func(b *testing.B, base, c *candidate) (*trial, error) {
				return trainWhile(b, cfg, []*candidate{base, c})
			})
		})
	}
}

// trainWhile is train for as many iterations as the benchmark asks for.
func trainWhile(b *testing.B, cfg *config.Config, candidates []*candidate) (*trial, error) {
	measuring, err := gauges(b.Context(), cfg, candidates)
	if err != nil {
		return nil, err
	}
	list, err := openCPU(append(measuring, candidates...), 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(list)
	runs, err := compareWhile(b, list)
	if err != nil {
		return nil, err
	}
	n := len(measuring)
	costs, err := gather(list[:n], runs[:n])
	if err != nil {
		return nil, err
	}
	return predicted(list[n:], runs[n:], costs)
}

// BenchmarkEmulated executes schedules on devices that wait, 5 ms for a forward and for each
// half of a backward. An operation of the benchmark is an iteration of the schedule and one of
// 1F1B, in turn; ns/op is the median of the schedule's own.
func BenchmarkEmulated(b *testing.B) {
	for _, devices := range []int{4, 8} {
		b.Run(fmt.Sprintf("P=%d", devices), func(b *testing.B) {
			cfg, err := waitingOn(devices)
			if err != nil {
				b.Fatal(err)
			}
			eachPlan(b, cfg, whole, func(b *testing.B, base, c *candidate) (*trial, error) {
				list, err := openEmulated([]*candidate{base, c}, emulated.Options{})
				if err != nil {
					return nil, err
				}
				defer closeAll(list)
				runs, err := compareWhile(b, list)
				if err != nil {
					return nil, err
				}
				return predictedByPlan(list, runs)
			})
		})
	}
}

// waitingOn returns the configuration of devices that wait, with so many of them.
func waitingOn(devices int) (*config.Config, error) {
	text, err := networks.ReadFile("networks/waiting.yaml")
	if err != nil {
		return nil, err
	}
	text = bytes.Replace(text, []byte("devices: 8"), fmt.Appendf(nil, "devices: %d", devices), 1)
	return config.Decode(text, "waiting.yaml")
}

// eachPlan runs a benchmark for each schedule and for the solved plan, in turn with 1F1B, and
// reports what it says about the plan.
func eachPlan(b *testing.B, cfg *config.Config, schedules []choice, run func(b *testing.B, base, c *candidate) (*trial, error)) {
	candidates, err := benchSearch.studied(context.Background(), cfg, schedules)
	if err != nil {
		b.Fatal(err)
	}
	base := candidates[slices.IndexFunc(candidates, func(c *candidate) bool { return c.name == reference })]
	for _, c := range candidates {
		b.Run(c.name, func(b *testing.B) {
			t, err := run(b, base, c)
			if err != nil {
				b.Fatal(err)
			}
			report(b, t.rows[0], t.rows[1])
		})
	}
}

// compareWhile executes the list in turn until the benchmark has enough, after an iteration of
// each to warm up.
func compareWhile(b *testing.B, list []*execution) ([]*pipert.Run, error) {
	runs, err := pipert.Compare(b.Context(), contestants(list), pipert.Settings{Iterations: 1})
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if p, ok := list[i].backend.(pipert.Profiler); ok {
			p.ResetTimes()
		}
		runs[i].Records, runs[i].Steps = nil, nil
	}
	for n := 1; b.Loop(); n++ {
		more, err := pipert.Compare(b.Context(), contestants(list), pipert.Settings{First: n, Iterations: 1})
		if err != nil {
			return nil, err
		}
		for i, r := range more {
			runs[i].Records, runs[i].Steps = append(runs[i].Records, r.Records...), append(runs[i].Steps, r.Steps...)
		}
	}
	return runs, nil
}

// report reports the figures of a plan beside those of 1F1B.
func report(b *testing.B, base, o *outcome) {
	b.Helper()
	ratio, want := ratios(base, o)
	b.ReportMetric(1e9*o.run.Makespans().Median, "ns/op")
	b.ReportMetric(ratio.Median, "1f1b/it")
	b.ReportMetric(want, "predicted-1f1b/it")
	b.ReportMetric(100*o.error(), "error-%")
	if o.network == nil {
		return
	}
	tokens, err := o.tokens()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(tokens, "tokens/s")
}
