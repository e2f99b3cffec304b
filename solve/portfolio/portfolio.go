// Package portfolio puts the ways to a plan together: the bound and the
// heuristics first; when they meet, the plan is proved best.
package portfolio

import (
	"context"
	"errors"
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Options steer a solve. The time limit is the context's.
type Options struct {
	Seed     uint64
	Workers  int                       // goroutines, at least 1; does not change the result of a search that is not cut short
	Progress func(heuristics.Progress) // may be nil; called from one goroutine at a time
}

// maxOps is the number of operations of the largest plans that are built; each
// takes some 40 bytes on the way.
const maxOps = 1 << 28

// Solve returns the best plan that the heuristics find for the problem's
// objective, with the proven lower bound. When the context's deadline passes, it
// returns the best plan so far, at least the first; when it is canceled, the best
// plan so far, or status Unknown if there is none. An error means a fault of the
// program, such as a plan that the judge rejects; it is never a property of the
// problem.
func Solve(ctx context.Context, p *model.Problem, o Options) (*solve.Result, error) {
	if r := infeasible(p); r != nil {
		return r, nil
	}
	r := bounded(p)
	if p.NumOps() > maxOps {
		r.Reason = fmt.Sprintf("a plan of %d operations is too large to build, up to %d are: take fewer micro-batches", p.NumOps(), maxOps)
		return r, nil
	}
	found, err := heuristics.Search(ctx, p, heuristics.Options{
		Seed: o.Seed, Workers: o.Workers, Target: r.Bound, Progress: o.Progress,
	})
	var memory *cssr.MemoryError
	switch {
	case errors.As(err, &memory):
		r.Reason = fmt.Sprintf("the heuristics found no order that fits: a single micro-batch needs %s on %s, whose limit is %s; this is no proof that there is none",
			p.Pipeline.MemoryUnit.SizeUp(int64(memory.Need)), p.DeviceName(memory.Device), p.FormatMemory(memory.Limit))
		return r, nil
	case errors.Is(err, context.Canceled):
		r.Reason = "interrupted before the first plan"
		return r, nil
	case err != nil:
		return nil, err
	}
	if err := judge(r, p, found.Plan); err != nil {
		return nil, err
	}
	r.Rule = found.Rule
	if r.Status == solve.Feasible && ctx.Err() == nil {
		r.Reason = fmt.Sprintf("the search budget is spent, %d rules tried", found.Tries)
	}
	return r, nil
}

// JudgePlan returns the result of a plan that came from elsewhere, such as a
// named schedule: judged, with the proven lower bound of the problem beside it,
// or status Infeasible if the problem is. Errors: those of model.Evaluate, and
// one that wraps *constraints.RuleError for a plan that breaks a rule.
func JudgePlan(p *model.Problem, plan *model.Plan) (*solve.Result, error) {
	if r := infeasible(p); r != nil {
		return r, nil
	}
	r := bounded(p)
	return r, judge(r, p, plan)
}

// infeasible returns the result of a problem that has no plan, nil if that is
// not proved.
func infeasible(p *model.Problem) *solve.Result {
	no := bound.Infeasible(p)
	if no == nil {
		return nil
	}
	return &solve.Result{Status: solve.Infeasible, Engine: "bound", Proof: solve.BoundProof, Reason: no.Reason}
}

// bounded returns a result that holds the bound alone.
func bounded(p *model.Problem) *solve.Result {
	lower := bound.Lower(p)
	return &solve.Result{Bound: lower.Value, BoundReason: lower.Reason}
}

// judge evaluates a plan, has the judge test every rule, and fills in what
// follows from the plan. The bound of r must be set before.
func judge(r *solve.Result, p *model.Problem, plan *model.Plan) error {
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		return err
	}
	if err := constraints.Check(p, plan, tl).Err(); err != nil {
		return fmt.Errorf("the judge rejects the plan: %w", err)
	}
	r.Status, r.Plan, r.Timeline = solve.Feasible, plan, tl
	r.Metrics = model.Measure(p, plan, tl)
	r.Value = r.Metrics.Value(p.Pipeline.Objective)
	r.Engine = "heuristic"
	switch {
	case r.Value == r.Bound:
		r.Status, r.Engine, r.Proof = solve.Optimal, "bound", solve.BoundProof
	case r.Value < r.Bound:
		return fmt.Errorf("the bound %d is above the value %d of a judged plan: this is a fault of the bound", r.Bound, r.Value)
	}
	return nil
}
