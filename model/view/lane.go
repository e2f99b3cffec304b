package view

import "github.com/flexpipe/flexpipe/model"

// cell is what a column of a lane shows.
type cell struct {
	op    model.OpID // -1: idle
	class class
}

// laneDrawer turns the operations of devices into columns. Where operations are
// narrower than a column, neighbouring columns show the kinds in the proportion
// in which they fill the time.
type laneDrawer struct {
	track *track
	scale scale
	width int // columns
	cells []cell

	// Of the column being filled, by slot, the last one for idle: time filled, and
	// what earlier columns owe to the slot.
	filled, owed []int64
	ops          []model.OpID // the operation that fills most of the slot's time
	longest      []int64      // that time
}

// newLaneDrawer returns a drawer of the time from 0 to end.
func newLaneDrawer(tr *track, end model.Time, width int) *laneDrawer {
	slots := len(tr.p.Kinds)*tr.most + 1
	return &laneDrawer{
		track: tr, scale: newScale(end, width), width: width,
		filled: make([]int64, slots), owed: make([]int64, slots),
		ops: make([]model.OpID, slots), longest: make([]int64, slots),
	}
}

func (l *laneDrawer) slot(c class) int { return int(c.kind)*l.track.most + c.chunk }

// draw returns the columns of a device. They are valid until the next call.
// Cost O(operations + width × kinds × chunks).
func (l *laneDrawer) draw(d int) []cell {
	l.cells = l.cells[:0]
	clear(l.owed)
	idle := len(l.filled) - 1
	now := int64(0)
	for _, op := range l.track.orders[d] {
		first, last := l.track.span(op)
		start, end := l.scale.fine(first), l.scale.fine(last)
		l.fill(now, start, idle, -1)
		l.fill(start, end, l.slot(l.track.class(d, op)), op)
		now = max(now, end)
	}
	l.fill(now, l.scale.end*l.scale.size, idle, -1)
	return l.cells
}

// fill gives the time from start to end, in fine units, to a slot, and closes
// the columns that this completes.
func (l *laneDrawer) fill(start, end int64, slot int, op model.OpID) {
	for start < end && len(l.cells) < l.width {
		edge := int64(len(l.cells)+1) * l.scale.end
		part := min(end, edge) - start
		l.filled[slot] += part
		if part > l.longest[slot] {
			l.longest[slot], l.ops[slot] = part, op
		}
		if start += part; start == edge {
			l.close()
		}
	}
}

// close ends a column: of what fills it, it shows the slot that earlier columns
// and this one owe the most.
func (l *laneDrawer) close() {
	best := -1
	for s, t := range l.filled {
		if t == 0 {
			l.owed[s] = 0
			continue
		}
		if l.owed[s] += t; best < 0 || l.owed[s] > l.owed[best] {
			best = s
		}
	}
	l.owed[best] -= l.scale.end
	c := cell{op: l.ops[best]}
	if c.op >= 0 {
		c.class = class{model.Kind(best / l.track.most), best % l.track.most}
	}
	l.cells = append(l.cells, c)
	clear(l.filled)
	clear(l.longest)
}

// runs calls f for each stretch of columns from first to last, exclusive, whose
// cells are alike.
func runs(cells []cell, alike func(a, b cell) bool, f func(first, last int)) {
	for first := 0; first < len(cells); {
		last := first + 1
		for last < len(cells) && alike(cells[first], cells[last]) {
			last++
		}
		f(first, last)
		first = last
	}
}
