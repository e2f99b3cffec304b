package heuristics

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// tabu improves the order of a plan by swaps of neighbours on a critical path
// (van Laarhoven, Aarts, Lenstra 1992), the best by estimate first (Taillard
// 1994), never undoing a recent swap (tabu search, Glover 1989). Identical
// micro-batches keep their order within a row, and no step exceeds a memory
// limit. It is a local search: it promises a plan that is no worse.
//
// Estimates are the paths through the swapped pair, with heads and tails from
// before the swap; they ignore other paths.
type tabu struct {
	p    *model.Problem
	rand *rand.Rand

	order [][]model.OpID
	place []int32       // by operation: its place in the order of its device
	on    []int32       // by operation: its device
	long  []model.Time  // by operation: how long it lasts
	start []model.Time  // by operation
	tail  []model.Time  // by operation: from its end to the end of what counts, none if it does not count
	held  []model.Bytes // by operation: memory of its device before it
	topo  []model.OpID  // all operations, each behind those it waits for
	waits []int32       // by operation: what it waits for and has not ended

	from  model.Time   // where what counts begins: for the span, the first start of the widest device
	until map[swap]int // swaps that may not be made before that iteration
}

// swap puts second before first.
type swap struct{ first, second model.OpID }

// none is the tail of an operation that does not lead to what counts.
const none = model.Time(-1 << 60)

// maxTabu is the number of operations up to which the search is tried, and
// tabuWork bounds operations × swaps.
const (
	maxTabu  = 1 << 16
	tabuWork = 1 << 22
	maxSwaps = 4000
)

// tabuFits reports whether the search can work on a problem: not too large, each
// operation on one device, and no choices or routes.
func tabuFits(p *model.Problem) bool {
	for r := range p.Rows {
		if row := &p.Rows[r]; len(row.Devices) != 1 || row.Single || row.Choice != model.Always {
			return false
		}
	}
	return p.Pipeline.NumRoutes() == 1 && p.NumOps() <= maxTabu
}

// improve returns a plan that is no worse than the given one, of the given value,
// and its value. It ends after a number of swaps, after a quarter of them
// without improvement, when target is met, or with ctx. Cost O(operations +
// precedences) for each swap.
func improve(ctx context.Context, p *model.Problem, plan *model.Plan, value, target model.Time, seed uint64) (*model.Plan, model.Time) {
	t := newTabu(p, plan, seed)
	swaps := min(maxSwaps, tabuWork/max(1, p.NumOps()))
	best, stale := value, 0
	var last swap
	for i := 0; i < swaps && best > target && stale <= swaps/4 && ctx.Err() == nil; i++ {
		now, ok := t.evaluate()
		if !ok {
			// Operations that take no time can wait for each other in a circle.
			t.apply(swap{last.second, last.first})
			t.until[last] = swaps
			now, _ = t.evaluate()
		}
		if stale++; now < best {
			best, stale, plan = now, 0, clonePlan(t.order)
		}
		if last, ok = t.step(i, best+t.from); !ok {
			break
		}
	}
	return plan, best
}

func clonePlan(order [][]model.OpID) *model.Plan {
	plan := &model.Plan{Order: make([][]model.OpID, len(order))}
	for d := range order {
		plan.Order[d] = slices.Clone(order[d])
	}
	return plan
}

func newTabu(p *model.Problem, plan *model.Plan, seed uint64) *tabu {
	n := p.NumOps()
	t := &tabu{
		p: p, rand: rand.New(rand.NewPCG(seed, 0x7ab0)), order: clonePlan(plan.Order).Order,
		place: make([]int32, n), on: make([]int32, n), long: make([]model.Time, n), start: make([]model.Time, n), tail: make([]model.Time, n),
		held: make([]model.Bytes, n), waits: make([]int32, n), until: map[swap]int{},
	}
	for d, order := range t.order {
		for i, op := range order {
			t.place[op], t.on[op], t.long[op] = int32(i), int32(d), p.Duration(op)
		}
		t.hold(d, 0)
	}
	return t
}

// hold recomputes the memory before each operation of a device from a place on.
func (t *tabu) hold(d, from int) {
	order := t.order[d]
	held := t.p.Statics[d]
	if from > 0 {
		before := order[from-1]
		delta := t.p.Row(before).MemoryOn(d)
		held = t.held[before] + delta.AtStart + delta.AtEnd
	}
	for _, op := range order[from:] {
		t.held[op] = held
		delta := t.p.Row(op).MemoryOn(d)
		held += delta.AtStart + delta.AtEnd
	}
}

// evaluate computes starts and tails, and returns the value of the order; false if
// the order cannot run.
func (t *tabu) evaluate() (model.Time, bool) {
	p := t.p
	if t.forward(); len(t.topo) < p.NumOps() {
		return 0, false
	}
	makespan, span, widest := model.Time(0), model.Time(-1), 0
	for d, order := range t.order {
		if len(order) == 0 {
			continue
		}
		last := order[len(order)-1]
		end := t.start[last] + t.long[last]
		makespan = max(makespan, end)
		if own := end - t.start[order[0]]; own > span {
			span, widest = own, d
		}
	}
	if p.Pipeline.Objective == model.Span {
		t.from = t.start[t.order[widest][0]]
		t.backward(widest)
		return span, true
	}
	t.backward(-1)
	return makespan, true
}

