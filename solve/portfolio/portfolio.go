// Package portfolio puts the ways to a plan together: the bound and the heuristics
// first; when they meet, the plan is proved best. Else exact engines search until
// value and bound meet or time is up.
package portfolio

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/periodic"
	"github.com/flexpipe/flexpipe/solve/proof"
	"github.com/flexpipe/flexpipe/solve/sat"
)

// Mode says which ways to a plan are taken.
type Mode uint8

// The modes.
const (
	Auto      Mode = iota // all of them, as far as the size allows
	Exact                 // the same, but a problem that no exact engine can take is an error
	Heuristic             // bound and heuristics only
)

// Options steer a solve. The time limit is the context's.
type Options struct {
	Seed     uint64
	Workers  int            // goroutines, at least 1
	Mode     Mode           // see there
	Engine   string         // the exact engine that searches; "": the best for the problem
	Progress func(Progress) // may be nil; called from one goroutine at a time

	// Incumbent is a result with a judged plan of the problem to start from, nil if none
	// is known. It is not changed.
	Incumbent *solve.Result

	// Unchecked leaves search proofs unverified.
	Unchecked bool
	// NewTrace, if not nil, makes a further reader for the proof of each search, such
	// as a file.
	NewTrace func() solve.Trace
}

// Progress tells how far a solve is.
type Progress struct {
	Engine    string     // heuristic, or the name of an exact engine
	Value     model.Time // of the best plan so far, in ticks; model.Absent if there is none
	Bound     model.Time // proven so far, in ticks
	Rule      string     // heuristic: what found the best plan
	Tries     int        // heuristic: rules decoded so far
	Limit     int        // heuristic: rules that will be decoded at most
	Conflicts int64      // exact engines
}

// maxOps is the number of operations of the largest plans that are built; each
// takes some 40 bytes on the way.
const maxOps = 1 << 28

// Engines returns the exact engines, the one to try first before the others.
func Engines() []solve.Solver { return []solve.Solver{lcg.New(), sat.New(), periodic.New()} }

// Lookup returns the exact engine with a name. Errors: one that lists the names.
func Lookup(name string) (solve.Solver, error) {
	var names []string
	for _, e := range Engines() {
		if e.Name() == name {
			return e, nil
		}
		names = append(names, e.Name())
	}
	return nil, fmt.Errorf("there is no engine %q, there are %v", name, names)
}

// Solve returns the best plan that it finds for the problem's objective, with the
// proven lower bound. When the context's deadline passes, it returns the best plan
// so far, at least the first; when it is canceled, the best plan so far, or status
// Unknown if there is none.
//
// Errors: a *solve.FeatureError in mode Exact, or with an engine named, if that
// engine cannot take the problem; else an error means a fault of the program, such
// as a plan that the judge rejects; it is never a property of the problem.
func Solve(ctx context.Context, p *model.Problem, o Options) (*solve.Result, error) {
	engine, err := choose(p, &o)
	if err != nil {
		return nil, err
	}
	r := solve.NewResult(p)
	if r.Status == solve.Infeasible {
		return r, nil
	}
	if known := o.Incumbent; known != nil {
		if _, err := r.Offer(p, known.Plan, known.Engine); err != nil {
			return nil, err
		}
		r.Rule = known.Rule
		if r.Status == solve.Optimal {
			return r, nil
		}
	}
	if p.NumOps() > maxOps {
		r.Reason = fmt.Sprintf("a plan of %d operations is too large to build, up to %d are: take fewer micro-batches", p.NumOps(), maxOps)
		return r, nil
	}
	if o.Mode == Heuristic {
		return r, search(ctx, p, &o, r, 0)
	}
	for _, step := range steps(p, &o, engine) {
		if err := step(ctx, r); err != nil {
			return nil, err
		}
		if r.Status == solve.Optimal || r.Status == solve.Infeasible || ctx.Err() != nil {
			break
		}
	}
	if open := r.Status == solve.Feasible || r.Status == solve.Unknown; open && r.Reason == "" && ctx.Err() != nil {
		r.Reason = solve.Ended(ctx)
	}
	return r, nil
}

// A step improves a result until it is done, or the context ends.
type step func(ctx context.Context, r *solve.Result) error

// quickTries is how many rules the heuristics try before anything else, and
// searchable the number of operations from which on they try all theirs before an
// exact engine begins: where that finds better plans sooner, up to there it does.
const (
	quickTries = 64
	searchable = 20_000
)

// steps lists what is done for a problem: a first look by the heuristics, the steady
// state, the other heuristics for large problems, the exact engine.
func steps(p *model.Problem, o *Options, engine solve.Solver) []step {
	heuristic := func(tries int) step {
		return func(ctx context.Context, r *solve.Result) error { return search(ctx, p, o, r, tries) }
	}
	with := func(e solve.Solver) step {
		return func(ctx context.Context, r *solve.Result) error { return run(ctx, p, o, r, e) }
	}
	list := []step{heuristic(quickTries)}
	if e := periodic.New(); o.Engine != e.Name() && e.Refuses(p) == nil {
		list = append(list, with(e))
	}
	if engine == nil || p.NumOps() > searchable {
		list = append(list, heuristic(0))
	}
	if engine != nil {
		list = append(list, with(engine))
	}
	return list
}

