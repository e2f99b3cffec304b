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
	pic   *picture
	scale scale
	width int // columns
	cells []cell

	// Of the column being filled, by slot, the last one for idle: time filled, and
	// what earlier columns owe to the slot.
	filled, owed []int64
	ops          []model.OpID // the operation that fills most of the slot's time
	longest      []int64      // that time
}

func newLaneDrawer(pic *picture, width int) *laneDrawer {
	slots := len(pic.p.Kinds)*pic.most + 1
	return &laneDrawer{
		pic: pic, scale: newScale(pic.end, width), width: width,
		filled: make([]int64, slots), owed: make([]int64, slots),
		ops: make([]model.OpID, slots), longest: make([]int64, slots),
	}
}

func (l *laneDrawer) slot(c class) int { return int(c.kind)*l.pic.most + c.chunk }

// draw returns the columns of a device. They are valid until the next call.
// Cost O(operations + width × kinds × chunks).
func (l *laneDrawer) draw(d int) []cell {
	l.cells = l.cells[:0]
	clear(l.owed)
	idle := len(l.filled) - 1
	now := int64(0)
	for _, op := range l.pic.plan.Order[d] {
		start, end := l.scale.fine(l.pic.tl.Start[op]), l.scale.fine(l.pic.tl.End(l.pic.p, op))
		l.fill(now, start, idle, -1)
		l.fill(start, end, l.slot(l.pic.class(d, op)), op)
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
		c.class = class{model.Kind(best / l.pic.most), best % l.pic.most}
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
