package cssr

import (
	"context"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// Request is what a [Spec] or a script asks for: plain data. At most one of Schedule,
// Order, Solve and Tune is set; without any, the point says everything.
type Request struct {
	Config *config.Config
	Point  Point

	Order    [][]string    // by device, operations as [model.Problem.Name] writes them
	Schedule string        // a schedule of the literature by name
	Solve    *SolveRequest // search for the best plan
	Tune     *Space        // search for the best point
}

// SolveRequest asks for a search. The policy of the request is where it is compared
// with, and does not bind it; the choices do.
type SolveRequest struct {
	Mode      string        // auto, exact or heuristic; "": as whoever runs the request decides
	TimeLimit time.Duration // 0: likewise
}

// Problem returns the problem of the request; see [Build].
func (r *Request) Problem() (*model.Problem, error) { return Build(r.Config, r.Point.Choices) }

// Check tests that the request fits its problem, without looking for a plan.
//
// Errors: *PolicyError, *OrderError. Cost O(rows), and O(operations) with Order.
func (r *Request) Check(p *model.Problem) error {
	if r.Order != nil {
		_, err := r.ordered(p)
		return err
	}
	if err := r.checkBackward(p); err != nil {
		return err
	}
	_, err := r.Point.Policy.Rule(p)
	return err
}

// Plan returns the plan that the request describes: its order, or what the decoder
// makes of its point. trace, if it is not nil, is told the decisions of the decoder.
// Plan knows no schedules by name, and does not search.
//
// Errors: those of [Request.Check] and [Decoder.Decode].
func (r *Request) Plan(ctx context.Context, p *model.Problem, trace func(*Decision)) (*model.Plan, error) {
	if r.Order != nil {
		return r.ordered(p)
	}
	rule, err := r.Point.Policy.Rule(p)
	if err != nil {
		return nil, err
	}
	d := NewDecoder(p)
	d.Trace(trace)
	out, err := d.Decode(ctx, rule, 0)
	if err != nil {
		return nil, err
	}
	return &out.Plan, nil
}

// checkBackward refuses a priority that ranks a backward which no stage has, and
// leaves out one that stages have: it would rank behind everything, which nobody who
// writes a priority means.
func (r *Request) checkBackward(p *model.Problem) error {
	backward := []model.Kind{model.BackwardInput, model.BackwardFull}
	has := map[model.Kind]bool{}
	for i := range p.Rows {
		has[p.Rows[i].Kind] = true
	}
	check := func(key string, types []string) error {
		for i, kind := range backward {
			other := backward[1-i]
			if !has[kind] && has[other] && lists(p, types, kind) && !lists(p, types, other) {
				return &PolicyError{key, "no stage has a " + p.Kinds[kind].Name + ", the stages have " + p.Kinds[other].Name,
					"write " + p.Kinds[other].Letter + ", or choose another backward"}
			}
		}
		return nil
	}
	if err := check(keyTypes, r.Point.Policy.Types); err != nil {
		return err
	}
	for _, e := range r.Point.Policy.Exceptions {
		if err := check(typesKey(e.Actor, e.Phase), e.Types); err != nil {
			return err
		}
	}
	return nil
}

// lists reports whether a priority names a kind, by letter or name.
func lists(p *model.Problem, types []string, kind model.Kind) bool {
	for _, name := range types {
		if name == p.Kinds[kind].Letter || name == p.Kinds[kind].Name {
			return true
		}
	}
	return false
}
