package lcg

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// plan reads the plan from a search whose positions and choices are all decided.
func (s *search) plan() *model.Plan {
	rank := make([]int, len(s.ops))
	plan := &model.Plan{Order: make([][]model.OpID, s.p.NumDevices())}
	for i := range s.devices {
		d := &s.devices[i]
		order := slices.Clone(d.ops)
		for _, op := range order {
			rank[op] = s.rankOn(op, d)
		}
		slices.SortFunc(order, func(a, b model.OpID) int { return cmp.Compare(rank[a], rank[b]) })
		plan.Order[d.device] = s.chosen(order)
	}
	return plan
}

// rankOn returns how many operations of a device stand before op.
func (s *search) rankOn(op model.OpID, d *deviceIn) int {
	o := &s.ops[op]
	n := int(o.index)
	for i := range s.seqs[o.seq].partners {
		p := &s.seqs[o.seq].partners[i]
		if slices.Contains(d.seqs, p.seq) {
			before, _ := s.counts(o, p)
			n += before
		}
	}
	return n
}

// chosen replaces operations whose choice is fused by the fused one, and leaves out
// the backward weights that come with it.
func (s *search) chosen(order []model.OpID) []model.OpID {
	if len(s.choices) == 0 {
		return order
	}
	kept := order[:0]
	for _, op := range order {
		o := &s.ops[op]
		if o.choice < 0 || s.lo(o.choice) == 0 {
			kept = append(kept, op)
		} else if row := s.p.Row(op); row.Twin >= 0 {
			kept = append(kept, s.p.Base(int(row.Twin))+model.OpID(s.p.Index(op)))
		}
	}
	return kept
}

// suggest makes a plan what decisions try first, and its order of starts the order
// of the first decisions.
func (s *search) suggest(h *hint) {
	copy(s.picker.phase, h.phase)
	s.picker.order(h.vars)
}

// hint is a known plan as a search reads it.
type hint struct {
	phase []int64 // by variable: positions and choices
	vars  []int32 // positions and choices by start of their operations
	start []int64 // by operation
	end   int64   // the latest start
}

// newHint reads a legal plan and its timeline.
func newHint(f *form, plan *model.Plan, tl *model.Timeline) *hint {
	h := &hint{phase: make([]int64, f.vars.Count()), start: make([]int64, len(f.ops))}
	place := make([]int, len(f.ops))
	for _, order := range plan.Order {
		for i, op := range order {
			place[f.splitOf(op)] = i
		}
	}
	h.fill(f, tl)
	for _, p := range f.pairs {
		h.positions(f, &p, place)
	}
	slices.SortStableFunc(h.vars, func(a, b int32) int { return cmp.Compare(h.startOf(f, a), h.startOf(f, b)) })
	return h
}

// splitOf returns the operation itself, or the backward input for which a fused one
// stands in.
func (f *form) splitOf(op model.OpID) model.OpID {
	if row := f.p.Row(op); row.Choice == model.WhenFused {
		return f.p.Base(int(row.Twin)) + model.OpID(f.p.Index(op))
	}
	return op
}

// fill reads starts and choices. A backward weight that the plan does not hold
// starts when its fused operation ends.
func (h *hint) fill(f *form, tl *model.Timeline) {
	for op := range tl.Start {
		if at := tl.Start[op]; at != model.Absent {
			h.start[f.splitOf(model.OpID(op))] = int64(at)
		}
	}
	for _, c := range f.choices {
		input, weight := c.ops[0], c.ops[1]
		if tl.Start[input] == model.Absent {
			h.phase[c.v] = 1
			h.start[weight] = h.start[input] + f.ops[input].durAt[1]
		}
		h.vars = append(h.vars, c.v)
	}
	h.end = slices.Max(h.start)
}

// positions counts for each operation of a pair's first sequence those of the second
// before it, by the order of a device that holds both.
func (h *hint) positions(f *form, p *pairInfo, place []int) {
	k := 0
	others := f.seqs[p.q].ops
	for i, op := range f.seqs[p.a].ops {
		for k < len(others) && h.precedes(others[k], op, place) {
			k++
		}
		h.phase[p.first+int32(i)] = int64(k)
		h.vars = append(h.vars, p.first+int32(i))
	}
}

// precedes compares two operations by start, and at equal starts by their places,
// which are those on a common device unless one is in a gang.
func (h *hint) precedes(x, y model.OpID, place []int) bool {
	return cmp.Or(cmp.Compare(h.start[x], h.start[y]), cmp.Compare(place[x], place[y])) < 0
}

func (h *hint) startOf(f *form, v int32) int64 {
	if c, ok := f.choiceOf[v]; ok {
		return h.start[f.choices[c].ops[0]]
	}
	p := f.pairOf(v)
	return h.start[f.seqs[p.a].ops[v-p.first]]
}
