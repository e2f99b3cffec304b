package benchmarks

import (
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// TestSuite solves the suite by bound and heuristic alone. The judge has to
// accept every plan, no bound may lie above the best value known, and the two
// have to meet, the bound to be tight (equal to the best value known), and the plan
// to reach that value, as often as stated.
func TestSuite(t *testing.T) {
	const wantProved, wantTight, wantBest = 90, 97, 108
	if testing.Short() {
		t.Skip("short: the suite takes long under the race detector")
	}
	instances, err := suite.Instances()
	if err != nil {
		t.Fatal(err)
	}
	type tally struct{ all, proved, tight, best, better int }
	logTally := func(name string, c *tally) {
		t.Logf("%-16s of %3d: proved %2d, bound tight %2d, at the best value known %3d, below it %2d", name, c.all, c.proved, c.tight, c.best, c.better)
	}
	groups := map[string]*tally{}
	var names []string
	var total tally
	for i := range instances {
		in := &instances[i]
		r := solveInstance(t, in)
		g := groups[in.Group()]
		if g == nil {
			g = &tally{}
			groups[in.Group()] = g
			names = append(names, in.Group())
		}
		for _, c := range []*tally{g, &total} {
			c.all++
			if r.Status == solve.Optimal {
				c.proved++
			}
			if r.Bound == in.BestValue || r.Status == solve.Optimal {
				c.tight++
			}
			if r.Value <= in.BestValue {
				c.best++
			}
			if r.Value < in.BestValue {
				c.better++
			}
		}
	}
	for _, n := range names {
		g := groups[n]
		logTally(n, g)
	}
	logTally("all", &total)
	if total.proved < wantProved || total.tight < wantTight || total.best < wantBest {
		t.Errorf("want at least %d proved, %d bounds tight, %d at the best value known", wantProved, wantTight, wantBest)
	}
}

func solveInstance(t *testing.T, in *suite.Instance) *solve.Result {
	t.Helper()
	p, err := in.Problem()
	if err != nil {
		t.Fatalf("%s: %v", in.Name, err)
	}
	r, err := portfolio.Solve(context.Background(), p, portfolio.Options{Seed: 1, Workers: 2, Mode: portfolio.Heuristic})
	if err != nil {
		t.Fatalf("%s: %v", in.Name, err)
	}
	if r.Plan == nil {
		t.Fatalf("%s: no plan: %s", in.Name, r.Reason)
	}
	if r.Bound > in.BestValue {
		t.Errorf("%s: bound %d is above the best value known, %d", in.Name, r.Bound, in.BestValue)
	}
	if r.Value < in.BestBound {
		t.Errorf("%s: value %d is below the best bound known, %d", in.Name, r.Value, in.BestBound)
	}
	t.Logf("%-26s [%d, %d], best known [%d, %d], %s", in.Name, r.Bound, r.Value, in.BestBound, in.BestValue, r.Rule)
	return r
}
