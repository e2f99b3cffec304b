package heuristics

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// filler lists a plan anew and puts off weight gradients that wait for nothing
// but their own backward input. A device runs the oldest of them when the next
// forward needs the memory, when it ends before the next operation can start,
// and, to balance, when the gap would else make the device idle for longer than
// every other so far.
type filler struct {
	c       *chain
	balance bool
	limit   int
	fixed   [][]model.OpID // by device: the operations in their given order, as far as not run
	putOff  [][]model.OpID // by device: the weight gradients that may run now, oldest first
	order   [][]model.OpID // by device: the result
	start   []model.Time   // by operation, Absent if it has not run
	free    []model.Time   // by device: end of its last operation
	idle    []model.Time   // by device: since its first operation
	worst   model.Time     // the largest of them
	live    []int          // by device: stage activations
}

func newFiller(c *chain, hand *model.Plan, limit int, balance bool) *filler {
	n := c.p.NumDevices()
	f := &filler{
		c: c, balance: balance, limit: limit,
		fixed: make([][]model.OpID, n), putOff: make([][]model.OpID, n), order: make([][]model.OpID, n),
		start: slices.Repeat([]model.Time{model.Absent}, c.p.NumOps()),
		free:  make([]model.Time, n), idle: make([]model.Time, n), live: make([]int, n),
	}
	for d, order := range hand.Order {
		f.order[d] = make([]model.OpID, 0, len(order))
		for _, op := range order {
			if !f.movable(c.p.Row(op)) {
				f.fixed[d] = append(f.fixed[d], op)
			}
		}
	}
	return f
}

// movable reports whether the operations of a row may be put off: weight
// gradients that no operation of another device stands before.
func (f *filler) movable(row *model.Row) bool {
	return row.Kind == model.BackwardWeight && f.c.of(row).input >= 0
}

// run visits the devices in turn; each runs as far as its predecessors have run.
// The given order of a valid plan always lets some device go on.
func (f *filler) run() (*model.Plan, *model.Timeline) {
	for moved := true; moved; {
		moved = false
		for d := range f.fixed {
			for len(f.fixed[d]) > 0 && f.step(d) {
				moved = true
			}
		}
	}
	for d := range f.putOff {
		for len(f.putOff[d]) > 0 {
			f.fill(d)
		}
	}
	return &model.Plan{Order: f.order}, &model.Timeline{Start: f.start}
}

// step runs the next operation of a device, after the weight gradients that
// should come before it. It reports whether the predecessors of it have run.
func (f *filler) step(d int) bool {
	op := f.fixed[d][0]
	r := f.c.p.RowOf(op)
	ready, ok := f.ready(r, int(op-f.c.p.Base(r)))
	if !ok {
		return false
	}
	needs := 0
	if f.c.p.Rows[r].Kind == model.Forward {
		needs = 1
	}
	for len(f.putOff[d]) > 0 && (f.live[d]+needs > f.limit || f.fits(d, ready)) {
		f.fill(d)
	}
	if gap := ready - f.free[d]; f.balance && len(f.putOff[d]) > 0 && gap > 0 && f.idle[d]+gap > f.worst {
		f.fill(d)
	}
	f.fixed[d] = f.fixed[d][1:]
	f.add(d, op, ready)
	return true
}

// ready returns when the predecessors of an operation allow it to start, and
// whether all of them have run.
func (f *filler) ready(r, index int) (model.Time, bool) {
	ready := model.Time(0)
	for _, pred := range f.c.p.Rows[r].Preds {
		start := f.start[f.c.p.Base(int(pred.Row))+model.OpID(index)]
		if start == model.Absent {
			return 0, false
		}
		ready = max(ready, start+f.c.p.DurationIn(int(pred.Row), index)+pred.Lag)
	}
	return ready, true
}

// fits reports whether the oldest weight gradient ends before a time.
func (f *filler) fits(d int, before model.Time) bool {
	return f.free[d]+f.c.p.Duration(f.putOff[d][0]) <= before
}

// fill runs the oldest weight gradient of a device.
func (f *filler) fill(d int) {
	op := f.putOff[d][0]
	f.putOff[d] = f.putOff[d][1:]
	f.add(d, op, 0)
}

// add runs an operation as early as the device and its predecessors allow.
func (f *filler) add(d int, op model.OpID, ready model.Time) {
	if gap := ready - f.free[d]; gap > 0 {
		if len(f.order[d]) > 0 {
			f.idle[d] += gap
			f.worst = max(f.worst, f.idle[d])
		}
		f.free[d] = ready
	}
	f.start[op] = f.free[d]
	f.free[d] += f.c.p.Duration(op)
	f.order[d] = append(f.order[d], op)
	f.account(d, op)
}

// account counts live activations, and offers the weight gradient of a backward
// input to its device.
func (f *filler) account(d int, op model.OpID) {
	row := f.c.p.Row(op)
	rows := f.c.of(row)
	switch {
	case row.Kind == model.Forward && max(rows.input, rows.weight) >= 0:
		f.live[d]++
	case row.Kind == model.BackwardInput && rows.weight >= 0:
		f.putOff[d] = append(f.putOff[d], f.c.p.Op(rows.weight, f.c.p.MicroBatch(op)))
	case row.Kind != model.Forward:
		f.live[d]--
	}
}
