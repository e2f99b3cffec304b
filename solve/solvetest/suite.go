package solvetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Suite says what is expected of an engine. The zero value is an engine that
// honours every feature and promises no more than solve.Solver does.
type Suite struct {
	// Refuses lists how the features may begin that the engine refuses.
	Refuses []string

	// Proves says that the engine closes every tiny problem: the makespan is proved
	// best, or that there is no plan. ProvesSpan is the same for the span, but for
	// problems with operations of no length.
	Proves, ProvesSpan bool

	// Searched is how many of the tiny problems at least must not be refused and
	// have an optimum above the bound that an engine starts from; 0 stands for 60.
	Searched int

	// Hard is a problem that the engine cannot close within some seconds; nil is
	// one of 768 operations in whose schedules every device is short of memory.
	Hard *model.Problem

	// Patience is the time for one tiny problem; 0 stands for 20 s.
	Patience time.Duration
}

// Run tests an engine. It takes some ten seconds, more than half of them for deadlines.
func Run(t *testing.T, s solve.Solver, o Suite) {
	if o.Searched == 0 {
		o.Searched = 60
	}
	if o.Patience == 0 {
		o.Patience = 20 * time.Second
	}
	if o.Hard == nil {
		o.Hard = hard()
	}
	if n := s.Name(); n == "" || n != strings.ToLower(n) || strings.ContainsAny(n, " \t\n") {
		t.Errorf("the name of the engine is %q: want one lower-case word", n)
	}
	c := &conformance{engine: s, o: o}
	c.choose(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Tiny", c.tiny},
		{"Workers", c.workers},
		{"Infeasible", c.infeasible},
		{"Incumbent", c.incumbent},
		{"Bound", c.bound},
		{"Same", c.same},
		{"Progress", c.progress},
		{"Deadline", c.deadline},
		{"Cancel", c.cancel},
		{"Metamorphic", c.metamorphic},
	} {
		t.Run(test.name, test.run)
	}
}

// conformance is one run of the suite.
type conformance struct {
	engine   solve.Solver
	o        Suite
	accepted []tiny // the tiny problems that the engine does not refuse
}

// refused reports whether the engine refuses a problem, and tests how.
func (c *conformance) refused(t *testing.T, name string, p *model.Problem) bool {
	t.Helper()
	err := c.engine.Refuses(p)
	if err == nil {
		return false
	}
	var feature *solve.FeatureError
	if !errors.As(err, &feature) {
		t.Errorf("%s: Refuses returns %v, which is no *solve.FeatureError", name, err)
		return true
	}
	if feature.Engine != c.engine.Name() || !c.expected(feature.Feature) {
		t.Errorf("%s: unexpected refusal: %v", name, err)
	}
	if _, again := c.engine.Solve(t.Context(), p, solve.Options{}); !errors.As(again, &feature) {
		t.Errorf("%s: Refuses returns %v, Solve %v", name, err, again)
	}
	return true
}

func (c *conformance) expected(feature string) bool {
	for _, prefix := range c.o.Refuses {
		if strings.HasPrefix(feature, prefix) {
			return true
		}
	}
	return false
}

// solve runs the engine on a tiny problem and tests the result.
func (c *conformance) solve(t *testing.T, x *tiny, o solve.Options) *solve.Result {
	t.Helper()
	r := c.run(t, x, o)
	switch {
	case r.Bound > x.best:
		t.Errorf("%s: bound %d (%s), the optimum is %d", x.name, r.Bound, r.BoundReason, x.best)
	case r.Plan != nil && r.Value < x.best:
		t.Errorf("%s: value %d, the optimum is %d", x.name, r.Value, x.best)
	case r.Status == solve.Infeasible && x.best != none:
		t.Errorf("%s: infeasible, the optimum is %d", x.name, x.best)
	}
	return r
}

// run runs the engine on a tiny problem of which the optimum may be unknown.
func (c *conformance) run(t *testing.T, x *tiny, o solve.Options) *solve.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), c.o.Patience)
	defer cancel()
	r, err := c.engine.Solve(ctx, x.problem, o)
	if err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
	judge(t, x.name, x.problem, r)
	closed := r.Status == solve.Optimal || r.Status == solve.Infeasible
	switch {
	case closed || !c.mustClose(x):
	case ctx.Err() != nil:
		t.Errorf("%s: not closed after %v: value %d, bound %d", x.name, c.o.Patience, r.Value, r.Bound)
	default:
		t.Errorf("%s: the search ended with status %v, value %d, bound %d (%s); the optimum is %d", x.name, r.Status, r.Value, r.Bound, r.Reason, x.best)
	}
	return r
}

func (c *conformance) mustClose(x *tiny) bool {
	if x.problem.Pipeline.Objective == model.Span && !timeless(x.problem) {
		return c.o.ProvesSpan
	}
	return c.o.Proves && x.problem.Pipeline.Objective == model.Makespan
}

// timeless reports whether an operation has no length.
func timeless(p *model.Problem) bool {
	for op := range model.OpID(p.NumOps()) {
		if p.Duration(op) == 0 {
			return true
		}
	}
	return false
}

// judge tests that a result agrees with itself, and with the judge.
func judge(t *testing.T, name string, p *model.Problem, r *solve.Result) {
	t.Helper()
	if (r.Plan != nil) != (r.Status == solve.Feasible || r.Status == solve.Optimal) {
		t.Fatalf("%s: status %v, plan %v", name, r.Status, r.Plan)
	}
	if (r.Status == solve.Optimal || r.Status == solve.Infeasible) && (r.Proof == solve.NoProof || r.Engine == "") {
		t.Errorf("%s: status %v by engine %q with proof %q", name, r.Status, r.Engine, r.Proof)
	}
	if r.Status == solve.Infeasible && r.Reason == "" {
		t.Errorf("%s: infeasible without a reason", name)
	}
	if r.Plan == nil {
		return
	}
	tl, err := model.Evaluate(p, r.Plan)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := constraints.Check(p, r.Plan, tl).Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	value := model.Measure(p, r.Plan, tl).Value(p.Pipeline.Objective)
	if r.Value != value || r.Bound > value {
		t.Errorf("%s: the result says value %d, bound %d; the plan has the value %d", name, r.Value, r.Bound, value)
	}
	if (r.Status == solve.Optimal) != (r.Bound == value) {
		t.Errorf("%s: status %v with value %d, bound %d", name, r.Status, value, r.Bound)
	}
}
