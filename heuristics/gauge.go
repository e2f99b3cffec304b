package heuristics

import (
	"context"
	"errors"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// gauge is the rule of [Gauge] where 1F1B is not defined: like that it runs what is due, with as
// many micro-batches in flight as keep an even pipeline busy.
var gauge = recipe{pace: 1, flight: 1}

// Gauge returns a plan by which the costs of a problem are measured, see [cssr.Gauge]: 1F1B, and
// where the stages have not its shape one that a fixed rule decodes. It searches for nothing and
// looks at no clock, so that a machine under load measures by the same plan. It is legal, and
// nothing is promised about its length.
//
// Errors: a *constraints.RuleError if 1F1B takes more memory than there is, those of
// [cssr.Decoder.Decode], which ctx ends. Cost O(operations), and for the decoder as there.
func Gauge(ctx context.Context, p *model.Problem) (*model.Plan, error) {
	plan, err := gaugePlan(ctx, p)
	if err != nil {
		return nil, err
	}
	timeline, err := model.Evaluate(p, plan)
	if err != nil {
		return nil, err
	}
	if err := constraints.Check(p, plan, timeline).Err(); err != nil {
		return nil, err
	}
	return plan, nil
}

// gaugePlan returns the plan of [Gauge], not judged.
func gaugePlan(ctx context.Context, p *model.Problem) (*model.Plan, error) {
	s, err := Lookup("1f1b")
	if err != nil {
		return nil, err
	}
	plan, err := s.Build(p)
	if shape := (*ShapeError)(nil); !errors.As(err, &shape) {
		return plan, err
	}
	out, err := cssr.NewDecoder(p).Decode(ctx, gauge.rule(p, newOutline(p)), 0)
	if err != nil {
		return nil, err
	}
	return &out.Plan, nil
}
