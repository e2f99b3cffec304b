package tune

import (
	"context"
	"errors"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// references are the named schedules that a configuration is compared with as it
// stands: what most people run. The first that fits is taken.
var references = []string{"1f1b", "interleaved"}

// refer finds the reference: the start, or the configuration as it stands with fused
// backward passes, under a schedule that people know, or where none fits the best
// plan that the heuristics find. A deadline does not stop it: it is the first plan.
func (t *tuning) refer(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if start := t.o.Start; start != nil {
		p, err := cssr.Build(t.g.cfg, start.Choices)
		if err != nil {
			return err
		}
		row, err := t.rowOf(ctx, newShape(nil, start.Choices, p), *start)
		if err != nil && !tight(err) {
			return err
		}
		t.result.Reference, t.result.ReferenceName = row, "the start"
		return nil
	}
	fused := model.Fused
	for _, backward := range []*model.Mode{&fused, nil} {
		choices := cssr.Choices{Backward: backward}
		p, err := cssr.Build(t.g.cfg, choices)
		if err != nil {
			continue // stages that cannot run fused
		}
		if s := newShape(nil, choices, p); s.err == nil {
			return t.referTo(ctx, s)
		}
	}
	return nil
}

// referTo makes a plan of a shape the reference, if the heuristics know one that fits.
func (t *tuning) referTo(ctx context.Context, s *shape) error {
	r, err := t.referencePlan(ctx, s)
	if r == nil || err != nil {
		return err
	}
	t.result.ReferenceName = r.Rule + " as configured"
	t.result.Reference = newRow(s.problem, cssr.Point{Choices: s.choices}, r)
	return nil
}

// referencePlan returns a judged plan, whose rule is what it is called; nil if the
// heuristics know none.
func (t *tuning) referencePlan(ctx context.Context, s *shape) (*solve.Result, error) {
	b := s.bound()
	r := &solve.Result{Bound: b.Value, BoundReason: b.Reason}
	for _, name := range references {
		schedule, err := heuristics.Lookup(name)
		if err != nil {
			return nil, err
		}
		plan, err := schedule.Build(s.problem)
		if err != nil {
			continue // it is for another shape
		}
		_, err = r.Offer(s.problem, plan, "heuristic")
		var broken *constraints.RuleError
		if errors.As(err, &broken) {
			continue // it takes more memory than there is
		}
		r.Rule = name
		return r, err
	}
	found, err := heuristics.Search(ctx, s.problem, heuristics.Options{Seed: t.o.Seed, Workers: t.o.Workers, Tries: polishTries, Target: b.Value})
	if tight(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = r.Offer(s.problem, found.Plan, "heuristic")
	r.Rule = "best fused plan"
	return r, err
}
