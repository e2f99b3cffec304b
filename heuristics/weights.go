package heuristics

import (
	"cmp"

	"github.com/flexpipe/flexpipe/model"
)

// placeWeights chooses where the weight gradients of a plan run, and keeps the
// order of all else: where the plan has them, in gaps that they fit into, or in
// gaps of which a device should have fewer. It returns the plan of the least
// objective value among those within the memory limits, if there are any; on a
// tie that of the least other figure, and then the one given. The others hold at
// most limit live stage activations on a device, if the order of all else allows
// it.
//
// Zero Bubble Pipeline Parallelism (Qi et al. 2024, section 3) fills gaps by such
// rules. They look at one gap at a time and promise no optimum.
func placeWeights(c *chain, hand *model.Plan, limit int) (*model.Plan, error) {
	tl, err := model.Evaluate(c.p, hand)
	if err != nil {
		return nil, err
	}
	best := weigh(c.p, hand, tl)
	for _, balance := range []bool{false, true} {
		plan, tl := newFiller(c, hand, limit, balance).run()
		if other := weigh(c.p, plan, tl); other.before(best) {
			best = other
		}
	}
	return best.plan, nil
}

// weighed is a plan and what it is judged by.
type weighed struct {
	plan  *model.Plan
	fits  bool // in the memory of each device
	value model.Time
	sum   model.Time // of makespan and span, one of which is the value
}

func weigh(p *model.Problem, plan *model.Plan, tl *model.Timeline) weighed {
	m := model.Measure(p, plan, tl)
	return weighed{plan: plan, fits: m.Fits(p), value: m.Value(p.Pipeline.Objective), sum: m.Makespan + m.Span}
}

func (k weighed) before(other weighed) bool {
	if k.fits != other.fits {
		return k.fits
	}
	return cmp.Or(cmp.Compare(k.value, other.value), cmp.Compare(k.sum, other.sum)) < 0
}
