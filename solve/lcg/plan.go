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
	place [][]int // while it is made, by device and number there: order
}

// newHint reads a legal plan and its timeline.
func newHint(f *form, plan *model.Plan, tl *model.Timeline) *hint {
	h := &hint{phase: make([]int64, f.vars.Count()), start: make([]int64, len(f.ops))}
	h.place = make([][]int, len(f.devices))
	for d := range f.devices {
		h.place[d] = make([]int, len(f.devices[d].ops))
		for i, op := range plan.Order[f.devices[d].device] {
			*h.placeOn(f, int32(d), f.splitOf(op)) = i << 32 // room for weights of fused micro-batches behind it
		}
	}
	for op := range tl.Start {
		if at := tl.Start[op]; at != model.Absent {
			h.start[f.splitOf(model.OpID(op))] = int64(at)
		}
	}
	for _, c := range f.choices {
		if tl.Start[c.ops[0]] == model.Absent {
			h.phase[c.v] = 1
			h.behind(f, c.ops[0], c.ops[1])
		}
		h.vars = append(h.vars, c.v)
	}
	for _, p := range f.pairs {
		h.positions(f, &p)
	}
	h.end = slices.Max(h.start)
	h.place = nil
	slices.SortStableFunc(h.vars, func(a, b int32) int { return cmp.Compare(h.startOf(f, a), h.startOf(f, b)) })
	return h
}

// placeOn returns where the place of an operation on a device is kept.
func (h *hint) placeOn(f *form, device int32, op model.OpID) *int {
	o := &f.ops[op]
	q := &f.seqs[o.seq]
	return &h.place[device][q.offsets[slices.Index(q.devices, device)]+o.index]
}

// splitOf returns the operation itself, or the backward input for which a fused one
// stands in.
func (f *form) splitOf(op model.OpID) model.OpID {
	if row := f.p.Row(op); row.Choice == model.WhenFused {
		return f.p.Base(int(row.Twin)) + model.OpID(f.p.Index(op))
	}
	return op
}

// behind places the weight of a fused micro-batch, which the plan does not hold: behind
// the fused operation or the weight before it, whichever is later, as docs/proof.md
// says. They all sit on the same devices.
func (h *hint) behind(f *form, fused, weight model.OpID) {
	q := &f.seqs[f.ops[weight].seq]
	after := fused
	h.start[weight] = h.start[fused] + f.ops[fused].durAt[1]
	if i := f.ops[weight].index; i > 0 {
		last := q.ops[i-1]
		if *h.placeOn(f, q.devices[0], last) > *h.placeOn(f, q.devices[0], fused) {
			after = last
			h.start[weight] = h.start[last] + f.ops[last].durAt[h.phase[f.ops[last].choice]]
		}
	}
	for _, d := range q.devices {
		*h.placeOn(f, d, weight) = *h.placeOn(f, d, after) + 1
	}
}

// positions counts for each operation of a pair's first sequence those of the second
// before it, by the order of a device that holds both.
func (h *hint) positions(f *form, p *pairInfo) {
	k := 0
	others := f.seqs[p.q].ops
	device := f.common(p)
	for i, op := range f.seqs[p.a].ops {
		own := *h.placeOn(f, device, op)
		for k < len(others) && *h.placeOn(f, device, others[k]) < own {
			k++
		}
		h.phase[p.first+int32(i)] = int64(k)
		h.vars = append(h.vars, p.first+int32(i))
	}
}

// common returns a device of both sequences of a pair.
func (f *form) common(p *pairInfo) int32 {
	for _, d := range f.seqs[p.a].devices {
		if slices.Contains(f.seqs[p.q].devices, d) {
			return d
		}
	}
	panic("lcg: the sequences of a pair have no device in common")
}

func (h *hint) startOf(f *form, v int32) int64 {
	if c, ok := f.choiceOf[v]; ok {
		return h.start[f.choices[c].ops[0]]
	}
	p := f.pairOf(v)
	return h.start[f.seqs[p.a].ops[v-p.first]]
}