// forward computes a topological order and the earliest starts.
func (t *tabu) forward() {
	p := t.p
	t.topo = t.topo[:0]
	for r := range p.Rows {
		n := int32(len(p.Rows[r].Preds))
		for i := range p.Count(r) {
			op := p.Base(r) + model.OpID(i)
			t.waits[op], t.start[op] = n, 0
			if t.place[op] > 0 {
				t.waits[op]++
			}
			if t.waits[op] == 0 {
				t.topo = append(t.topo, op)
			}
		}
	}
	for i := 0; i < len(t.topo); i++ {
		op := t.topo[i]
		r := p.RowOf(op)
		index := op - p.Base(r)
		end := t.start[op] + t.long[op]
		if next := t.next(op); next >= 0 {
			t.release(next, end)
		}
		for _, s := range p.Succs[r] {
			t.release(p.Base(int(s.Row))+index, end+s.Lag)
		}
	}
}

func (t *tabu) release(op model.OpID, at model.Time) {
	t.start[op] = max(t.start[op], at)
	if t.waits[op]--; t.waits[op] == 0 {
		t.topo = append(t.topo, op)
	}
}

func (t *tabu) next(op model.OpID) model.OpID {
	order := t.order[t.on[op]]
	if at := int(t.place[op]) + 1; at < len(order) {
		return order[at]
	}
	return -1
}

func (t *tabu) previous(op model.OpID) model.OpID {
	if at := t.place[op]; at > 0 {
		return t.order[t.on[op]][at-1]
	}
	return -1
}

// backward computes the tails: to the last end, or to that of a device.
func (t *tabu) backward(device int) {
	for i := len(t.topo) - 1; i >= 0; i-- {
		op := t.topo[i]
		tail := t.tailAfter(op)
		next := t.next(op)
		if next >= 0 {
			tail = max(tail, t.long[next]+t.tail[next])
		}
		if device < 0 || next < 0 && int(t.on[op]) == device {
			tail = max(tail, 0)
		}
		t.tail[op] = tail
	}
}

// tailAfter returns the tail of an operation through its successors.
func (t *tabu) tailAfter(op model.OpID) model.Time {
	p, tail := t.p, none
	r := p.RowOf(op)
	index := op - p.Base(r)
	for _, s := range p.Succs[r] {
		q := p.Base(int(s.Row)) + index
		tail = max(tail, s.Lag+t.long[q]+t.tail[q])
	}
	return tail
}

// headBefore returns when the predecessors of an operation allow it to start.
func (t *tabu) headBefore(op model.OpID) model.Time {
	p, head := t.p, model.Time(0)
	r := p.RowOf(op)
	index := op - p.Base(r)
	for _, pred := range p.Rows[r].Preds {
		q := p.Base(int(pred.Row)) + index
		head = max(head, t.start[q]+t.long[q]+pred.Lag)
	}
	return head
}

// step makes the most promising swap, ties at random, and returns it; false if
// there is none. A recent swap is undone only if that promises an end before best.
func (t *tabu) step(iteration int, best model.Time) (chosen swap, ok bool) {
	length := none
	for _, op := range t.topo {
		length = max(length, t.through(op))
	}
	least, ties := model.Time(1<<62), 0
	for _, order := range t.order {
		for i := 0; i+1 < len(order); i++ {
			u, v := order[i], order[i+1]
			if t.through(u) != length || t.through(v) != length || t.start[v] != t.start[u]+t.long[u] || !t.swappable(u, v) {
				continue
			}
			estimate := t.estimate(u, v)
			if t.until[swap{u, v}] > iteration && estimate >= best {
				continue
			}
			switch {
			case estimate < least:
				chosen, least, ties = swap{u, v}, estimate, 1
			case estimate == least:
				if ties++; t.rand.IntN(ties) == 0 {
					chosen = swap{u, v}
				}
			}
		}
	}
	if ties == 0 {
		return chosen, false
	}
	t.apply(chosen)
	t.until[swap{chosen.second, chosen.first}] = iteration + 8 + t.rand.IntN(12)
	return chosen, true
}

// through returns the longest path through an operation.
func (t *tabu) through(op model.OpID) model.Time {
	return t.start[op] + t.long[op] + t.tail[op]
}

// swappable reports whether v may run before u, its neighbour.
func (t *tabu) swappable(u, v model.OpID) bool {
	p := t.p
	ru, rv := p.RowOf(u), p.RowOf(v)
	if ru == rv {
		return !p.Identical
	}
	if u-p.Base(ru) == v-p.Base(rv) {
		for _, pred := range p.Rows[rv].Preds {
			if int(pred.Row) == ru {
				return false
			}
		}
	}
	d := int(t.on[u])
	first, second := p.Rows[rv].MemoryOn(d), p.Rows[ru].MemoryOn(d)
	held := t.held[u]
	for _, delta := range []model.Delta{first, second} {
		held += delta.AtStart
		if held > p.Limits[d] {
			return false
		}
		held += delta.AtEnd
	}
	return true
}

// estimate returns the longest path through u and v after v is put before u.
func (t *tabu) estimate(u, v model.OpID) model.Time {
	before, after := model.Time(0), none
	if q := t.previous(u); q >= 0 {
		before = t.start[q] + t.long[q]
	}
	if q := t.next(v); q >= 0 {
		after = t.long[q] + t.tail[q]
	}
	durU, durV := t.long[u], t.long[v]
	endV := max(before, t.headBefore(v)) + durV
	endU := max(endV, t.headBefore(u)) + durU
	tailU := max(after, t.tailAfter(u))
	tailV := max(durU+tailU, t.tailAfter(v))
	return max(endV+tailV, endU+tailU)
}

func (t *tabu) apply(s swap) {
	d := int(t.on[s.first])
	i := t.place[s.first]
	t.order[d][i], t.order[d][i+1] = s.second, s.first
	t.place[s.second], t.place[s.first] = i, i+1
	t.hold(d, int(i))
}
