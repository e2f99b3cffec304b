package portfolio_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// branches is a stage graph whose limits only a search proves too low.
func branches(limits ...model.Bytes) *model.Pipeline {
	pl := &model.Pipeline{MicroBatches: 2, TimeUnit: model.Unit{Multiplier: 1, Divisor: 1}, MemoryUnit: model.Unit{Multiplier: 1, Divisor: 1}}
	for _, l := range limits {
		pl.Devices = append(pl.Devices, model.Device{Limit: l})
	}
	after := [][]int{nil, {0}, {0}, {1}, {3, 2}}
	for s, device := range []int{0, 0, 0, 0, 1} {
		pl.Stages = append(pl.Stages, model.Stage{
			After: after[s], Replicas: []model.Replica{{Devices: []int{device}, Durations: model.Durations{Forward: 1, BackwardInput: 1, BackwardWeight: 1, BackwardFull: model.Absent, Overlapped: model.Absent}}},
			Activation: []model.Bytes{1, 1, 2, 1, 1}[s], FreedByInput: []model.Bytes{1, 0, -1, -2, 1}[s],
		})
	}
	return pl
}

func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		limits []model.Bytes
		want   string
	}{
		{[]model.Bytes{5, 3}, "on device 0, whose limit is 5: a limit of "},
		{[]model.Bytes{5, model.Unlimited}, "on device 0, whose limit is 5: a limit of "},
		{[]model.Bytes{1, 0}, "(limit 1), 1 on device 1 (limit 0): such limits would fit"},
		{[]model.Bytes{100, 100}, ""},
	} {
		p, err := model.Compile(branches(c.limits...))
		if err != nil {
			t.Fatal(err)
		}
		if got := portfolio.Remedy(context.Background(), p); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("limits %v: %q, want %q", c.limits, got, c.want)
		}
	}
}

// TestRemedyFits demands that a search does not exclude what a remedy proposes.
func TestRemedyFits(t *testing.T) {
	for limit, want := range map[model.Bytes]solve.Status{5: solve.Infeasible, 6: solve.Optimal} {
		p, err := model.Compile(branches(limit, 3))
		if err != nil {
			t.Fatal(err)
		}
		r, err := portfolio.Solve(context.Background(), p, portfolio.Options{Seed: 1, Workers: 1})
		if err != nil || r.Status != want {
			t.Errorf("limit %d: %v, %v", limit, r, err)
		}
	}
}
