package bound_test

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// exhaustive solves tiny problems (up to 64 operations) by trying every order.
// It shares nothing with the bounds: neither the order of micro-batches nor the
// treatment of choices is taken for granted unless inOrder is set.
type exhaustive struct {
	p       *model.Problem
	n       int
	inOrder bool // rows run in index order
	preds   [][]wait
	succs   []uint64
	twin    []int // by operation: the one that stands in for it, or -1
	states  int   // left to visit
	seen    map[string]bool

	done, gone uint64 // gone: done, or the other case of a choice was taken
	end        []model.Time
	free       []model.Time
	held       []model.Bytes
	last, best model.Time
}

type wait struct {
	op  int
	lag model.Time
}

const infinite = model.Time(1) << 40

func newExhaustive(p *model.Problem, inOrder bool, states int) *exhaustive {
	n := p.NumOps()
	x := &exhaustive{p: p, n: n, inOrder: inOrder, states: states, best: infinite, seen: map[string]bool{},
		preds: make([][]wait, n), succs: make([]uint64, n), twin: make([]int, n), end: make([]model.Time, n),
		free: make([]model.Time, p.NumDevices()), held: slices.Clone(p.Statics)}
	for op := range n {
		r := p.RowOf(model.OpID(op))
		index := op - int(p.Base(r))
		x.twin[op] = -1
		if t := p.Rows[r].Twin; t >= 0 {
			x.twin[op] = int(p.Base(int(t))) + index
		}
		for _, pred := range p.Rows[r].Preds {
			first, end := p.PredOps(r, index, pred)
			for q := first; q < end; q++ {
				x.preds[op] = append(x.preds[op], wait{int(q), pred.Lag})
			}
		}
	}
	for op := range n {
		for _, w := range x.preds[op] {
			x.succs[w.op] |= 1 << op
			if t := x.twin[w.op]; t >= 0 {
				x.succs[t] |= 1 << op
			}
		}
	}
	return x
}

// makespan returns the optimal makespan, infinite if there is no schedule; ok is
// false if the states ran out.
func (x *exhaustive) makespan() (best model.Time, ok bool) {
	x.search()
	return x.best, x.states > 0
}

func (x *exhaustive) search() {
	if x.gone == 1<<x.n-1 {
		if m := slices.Max(x.free); m < x.best {
			x.best = m
		}
		return
	}
	if x.states <= 0 || x.late() {
		return
	}
	key := x.key()
	if x.seen[key] {
		return
	}
	x.seen[key] = true
	x.states--
	for op := range x.n {
		x.try(op)
	}
}

// late reports whether the state cannot lead to a better makespan, as some device
// has too much left to do.
func (x *exhaustive) late() bool {
	rest := slices.Clone(x.free)
	for op := range x.n {
		row := x.p.Row(model.OpID(op))
		if x.gone>>op&1 == 1 || row.Choice != model.Always {
			continue
		}
		for _, d := range row.Devices {
			rest[d] += x.p.Duration(model.OpID(op))
		}
	}
	return slices.Max(rest) >= x.best
}

// key identifies the state as far as the future depends on it.
func (x *exhaustive) key() string {
	b := binary.AppendUvarint(nil, x.done)
	b = binary.AppendUvarint(b, x.gone)
	b = binary.AppendUvarint(b, uint64(x.last))
	for _, t := range x.free {
		b = binary.AppendUvarint(b, uint64(t))
	}
	for op := range x.n {
		if x.done>>op&1 == 1 && x.succs[op]&^x.gone != 0 {
			b = binary.AppendUvarint(b, uint64(x.end[op]))
		}
	}
	return string(b)
}

// beats reports whether some schedule has a makespan below value; ok is false if
// the states ran out.
func (x *exhaustive) beats(value model.Time) (found, ok bool) {
	x.best = value
	x.search()
	return x.best < value, x.states > 0
}

// ready returns the earliest start of op behind what has run.
func (x *exhaustive) ready(op int) (model.Time, bool) {
	if x.gone>>op&1 == 1 || !x.allowed(op) {
		return 0, false
	}
	start := model.Time(0)
	for _, w := range x.preds[op] {
		q := w.op
		if x.done>>q&1 == 0 {
			if x.spared(q) {
				continue
			}
			if q = x.twin[q]; q < 0 || x.done>>q&1 == 0 {
				return 0, false
			}
		}
		start = max(start, x.end[q]+w.lag)
	}
	for _, d := range x.p.Row(model.OpID(op)).Devices {
		start = max(start, x.free[d])
	}
	return start, true
}

// spared reports whether the other case of a choice was taken, in which nothing stands
// in for an operation.
func (x *exhaustive) spared(op int) bool {
	return x.gone>>op&1 == 1 && x.done>>op&1 == 0 && x.twin[op] < 0
}

