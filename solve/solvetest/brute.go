package solvetest

import (
	"encoding/binary"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// mostOps is the size up to which problems are searched exhaustively.
const mostOps = 30

// brute finds the best plan of a tiny problem, of up to 63 operations, by trying
// all orders. It takes operations in the order of their starts, each as early as
// those before it allow, and tries every one that could come next. It knows nothing
// of sequences, windows or bounds, but that what a device still has to do takes
// its time.
type brute struct {
	p       *model.Problem
	inOrder bool // operations of a row with equal factors start in index order
	preds   [][]need
	instead []uint64 // by operation: those that are not needed once it has run
	asked   []uint64 // by operation: those that wait for it
	budget  int      // states left to visit
	seen    map[string]bool

	ran, gone   uint64 // gone: has run, or is not needed any more
	end         []model.Time
	first, free []model.Time // by device; first is Absent before its first operation
	held        []model.Bytes
	now         model.Time // the latest start
	best        model.Time
}

// need is an operation that must have ended lag ticks before; the other one may
// stand in for it, -1 if there is none.
type need struct {
	op, other int
	lag       model.Time
}

// none is the best value if there is no plan.
const none model.Time = 1 << 40

// optimum returns the smallest objective of any plan, none if there is no plan.
// It is false if the problem is too large.
func optimum(p *model.Problem) (model.Time, bool) {
	if p.NumOps() > mostOps {
		return 0, false
	}
	for _, inOrder := range []bool{false, true} {
		if inOrder && constraints.Entangled(p) >= 0 {
			break
		}
		b := newBrute(p, inOrder)
		if b.visit(); b.budget > 0 {
			return b.best, true
		}
	}
	return 0, false
}

func newBrute(p *model.Problem, inOrder bool) *brute {
	n, devices := p.NumOps(), p.NumDevices()
	b := &brute{p: p, inOrder: inOrder, preds: make([][]need, n), instead: make([]uint64, n), asked: make([]uint64, n),
		budget: 1000, seen: map[string]bool{}, end: make([]model.Time, n),
		first: slices.Repeat([]model.Time{model.Absent}, devices), free: make([]model.Time, devices),
		held: slices.Clone(p.Statics), best: none}
	if inOrder {
		b.budget = 15000
	}
	for d := range devices {
		if b.held[d] > p.Limits[d] {
			b.instead = nil // nothing may run
		}
	}
	for op := range n {
		b.prepare(op)
	}
	return b
}

func (b *brute) prepare(op int) {
	r := b.p.RowOf(model.OpID(op))
	index := op - int(b.p.Base(r))
	row := &b.p.Rows[r]
	for _, pred := range row.Preds {
		first, end := b.p.PredOps(r, index, pred)
		for q := first; q < end; q++ {
			x := need{int(q), -1, pred.Lag}
			b.asked[q] |= 1 << op
			if twin := int(b.p.Rows[pred.Row].Twin); twin >= 0 {
				x.other = int(b.p.Base(twin)) + b.p.Index(q)
				b.asked[x.other] |= 1 << op
			}
			b.preds[op] = append(b.preds[op], x)
		}
	}
	if row.Choice == model.Always || b.instead == nil {
		return
	}
	for o := range b.p.Rows {
		if other := &b.p.Rows[o]; other.Choice != model.Always && other.Choice != row.Choice && other.Stage == row.Stage && other.Route == row.Route {
			b.instead[op] |= 1 << (int(b.p.Base(o)) + index)
		}
	}
}

// visit tries all that can follow the state.
func (b *brute) visit() {
	if b.instead == nil || b.budget <= 0 || b.hopeless() {
		return
	}
	if b.gone == 1<<b.p.NumOps()-1 {
		b.best = b.value(nil)
		return
	}
	key := b.key()
	if b.seen[key] {
		return
	}
	b.seen[key] = true
	b.budget--
	for op := range b.p.NumOps() {
		if start, ok := b.start(op); ok {
			b.run(op, start)
		}
	}
}

// value returns the objective if each device is busy for a while from now on.
func (b *brute) value(left []model.Time) model.Time {
	value := model.Time(0)
	for d, free := range b.free {
		if left != nil {
			free += left[d]
		}
		if b.p.Pipeline.Objective == model.Span {
			free -= max(0, b.first[d])
			if b.first[d] == model.Absent && left != nil {
				free = left[d]
			}
		}
		value = max(value, free)
	}
	return value
}

// hopeless reports whether what is left takes too long.
func (b *brute) hopeless() bool {
	left := make([]model.Time, len(b.free))
	for op := range b.p.NumOps() {
		if row := b.p.Row(model.OpID(op)); b.gone>>op&1 == 0 && row.Choice == model.Always {
			for _, d := range row.Devices {
				left[d] += b.p.Duration(model.OpID(op))
			}
		}
	}
	return b.value(left) >= b.best
}

// key is equal for states with the same future.
func (b *brute) key() string {
	k := binary.AppendUvarint(nil, b.ran)
	k = binary.AppendUvarint(k, b.gone)
	k = binary.AppendUvarint(k, uint64(b.now))
	for d := range b.free {
		k = binary.AppendUvarint(k, uint64(b.free[d]))
		if b.p.Pipeline.Objective == model.Span {
			k = binary.AppendVarint(k, int64(b.first[d]))
		}
	}
	for op := range b.p.NumOps() {
		if b.ran>>op&1 == 1 && b.asked[op]&^b.gone != 0 {
			k = binary.AppendUvarint(k, uint64(b.end[op]))
		}
	}
	return string(k)
}

// start returns when an operation could start as the next one.
func (b *brute) start(op int) (model.Time, bool) {
	row := b.p.Row(model.OpID(op))
	if b.gone>>op&1 == 1 || b.inOrder && b.overtakes(op) {
		return 0, false
	}
	at := model.Time(0)
	for _, x := range b.preds[op] {
		q := x.op
		if b.ran>>q&1 == 0 {
			if x.other < 0 && b.gone>>q&1 == 1 {
				continue // the weight gradient of a fused micro-batch
			}
			if q = x.other; q < 0 || b.ran>>q&1 == 0 {
				return 0, false
			}
		}
		at = max(at, b.end[q]+x.lag)
	}
	for _, d := range row.Devices {
		at = max(at, b.free[d])
		delta := row.MemoryOn(int(d))
		if most := max(delta.AtStart, delta.AtStart+delta.AtEnd); most > 0 && b.held[d]+most > b.p.Limits[d] {
			return 0, false
		}
	}
	return at, at >= b.now
}

// overtakes reports whether an earlier operation of the row, of an equal
// micro-batch, is still to run.
func (b *brute) overtakes(op int) bool {
	r := b.p.RowOf(model.OpID(op))
	for q := int(b.p.Base(r)); q < op; q++ {
		if b.gone>>q&1 == 0 && b.factor(q) == b.factor(op) {
			return true
		}
	}
	return false
}

func (b *brute) factor(op int) int64 {
	m := b.p.MicroBatch(model.OpID(op))
	if m < 0 || b.p.Pipeline.Factors == nil {
		return 0
	}
	return b.p.Pipeline.Factors[m]
}

// run tries an operation as the next one.
func (b *brute) run(op int, start model.Time) {
	row := b.p.Row(model.OpID(op))
	ran, gone, now := b.ran, b.gone, b.now
	first, free, held := slices.Clone(b.first), slices.Clone(b.free), slices.Clone(b.held)
	b.ran |= 1 << op
	b.gone |= 1<<op | b.instead[op]
	b.now, b.end[op] = start, start+b.p.Duration(model.OpID(op))
	for _, d := range row.Devices {
		if b.first[d] == model.Absent {
			b.first[d] = start
		}
		b.free[d] = b.end[op]
		delta := row.MemoryOn(int(d))
		b.held[d] += delta.AtStart + delta.AtEnd
	}
	b.visit()
	b.ran, b.gone, b.now = ran, gone, now
	b.first, b.free, b.held = first, free, held
}
