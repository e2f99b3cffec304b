package model

import (
	"fmt"
	"slices"
)

// A compact order lists the steady state of a device once. Wherever a stretch of
// the order repeats the operations of the stretch before it, moved by a fixed
// number of micro-batches, the first stretch stands for all: 1F1B is a warm-up,
// a period of two or three operations, and a cool-down, whatever the number of
// micro-batches.

// segment is a part of a device's order: its ops, count times, each time step
// micro-batches further. Listed operations have count 1.
type segment struct {
	ops         []OpID
	step, count int
}

// size is what a segment costs in a file, in operation names.
func (s segment) size() int {
	if s.count == 1 {
		return len(s.ops)
	}
	return len(s.ops) + 2
}

const (
	// minSaved is the least number of operations that a period must save: below,
	// a list is as short, and clearer.
	minSaved = 8
	// effort bounds the comparisons of a search in an order of n operations by
	// effort × n. Long periods of regular schedules need few; random orders end
	// the search early and are listed.
	effort = 16
)

// compactor splits orders into segments.
type compactor struct {
	namer      *Namer
	classes    []int32 // by row: see Namer.class; -1 for operations of no micro-batch
	order      []OpID
	class      []int32 // by position
	microBatch []int32
	next, prev []int32 // nearest position of the same class, -1 if none
	last       []int32 // by class: scratch for index
	segments   []segment
}

func newCompactor(n *Namer) *compactor {
	c := &compactor{namer: n, classes: make([]int32, len(n.p.Rows)), last: make([]int32, len(n.p.Rows))}
	for r := range c.classes {
		c.classes[r] = -1
		if !n.p.Rows[r].Single {
			c.classes[r] = n.class(r)
		}
	}
	return c
}

// split returns the segments of an order; they share its memory. Their
// expansion is the order, exactly. Cost O(n log n).
func (c *compactor) split(order []OpID) []segment {
	c.index(order)
	c.segments = nil
	c.part(0, len(order))
	return c.segments
}

func (c *compactor) index(order []OpID) {
	c.order = order
	c.class, c.microBatch, c.next, c.prev = c.class[:0], c.microBatch[:0], c.next[:0], c.prev[:0]
	for i := range c.last {
		c.last[i] = -1
	}
	for i, op := range order {
		r := c.namer.p.RowOf(op)
		class, before := c.classes[r], int32(-1)
		if class >= 0 {
			if before = c.last[class]; before >= 0 {
				c.next[before] = int32(i)
			}
			c.last[class] = int32(i)
		}
		c.class = append(c.class, class)
		c.microBatch = append(c.microBatch, int32(c.namer.p.MicroBatch(op)))
		c.prev = append(c.prev, before)
		c.next = append(c.next, -1)
	}
}

// part appends the segments of [lo, hi): around the best repetition through the
// middle if there is one, else of the two halves.
func (c *compactor) part(lo, hi int) {
	if hi-lo <= minSaved {
		c.list(lo, hi)
		return
	}
	middle := (lo + hi) / 2
	best := c.search(middle, lo, hi)
	if best.saved() < minSaved {
		c.part(lo, middle)
		c.part(middle, hi)
		return
	}
	c.part(lo, best.start)
	end := best.start + best.count()*best.length
	c.segments = append(c.segments, segment{c.order[best.start : best.start+best.length], best.step, best.count()})
	c.part(end, hi)
}

// list appends listed operations, to the segment before if that is a list too.
func (c *compactor) list(lo, hi int) {
	if lo == hi {
		return
	}
	if n := len(c.segments); n > 0 && c.segments[n-1].count == 1 {
		// Both are neighbours in the same order.
		c.segments[n-1].ops = c.order[lo-len(c.segments[n-1].ops) : hi]
		return
	}
	c.segments = append(c.segments, segment{c.order[lo:hi], 0, 1})
}

// repetition says that each position in [start, end) and the one length further
// hold operations of one class whose micro-batches differ by step.
type repetition struct{ start, end, length, step int }

func (r repetition) count() int {
	if r.length == 0 {
		return 0
	}
	return (r.end-r.start)/r.length + 1
}

func (r repetition) saved() int { return (r.count() - 1) * r.length }

// search returns the repetition in [lo, hi) through a position that saves the
// most, as far as the effort allows. The neighbours of the same class before and
// behind give the lengths to try, from short to long.
func (c *compactor) search(at, lo, hi int) repetition {
	var best repetition
	budget := effort * (hi - lo)
	try := func(first, second int32) {
		r := repetition{start: int(first), length: int(second - first)}
		r.step = int(c.microBatch[second] - c.microBatch[first])
		if budget -= c.extend(&r, lo, hi); r.saved() > best.saved() {
			best = r
		}
	}
	wanted := func() bool { return budget > 0 && 2*best.saved() < hi-lo }
	for q := c.next[at]; q >= 0 && int(q) < hi && wanted(); q = c.next[q] {
		try(int32(at), q)
	}
	for q := c.prev[at]; q >= int32(lo) && wanted(); q = c.prev[q] {
		try(q, int32(at))
	}
	return best
}

// extend grows a repetition in both directions from its start, and returns the
// number of comparisons.
func (c *compactor) extend(r *repetition, lo, hi int) int {
	r.end = r.start
	if r.step == 0 {
		return 1
	}
	for r.end+r.length < hi && c.repeats(r.end, r) {
		r.end++
	}
	for r.start > lo && c.repeats(r.start-1, r) {
		r.start--
	}
	return r.end - r.start + 2
}

func (c *compactor) repeats(i int, r *repetition) bool {
	j := i + r.length
	return c.class[i] >= 0 && c.class[i] == c.class[j] && int(c.microBatch[j]-c.microBatch[i]) == r.step
}

// checkRepeat tests that an operation exists for every micro-batch that its
// repetitions reach.
func (n *Namer) checkRepeat(op OpID, step, count int) error {
	m, all := n.p.MicroBatch(op), n.p.MicroBatches()
	switch {
	case count < 1 || count > all:
		return fmt.Errorf("a period is repeated %d times; 1 to %d, the number of micro-batches, make sense", count, all)
	case step == 0 || step <= -all || step >= all:
		if count > 1 {
			return fmt.Errorf("a period has step %d; it must not be 0 and must stay below %d, the number of micro-batches", step, all)
		}
	case m < 0:
		return fmt.Errorf("%s runs once for the iteration and cannot be in a period", n.p.Name(op))
	case m+step*(count-1) < 0 || m+step*(count-1) >= all:
		return fmt.Errorf("%s with step %d, %d times, reaches micro-batch %d; they are 0 to %d", n.p.Name(op), step, count, m+step*(count-1), all-1)
	}
	return nil
}

// expand appends the operations of a segment, whose ops have passed checkRepeat.
func (n *Namer) expand(order []OpID, s segment) ([]OpID, error) {
	order = slices.Grow(order, s.count*len(s.ops))
	for k := range s.count {
		for _, op := range s.ops {
			if s.count > 1 {
				m := n.p.MicroBatch(op) + k*s.step
				moved, ok := n.move(op, m)
				if !ok {
					return nil, fmt.Errorf("%s repeats for micro-batch %d, whose route has no such operation", n.p.Name(op), m)
				}
				op = moved
			}
			order = append(order, op)
		}
	}
	return order, nil
}
