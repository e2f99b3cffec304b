package view

import (
	"iter"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// arrows finds the precedences between operations of a lane that share no device. Both
// ends of an arrow follow from the same pairs of rows, so that no end stands alone. A
// twin counts as predecessor, too: a plan holds it in the place of its row or not at all.
type arrows struct {
	p       *model.Problem
	lane    *TraceLane
	held    model.OpSet
	in, out [][]int32 // by row: those whose operations its own wait for; those that wait
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
			a.link(pred.Row, int32(to))
			if twin := tr.p.Rows[pred.Row].Twin; twin >= 0 {
				a.link(twin, int32(to))
			}
		}
	}
	return a
}

// link adds a pair of rows once.
func (a *arrows) link(from, to int32) {
	if !disjoint(a.p.Rows[from].Devices, a.p.Rows[to].Devices) {
		return
	}
	if !slices.Contains(a.in[to], from) {
		a.in[to], a.out[from] = append(a.in[to], from), append(a.out[from], to)
	}
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

// linked yields the operations of rows of in or out that op waits for, or that wait for
// op, as far as the lane holds them.
func (a *arrows) linked(op model.OpID, rows []int32) iter.Seq[model.OpID] {
	return func(yield func(model.OpID) bool) {
		own := a.p.RowOf(op)
		for _, row := range rows {
			first, end := a.operations(int(row), own, a.p.Index(op))
			for other := first; other < end; other++ {
				if a.held.Has(other) && !yield(other) {
					return
				}
			}
		}
	}
}

// operations returns the half-open range of the operations of a row that belong to the
// one with an index in another row.
func (a *arrows) operations(row, other, index int) (first, end model.OpID) {
	base := a.p.Base(row)
	if a.p.Rows[row].Single || a.p.Rows[other].Single {
		return base, base + model.OpID(a.p.Count(row))
	}
	return base + model.OpID(index), base + model.OpID(index) + 1
}

// leaves is when an arrow leaves an operation: its last nanosecond.
func (a *arrows) leaves(op model.OpID) int64 { return max(a.lane.Start[op], a.lane.End[op]-1) }

// drawn reports whether the arrow between two operations goes forward in time.
func (a *arrows) drawn(from, to model.OpID) bool { return a.leaves(from) < a.lane.Start[to] }
