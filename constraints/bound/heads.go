package bound

import (
	"math/bits"

	"github.com/flexpipe/flexpipe/model"
)

// heads computes when each operation of a graph can start at the earliest, by
// raising lower bounds until they agree: path follows precedences, row order
// and memory; machine adds what a device must run before an operation.
type heads struct {
	g      *graph
	leads  []*leads  // by device; nil if the device is left out
	takers [][]taker // by row
	start  []model.Time
	walks  []walk // of all takers, in the order of takers
	tree   theta

	barriers []barrier
	jobs     []job // scratch of barrier

	// Scratch of machine.
	order  []int32      // the operations of a device, by head
	sorted []model.Time // parallel to order: the heads that it was sorted by
	place  []int32      // by operation: its index in order
}

// newHeads prepares a graph. withMemory says whether memory limits count.
func newHeads(g *graph, withMemory bool) *heads {
	h := newPaths(g)
	h.leads = g.precedence()
	h.barriers = g.barriers()
	if withMemory {
		for d, l := range h.leads {
			for _, t := range g.takers(d, l) {
				q := g.on[d][t.slot]
				h.takers[q] = append(h.takers[q], t)
			}
		}
	}
	g.closeLeads(h.leads)
	for _, ts := range h.takers {
		for i := range ts {
			h.walks = append(h.walks, newWalk(&ts[i]))
		}
	}
	return h
}

// newPaths prepares a graph for precedences and row order alone.
func newPaths(g *graph) *heads {
	return &heads{g: g, leads: make([]*leads, len(g.on)), takers: make([][]taker, len(g.rows)),
		start: make([]model.Time, g.numOps()), place: make([]int32, g.numOps())}
}

// fromZero computes heads in which no operation starts before 0. It returns the
// rounds made.
func (h *heads) fromZero(rounds int) int {
	clear(h.start)
	return h.settle(rounds)
}

// fromDevice computes heads relative to the first start on device d: there no
// operation starts before 0, elsewhere nothing is known but what follows.
func (h *heads) fromDevice(d, rounds int) int {
	for i := range h.start {
		h.start[i] = never
	}
	for _, q := range h.g.on[d] {
		clear(h.start[h.g.base[q]:h.g.base[q+1]])
	}
	return h.settle(rounds)
}

// settle raises the heads from what they are, in at most so many rounds. It
// returns the rounds made.
func (h *heads) settle(most int) (rounds int) {
	h.path()
	for changed := true; changed && rounds < most; rounds++ {
		moved := h.barrier()
		moved = h.machine() || moved
		changed = moved && h.path()
	}
	return rounds
}

// raise notes that an operation starts no earlier than t.
func (h *heads) raise(op int, t model.Time) bool {
	if t <= h.start[op] {
		return false
	}
	h.start[op] = t
	return true
}

// path raises the heads along precedences, the order of each row, and memory.
// It goes by index, so that what earlier micro-batches give back is known when a
// later one takes memory. Cost O(operations + precedences).
func (h *heads) path() bool {
	changed := false
	for k := range h.g.longest {
		walk := 0
		for q := range h.g.rows {
			n := &h.g.rows[q]
			if k < n.count {
				changed = h.raise(h.g.base[q]+k, h.ready(q, k)) || changed
			}
			for i := range h.takers[q] {
				if k < n.count {
					t := h.walks[walk].advance(h, &h.takers[q][i], k)
					changed = h.raise(h.g.base[q]+k, t) || changed
				}
				walk++
			}
		}
	}
	return changed
}

// ready returns the earliest start of an operation by precedences and row order.
func (h *heads) ready(q, k int) model.Time {
	g := h.g
	n := &g.rows[q]
	t := never
	if k > 0 {
		t = h.start[g.base[q]+k-1] + n.length
	}
	for _, a := range n.preds {
		from := &g.rows[a.from]
		switch {
		case from.single && k > 0 || from.total == 0:
			continue
		case from.single || !n.single:
			t = max(t, h.start[g.base[a.from]+k]+from.length+a.lag)
		default: // the last operation of from, which may lie beyond the window
			beyond := model.Time(from.total-from.count) * from.length
			t = max(t, h.start[g.base[a.from+1]-1]+beyond+from.length+a.lag)
		}
	}
	return t
}

// walk follows one taker through its operations: held is what the earlier
// micro-batches hold at most cheaply when the operation starts, given that all
// gifts up to the counts have been made. Gifts are made in order of their time.
type walk struct {
	held  model.Bytes
	given []int // by gift of the taker: the operations that have ended
}

func newWalk(t *taker) walk { return walk{given: make([]int, len(t.gifts))} }

// advance returns the earliest time at which enough has been given back for
// operation k to start. It must be called for k = 0, 1, 2, ...; the cost of all
// calls together is O(operations of the gifts · gifts).
func (w *walk) advance(h *heads, t *taker, k int) model.Time {
	if k == 0 {
		w.held = 0
		clear(w.given)
		return never
	}
	w.held += t.each
	now := never
	for w.held > t.slack {
		best, end := -1, model.Time(0)
		for i := range t.gifts {
			if w.given[i] >= k {
				continue
			}
			if e := h.end(t.gifts[i].row, w.given[i]); best < 0 || e < end {
				best, end = i, e
			}
		}
		w.given[best]++
		w.held -= t.gifts[best].back
		now = max(now, end)
	}
	return now
}

// end returns the earliest end of an operation.
func (h *heads) end(q int32, k int) model.Time {
	return h.start[h.g.base[q]+k] + h.g.rows[q].length
}

// atLeast returns how long the operations of the taker's gifts beyond the forced
// counts must take at least, and how early they can start, before operation k
// can: it is a fractional knapsack (Dantzig 1957), least work for its memory
// first. forced returns the count of a slot.
func (t *taker) atLeast(h *heads, k int, forced func(slot int) int) (start, work model.Time) {
	lacking := model.Bytes(k)*t.each - t.slack
	for _, g := range t.gifts {
		lacking -= g.back * model.Bytes(min(forced(g.slot), k))
	}
	if lacking <= 0 {
		return never, 0
	}
	start = -never
	for _, g := range t.gifts {
		from := min(forced(g.slot), k)
		room := g.back * model.Bytes(k-from)
		if room == 0 {
			continue
		}
		start = min(start, h.start[h.g.base[g.row]+from])
		if lacking > 0 {
			work += share(h.g.rows[g.row].length, min(room, lacking), g.back)
			lacking -= min(room, lacking)
		}
	}
	return start, work
}

// share returns length · part / whole, rounded up. The rounding is right even
// for the sum of several shares: all but the last divide evenly.
func share(length model.Time, part, whole model.Bytes) model.Time {
	high, low := bits.Mul64(uint64(length), uint64(part))
	low, carry := bits.Add64(low, uint64(whole)-1, 0)
	quotient, _ := bits.Div64(high+carry, low, uint64(whole))
	return model.Time(quotient)
}
