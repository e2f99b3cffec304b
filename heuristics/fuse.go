package heuristics

import (
	"context"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// fuser improves the choice between fused and separated backward passes, one
// stage and micro-batch at a time, by hill climbing: it changes the choice in
// place, keeps the change if the plan gets better (or no worse with less work),
// and undoes it otherwise. It is a local search: it does not try two changes at
// once, nor other places in the order.
type fuser struct {
	p     *model.Problem
	plan  *model.Plan
	value model.Time
	work  model.Time
	tries int // evaluations left

	weight []int32 // by fused row: the row of its weight gradients
}

// fuse improves a plan in place with at most tries evaluations, and returns its
// value. Cost O(tries × operations).
func fuse(ctx context.Context, p *model.Problem, plan *model.Plan, value model.Time, tries int) model.Time {
	f := &fuser{p: p, plan: plan, value: value, tries: tries, weight: make([]int32, len(p.Rows))}
	for pair := range constraints.Alternatives(p) {
		f.weight[pair.Fused] = pair.Split[1]
	}
	_, f.work, _ = f.evaluate()
	for improved := true; improved; {
		improved = false
		for full := range p.Rows {
			if p.Rows[full].Choice != model.WhenFused {
				continue
			}
			for index := range p.Count(full) {
				if ctx.Err() != nil || f.tries <= 0 {
					return f.value
				}
				improved = f.flip(full, index) || improved
			}
		}
	}
	return f.value
}

// flip changes the choice of one operation and keeps the change if it is good.
func (f *fuser) flip(full, index int) bool {
	row := &f.p.Rows[full]
	saved := make([][]model.OpID, len(row.Devices))
	for i, dev := range row.Devices {
		saved[i] = f.plan.Order[dev]
		f.plan.Order[dev] = f.flipped(saved[i], full, index)
	}
	f.tries--
	value, work, ok := f.evaluate()
	if ok && (value < f.value || value == f.value && work < f.work) {
		f.value, f.work = value, work
		return true
	}
	for i, dev := range row.Devices {
		f.plan.Order[dev] = saved[i]
	}
	return false
}

// flipped returns an order with the other choice: the fused backward in the
// place of the input gradient, or the two halves in the place of the fused one.
func (f *fuser) flipped(order []model.OpID, full, index int) []model.OpID {
	at := model.OpID(index)
	input := f.p.Rows[full].Twin
	both := f.p.Base(full) + at
	half := f.p.Base(int(input)) + at
	weight := f.p.Base(int(f.weight[full])) + at
	changed := make([]model.OpID, 0, len(order)+1)
	for _, op := range order {
		switch op {
		case both:
			changed = append(changed, half, weight)
		case half:
			changed = append(changed, both)
		case weight:
		default:
			changed = append(changed, op)
		}
	}
	return changed
}

// evaluate returns value and work of the plan, and whether it is legal.
func (f *fuser) evaluate() (value, work model.Time, ok bool) {
	tl, err := model.Evaluate(f.p, f.plan)
	if err != nil {
		return 0, 0, false
	}
	m := model.Measure(f.p, f.plan, tl)
	for _, d := range m.Devices {
		work += d.Busy
	}
	return m.Value(f.p.Pipeline.Objective), work, m.Fits(f.p)
}
