package view

import (
	"iter"

	"github.com/flexpipe/flexpipe/model"
)

// arrows finds the precedences between operations of a lane that share no device. Both
// ends of an arrow follow from the same table of rows, so that no end stands alone.
type arrows struct {
	p       *model.Problem
	lane    *TraceLane
	held    model.OpSet
	links   []arrowRows
	in, out [][]int32 // by row: indices of links
}

// arrowRows are two rows of which operations of the second wait for the first. If they
// do not wait for it directly, they do where the plan does not hold its twin.
type arrowRows struct {
	from, to int32
	direct   bool
}

// newArrows costs O(operations + precedences of rows).
func newArrows(lane *TraceLane, tr *track) *arrows {
	a := &arrows{
		p: tr.p, lane: lane, held: model.NewOpSet(tr.p),
		in: make([][]int32, len(tr.p.Rows)), out: make([][]int32, len(tr.p.Rows)),
	}
	for _, order := range tr.orders {
		for _, op := range order {
			a.held.Add(op)
		}
	}
	for to := range tr.p.Rows {
		for _, pred := range tr.p.Rows[to].Preds {
			a.link(pred.Row, int32(to), true)
			if twin := tr.p.Rows[pred.Row].Twin; twin >= 0 {
				a.link(twin, int32(to), false)
			}
		}
	}
	return a
}

// link adds a pair of rows once.
func (a *arrows) link(from, to int32, direct bool) {
	if !disjoint(a.p.Rows[from].Devices, a.p.Rows[to].Devices) {
		return
	}
	for _, i := range a.in[to] {
		if l := &a.links[i]; l.from == from {
			l.direct = l.direct || direct
			return
		}
	}
	i := int32(len(a.links))
	a.links = append(a.links, arrowRows{from, to, direct})
	a.in[to], a.out[from] = append(a.in[to], i), append(a.out[from], i)
}

// disjoint reports whether two ascending lists have nothing in common.
func disjoint(a, b []int32) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return false
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return true
}

// into yields the operations that op waits for.
func (a *arrows) into(op model.OpID) iter.Seq[model.OpID] {
	return func(yield func(model.OpID) bool) {
		for _, i := range a.in[a.p.RowOf(op)] {
			l := a.links[i]
			first, end := a.operations(l.from, l.to, a.p.Index(op))
			for from := first; from < end; from++ {
				if a.follows(l, from, op) && !yield(from) {
					return
				}
			}
		}
	}
}

// from yields the operations that wait for op.
func (a *arrows) from(op model.OpID) iter.Seq[model.OpID] {
	return func(yield func(model.OpID) bool) {
		for _, i := range a.out[a.p.RowOf(op)] {
			l := a.links[i]
			first, end := a.operations(l.to, l.from, a.p.Index(op))
			for to := first; to < end; to++ {
				if a.follows(l, op, to) && !yield(to) {
					return
				}
			}
		}
	}
}

// operations returns the half-open range of the operations of a row that belong to the
// one with an index in another row.
func (a *arrows) operations(row, other int32, index int) (first, end model.OpID) {
	base := a.p.Base(int(row))
	if a.p.Rows[row].Single || a.p.Rows[other].Single {
		return base, base + model.OpID(a.p.Count(int(row)))
	}
	return base + model.OpID(index), base + model.OpID(index) + 1
}

// follows reports whether the lane holds two operations of linked rows, and the second
// waits for the first.
func (a *arrows) follows(l arrowRows, from, to model.OpID) bool {
	if !a.held.Has(from) || !a.held.Has(to) {
		return false
	}
	if l.direct {
		return true
	}
	index := from - a.p.Base(int(l.from))
	return !a.held.Has(a.p.Base(int(a.p.Rows[l.from].Twin)) + index)
}

// leaves is when an arrow leaves an operation: its last nanosecond.
func (a *arrows) leaves(op model.OpID) int64 { return max(a.lane.Start[op], a.lane.End[op]-1) }

// drawn reports whether the arrow between two operations goes forward in time.
func (a *arrows) drawn(from, to model.OpID) bool { return a.leaves(from) < a.lane.Start[to] }