// choose returns the exact engine for a problem, nil for none.
func choose(p *model.Problem, o *Options) (solve.Solver, error) {
	if o.Mode == Heuristic {
		return nil, nil
	}
	if o.Engine != "" {
		e, err := Lookup(o.Engine)
		if err != nil {
			return nil, err
		}
		return e, e.Refuses(p)
	}
	var first error
	for _, e := range []solve.Solver{lcg.New(), sat.New()} {
		err := e.Refuses(p)
		if err == nil {
			return e, nil
		}
		if first == nil {
			first = err
		}
	}
	if o.Mode == Exact {
		return nil, first
	}
	return nil, nil
}

// search lets the heuristics look for a plan, with at most so many tries; 0 means as
// many as they think fit.
func search(ctx context.Context, p *model.Problem, o *Options, r *solve.Result, tries int) error {
	options := heuristics.Options{Seed: o.Seed, Workers: o.Workers, Target: r.Bound, Tries: tries, Incumbent: r.Plan}
	if o.Progress != nil {
		options.Progress = func(h heuristics.Progress) {
			o.Progress(Progress{Engine: "heuristic", Value: h.Value, Bound: h.Target, Rule: h.Rule, Tries: h.Tries, Limit: h.Limit})
		}
	}
	found, err := heuristics.Search(ctx, p, options)
	var memory *cssr.MemoryError
	switch {
	case errors.As(err, &memory):
		needs := "a single micro-batch needs"
		if memory.Barrier {
			needs = "a barrier keeps all micro-batches live, which together need"
		}
		r.Reason = fmt.Sprintf("the heuristics found no order that fits: %s %s on %s, whose limit is %s; this is no proof that there is none",
			needs, p.Pipeline.MemoryUnit.SizeUp(int64(memory.Need)), p.DeviceName(memory.Device), p.FormatMemory(memory.Limit))
		return nil
	case errors.Is(err, context.Canceled):
		r.Reason = "interrupted before the first plan"
		return nil
	case err != nil:
		return err
	}
	better, err := r.Offer(p, found.Plan, "heuristic")
	if err != nil {
		return err
	}
	if better {
		r.Rule = found.Rule
	}
	if r.Status == solve.Feasible && ctx.Err() == nil {
		r.Reason = fmt.Sprintf("the search budget is spent, %d rules tried", found.Tries)
	}
	return nil
}

// run lets an engine improve and prove what r holds.
func run(ctx context.Context, p *model.Problem, o *Options, r *solve.Result, engine solve.Solver) error {
	traces := tracer{p: p, o: o}
	options := solve.Options{Seed: o.Seed, Workers: o.Workers, Incumbent: r.Plan, Bound: r.Bound, Basis: r.Proof, NewTrace: traces.newTrace()}
	if o.Progress != nil {
		options.Progress = func(e solve.Progress) {
			o.Progress(Progress{Engine: e.Engine, Value: e.Value, Bound: e.Bound, Conflicts: e.Conflicts})
		}
	}
	found, err := engine.Solve(ctx, p, options)
	if err := cmp.Or(err, traces.err); err != nil {
		return err
	}
	return merge(p, r, found, engine.Name())
}

// tracer makes the readers of search proofs: the checker, and what the caller wants.
type tracer struct {
	p   *model.Problem
	o   *Options
	err error // of the checker, if it cannot take the problem
}

func (t *tracer) newTrace() func() solve.Trace {
	if t.o.Unchecked {
		return t.o.NewTrace
	}
	return func() solve.Trace {
		checker, err := proof.New(t.p)
		switch {
		case err != nil:
			t.err = err
			return nil
		case t.o.NewTrace == nil:
			return checker
		}
		return proof.Tee(checker, t.o.NewTrace())
	}
}

// merge takes over what an engine found.
func merge(p *model.Problem, r, found *solve.Result, engine string) error {
	if r.Plan != nil || found.Plan != nil || r.Reason == "" {
		r.Reason = found.Reason // else what the heuristics said of memory matters more
	}
	r.Stats.Conflicts += found.Stats.Conflicts
	r.Stats.Learned += found.Stats.Learned
	if found.Status == solve.Infeasible {
		return r.Exclude(engine, found.Proof)
	}
	if found.Plan != nil {
		better, err := r.Offer(p, found.Plan, engine)
		if err != nil {
			return err
		}
		if better {
			r.Rule = found.Rule
		}
	}
	if found.Bound > r.Bound {
		return r.Raise(found.Bound, engine, found.Proof)
	}
	return nil
}

// JudgePlan returns the result of a plan that came from elsewhere, such as a
// named schedule: judged, with the proven lower bound of the problem beside it,
// or status Infeasible if the problem is. Errors: those of model.Evaluate, and
// one that wraps *constraints.RuleError for a plan that breaks a rule.
func JudgePlan(p *model.Problem, plan *model.Plan) (*solve.Result, error) {
	r := solve.NewResult(p)
	if r.Status == solve.Infeasible {
		return r, nil
	}
	_, err := r.Offer(p, plan, "heuristic")
	return r, err
}
