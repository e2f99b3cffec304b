package solvetest

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// choose fills accepted.
func (c *conformance) choose(t *testing.T) {
	t.Helper()
	refusals := 0
	for _, x := range problems(t) {
		if c.refused(t, x.name, x.problem) {
			refusals++
			continue
		}
		c.accepted = append(c.accepted, x)
	}
	t.Logf("%d tiny problems, %d refused", len(c.accepted)+refusals, refusals)
}

// searched lists every n-th of the tiny problems whose optimum is above the bound.
func (c *conformance) searched(n int) []tiny {
	var some []tiny
	seen := 0
	for _, x := range c.accepted {
		if x.searched && x.best != none {
			if seen%n == 0 {
				some = append(some, x)
			}
			seen++
		}
	}
	return some
}

// tiny compares bounds and values with the optimum.
func (c *conformance) tiny(t *testing.T) {
	count := map[solve.Status]int{}
	searched, closed := 0, 0
	for _, x := range c.accepted {
		r := c.solve(t, &x, solve.Options{Seed: 1})
		count[r.Status]++
		if x.searched {
			searched++
			if r.Status == solve.Optimal || r.Status == solve.Infeasible {
				closed++
			}
		}
	}
	t.Logf("statuses %v; %d problems with an optimum above the first bound, %d of them closed", count, searched, closed)
	if searched < c.o.Searched {
		t.Errorf("%d problems needed a search, want %d; if the bound has become better, look for other seeds", searched, c.o.Searched)
	}
}

// workers tests that several workers give answers as right.
func (c *conformance) workers(t *testing.T) {
	for _, x := range c.searched(2) {
		c.solve(t, &x, solve.Options{Seed: 1, Workers: 3})
	}
}

// infeasible tests that an engine knows when there is no plan, also where memory
// is not the obvious reason.
func (c *conformance) infeasible(t *testing.T) {
	obvious, found := 0, 0
	for _, x := range c.accepted {
		if x.best != none {
			continue
		}
		if !x.searched {
			obvious++
		}
		r := c.solve(t, &x, solve.Options{})
		if r.Plan != nil {
			t.Errorf("%s: a plan for a problem without one", x.name)
		}
		if r.Status == solve.Infeasible {
			found++
		}
	}
	t.Logf("%d problems found infeasible, %d of them by the bound", found, obvious)
	if found == 0 || c.o.Proves && found <= obvious {
		t.Errorf("%d problems found infeasible, %d of them by the bound", found, obvious)
	}
}

// incumbent tests that a plan that is given is kept or improved.
func (c *conformance) incumbent(t *testing.T) {
	used := 0
	for i, x := range c.searched(2) {
		plan, _ := modelgen.RandomPlan(x.problem, uint64(i))
		tl, err := model.Evaluate(x.problem, plan)
		if err != nil || !constraints.Check(x.problem, plan, tl).OK() {
			continue
		}
		used++
		value := model.Measure(x.problem, plan, tl).Value(x.problem.Pipeline.Objective)
		if r := c.solve(t, &x, solve.Options{Incumbent: plan}); r.Plan == nil || r.Value > value {
			t.Errorf("%s: status %v, value %d with an incumbent of %d", x.name, r.Status, r.Value, value)
		}
	}
	if used == 0 {
		t.Error("no problem had an incumbent")
	}
}

// bound tests that a bound that is given is used.
func (c *conformance) bound(t *testing.T) {
	for _, x := range c.searched(4) {
		r := c.solve(t, &x, solve.Options{Bound: x.best})
		if r.Bound < x.best {
			t.Errorf("%s: bound %d, %d was given", x.name, r.Bound, x.best)
		}
	}
}

// metamorphic tests what must hold between the optima of related problems.
func (c *conformance) metamorphic(t *testing.T) {
	if !c.o.Proves {
		t.Skip("the engine does not promise proofs")
	}
	related := 0
	for _, x := range c.searched(3) {
		pl := x.problem.Pipeline
		if pl.Objective == model.Span {
			continue
		}
		related++
		if v := c.optimum(t, &x, scaled(pl, 7)); v != 7*x.best {
			t.Errorf("%s: optimum %d, with all costs times 7 %d", x.name, x.best, v)
		}
		if v := c.optimum(t, &x, roomier(pl)); v > x.best {
			t.Errorf("%s: optimum %d, with more memory %d", x.name, x.best, v)
		}
		if pl.Routes != nil || pl.Factors != nil || pl.MicroBatches > 3 {
			continue
		}
		if v := c.optimum(t, &x, longer(pl)); v < x.best {
			t.Errorf("%s: optimum %d, with one more micro-batch %d", x.name, x.best, v)
		}
	}
	if related == 0 {
		t.Error("no problem to relate others to")
	}
}

// optimum returns the optimum that the engine proves of a relative of x.
func (c *conformance) optimum(t *testing.T, x *tiny, pl *model.Pipeline) model.Time {
	t.Helper()
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
	r := c.run(t, &tiny{name: "a relative of " + x.name, problem: p}, solve.Options{})
	if r.Status != solve.Optimal {
		t.Fatalf("a relative of %s: status %v", x.name, r.Status)
	}
	return r.Value
}

// scaled returns a pipeline with all times multiplied.
func scaled(pl *model.Pipeline, k model.Time) *model.Pipeline {
	c := *pl
	c.Latency *= k
	c.Links = nil
	for _, l := range pl.Links {
		c.Links = append(c.Links, model.Link{From: l.From, To: l.To, Latency: k * l.Latency})
	}
	c.Stages = nil
	for _, st := range pl.Stages {
		replicas := st.Replicas
		st.Replicas = nil
		for _, r := range replicas {
			d := &r.Durations
			for _, t := range []*model.Time{&d.Forward, &d.BackwardInput, &d.BackwardWeight, &d.BackwardFull, &d.Overlapped} {
				if *t != model.Absent {
					*t *= k
				}
			}
			st.Replicas = append(st.Replicas, r)
		}
		c.Stages = append(c.Stages, st)
	}
	c.Operations = nil
	for _, o := range pl.Operations {
		o.Duration *= k
		o.After, o.Before = later(o.After, k), later(o.Before, k)
		c.Operations = append(c.Operations, o)
	}
	return &c
}

// later returns references with all lags multiplied.
func later(refs []model.Ref, k model.Time) []model.Ref {
	var all []model.Ref
	for _, r := range refs {
		r.Lag *= k
		all = append(all, r)
	}
	return all
}

// roomier returns a pipeline with a little more memory on each device.
func roomier(pl *model.Pipeline) *model.Pipeline {
	c := *pl
	c.Devices = nil
	for _, d := range pl.Devices {
		if d.Limit < model.Unlimited {
			d.Limit++
		}
		c.Devices = append(c.Devices, d)
	}
	return &c
}

// longer returns a pipeline with one more micro-batch.
func longer(pl *model.Pipeline) *model.Pipeline {
	c := *pl
	c.MicroBatches++
	return &c
}
