package portfolio_test

import (
	"context"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/solvetest"
)

// asEngine makes the portfolio an engine. It finds incumbents and bounds by itself: of
// those that are given it only takes the bound, in the end.
type asEngine struct{}

func (asEngine) Name() string { return "portfolio" }

func (asEngine) Refuses(*model.Problem) error { return nil }

func (asEngine) Solve(ctx context.Context, p *model.Problem, o solve.Options) (*solve.Result, error) {
	options := portfolio.Options{Seed: o.Seed, Workers: o.Workers, NewTrace: o.NewTrace}
	if o.Progress != nil {
		options.Progress = func(g portfolio.Progress) {
			o.Progress(solve.Progress{Engine: g.Engine, Value: g.Value, Bound: g.Bound, Conflicts: g.Conflicts})
		}
	}
	r, err := portfolio.Solve(ctx, p, options)
	if err == nil && r.Status != solve.Infeasible {
		err = r.Raise(o.Bound, "the caller", solve.SearchProof)
	}
	return r, err
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of solves take long under the race detector")
	}
	solvetest.Run(t, asEngine{}, solvetest.Suite{Proves: true})
}

// half is a problem with two chunks on each device, there and back, and half the
// memory that 1F1B takes.
func half(devices, microBatches int) *model.Problem {
	v, _ := model.VPlacement(2*devices, devices)
	return modelgen.Problem(modelgen.Spec{Devices: devices, MicroBatches: microBatches, Placement: v, Latency: 1,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{model.Bytes(2 * devices)}})
}

// late is how long after the context's end there must be an answer.
const late = 300 * time.Millisecond

// TestDeadlines demands the best plan so far soon after the context's end, whatever
// was going on. As a machine may be busy otherwise, there are three tries.
func TestDeadlines(t *testing.T) {
	if testing.Short() {
		t.Skip("short: deadlines of large problems are not kept under the race detector")
	}
	for _, c := range []struct {
		name    string
		problem *model.Problem
		limits  []time.Duration
	}{
		{"hard", half(8, 16), []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, time.Second}},
		{"large", half(32, 96), []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}},
		{"larger", half(32, 320), []time.Duration{500 * time.Millisecond, 2 * time.Second}},
	} {
		for _, limit := range c.limits {
			if took := soonest(t, c.problem, limit); took > limit+late {
				t.Errorf("%s: with a limit of %v the answer comes after %v", c.name, limit, took)
			}
		}
	}
}

// soonest returns how long a solve takes, at best of three.
func soonest(t *testing.T, p *model.Problem, limit time.Duration) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		begin := time.Now()
		r, err := portfolio.Solve(ctx, p, portfolio.Options{Seed: 1, Workers: 2})
		best = min(best, time.Since(begin))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if r.Plan == nil {
			t.Errorf("no plan after %v", best)
		}
		consistent(t, r)
		if best <= limit+late {
			break
		}
	}
	t.Logf("%d operations, limit %v: %v", p.NumOps(), limit, best)
	return best
}

// TestInterruption cancels a search that has a plan: the result is the best one, and
// says why it is not more.
func TestInterruption(t *testing.T) {
	p := half(8, 16)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	best, conflicts := model.Absent, int64(0)
	r, err := portfolio.Solve(ctx, p, portfolio.Options{Seed: 1, Workers: 2, Progress: func(g portfolio.Progress) {
		if g.Value != model.Absent {
			best = g.Value
		}
		if conflicts = g.Conflicts; conflicts > 0 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != solve.Feasible || r.Value > best || r.Reason != "interrupted" || conflicts == 0 {
		t.Errorf("status %v, value %d, reason %q after %d conflicts and a plan of %d", r.Status, r.Value, r.Reason, conflicts, best)
	}
	consistent(t, r)
}