// allowed tests row order, and memory.
func (x *exhaustive) allowed(op int) bool {
	r := x.p.RowOf(model.OpID(op))
	if x.inOrder && op > int(x.p.Base(r)) && x.gone>>(op-1)&1 == 0 {
		return false
	}
	row := &x.p.Rows[r]
	for _, d := range row.Devices {
		if x.held[d]+row.MemoryOn(int(d)).AtStart > x.p.Limits[d] {
			return false
		}
	}
	return true
}

func (x *exhaustive) try(op int) {
	start, ok := x.ready(op)
	if !ok || start < x.last {
		return
	}
	row := x.p.Row(model.OpID(op))
	done, gone, last, free := x.done, x.gone, x.last, slices.Clone(x.free)
	x.take(op)
	x.last = start
	x.end[op] = start + x.p.Duration(model.OpID(op))
	for _, d := range row.Devices {
		delta := row.MemoryOn(int(d))
		x.held[d] += delta.AtStart + delta.AtEnd
		x.free[d] = x.end[op]
	}
	x.search()
	for _, d := range row.Devices {
		delta := row.MemoryOn(int(d))
		x.held[d] -= delta.AtStart + delta.AtEnd
	}
	x.done, x.gone, x.last, x.free = done, gone, last, free
}

// take notes that op runs, and with it that the other case of its choice does
// not.
func (x *exhaustive) take(op int) {
	x.done |= 1 << op
	x.gone |= 1 << op
	r := x.p.RowOf(model.OpID(op))
	row := &x.p.Rows[r]
	if row.Choice == model.Always {
		return
	}
	for other := range x.p.Rows {
		o := &x.p.Rows[other]
		if o.Stage == row.Stage && o.Route == row.Route && o.Choice != model.Always && o.Choice != row.Choice {
			x.gone |= 1 << (int(x.p.Base(other)) + op - int(x.p.Base(r)))
		}
	}
}

// span returns the optimal span over all timelines, not only those that start
// each operation as early as its order allows.
func (x *exhaustive) span() (best model.Time, ok bool) {
	x.orders(make([][]int, x.p.NumDevices()))
	return x.best, x.states > 0
}

// orders extends the orders by every operation that may come next. Sequences
// that differ in the turn of the devices only lead to the same orders, which are
// visited once.
func (x *exhaustive) orders(order [][]int) {
	if x.states <= 0 {
		return
	}
	if x.gone == 1<<x.n-1 {
		x.states--
		for x.best > 0 && x.reaches(order, x.best-1) {
			x.best = min(x.best-1, x.bisect(order))
		}
		return
	}
	key := x.sequenceKey(order)
	if x.seen[key] {
		return
	}
	if x.seen[key] = true; len(x.seen) > 100000 {
		x.states = 0
	}
	for op := range x.n {
		if _, ok := x.ready(op); !ok {
			continue
		}
		row := x.p.Row(model.OpID(op))
		done, gone := x.done, x.gone
		x.take(op)
		for _, d := range row.Devices {
			delta := row.MemoryOn(int(d))
			x.held[d] += delta.AtStart + delta.AtEnd
			order[d] = append(order[d], op)
		}
		x.orders(order)
		for _, d := range row.Devices {
			delta := row.MemoryOn(int(d))
			x.held[d] -= delta.AtStart + delta.AtEnd
			order[d] = order[d][:len(order[d])-1]
		}
		x.done, x.gone = done, gone
	}
}

func (x *exhaustive) sequenceKey(order [][]int) string {
	var b []byte
	for _, ops := range order {
		for _, op := range ops {
			b = append(b, byte(op))
		}
		b = append(b, 255)
	}
	return string(b)
}

func (x *exhaustive) bisect(order [][]int) model.Time {
	low, high := model.Time(0), x.best-1
	if high > 1<<20 {
		high = 1 << 20
	}
	for low < high {
		if mid := (low + high) / 2; x.reaches(order, mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return high
}

// reaches reports whether the orders have a timeline in which no device takes
// longer than span from its first start to its last end: whether the graph with
// edges from the last to the first operation of each device has no cycle of
// positive length (Bellman 1958; Ford 1956).
func (x *exhaustive) reaches(order [][]int, span model.Time) bool {
	start := make([]model.Time, x.n)
	for range bits.OnesCount64(x.done) + 1 {
		changed := false
		raise := func(op int, t model.Time) {
			if t > start[op] {
				start[op], changed = t, true
			}
		}
		for _, ops := range order {
			for i, op := range ops {
				if i > 0 {
					raise(op, start[ops[i-1]]+x.p.Duration(model.OpID(ops[i-1])))
				}
				for _, w := range x.preds[op] {
					q := w.op
					if x.spared(q) {
						continue
					}
					if x.done>>q&1 == 0 {
						q = x.twin[q]
					}
					raise(op, start[q]+x.p.Duration(model.OpID(q))+w.lag)
				}
			}
			if n := len(ops); n > 0 {
				raise(ops[0], start[ops[n-1]]+x.p.Duration(model.OpID(ops[n-1]))-span)
			}
		}
		if !changed {
			return true
		}
	}
	return false
}
