package bound

import (
	"cmp"
	"slices"
)

// fineOps bounds the graphs in which every split of memory is tried.
const fineOps = 20000

// machine raises the head of each operation to the time when its device can have
// finished all that must run before it there, by the forced counts and, for
// takers, the further work without which their memory is not there. It uses the
// heads from before the call to sort, so that it may have to be called again.
//
// Cost O(sum over devices of rows · operations · log operations).
func (h *heads) machine() bool {
	changed := false
	for d, l := range h.leads {
		if l == nil {
			continue
		}
		h.sortDevice(d)
		for slot := range h.g.on[d] {
			changed = h.machineRow(d, slot) || changed
		}
	}
	return changed
}

// sortDevice sorts the operations of a device by head, ties by number.
func (h *heads) sortDevice(d int) {
	h.order = h.order[:0]
	for _, q := range h.g.on[d] {
		for op := h.g.base[q]; op < h.g.base[q+1]; op++ {
			h.order = append(h.order, int32(op))
		}
	}
	slices.SortFunc(h.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(h.start[a], h.start[b]), cmp.Compare(a, b))
	})
	for i, op := range h.order {
		h.place[op] = int32(i)
	}
	h.sorted = h.sorted[:0]
	for _, op := range h.order {
		h.sorted = append(h.sorted, h.start[op])
	}
}

func (h *heads) machineRow(d, slot int) bool {
	g, l := h.g, h.leads[d]
	q := g.on[d][slot]
	t := h.takerOn(q, d)
	var first, second *gift
	if t != nil && len(h.start) <= fineOps {
		if a, b, ok := t.pair(l); ok {
			first, second = a, b
		}
	}
	marked := make([]int, l.size)
	h.tree.reset(len(h.order))
	changed := false
	for k := range g.rows[q].count {
		for other, r := range g.on[d] {
			n := &g.rows[r]
			forced := l.forced(slot, other, k, n.count)
			for ; marked[other] < forced; marked[other]++ {
				op := g.base[r] + marked[other]
				at := int(h.place[op])
				h.tree.mark(at, h.sorted[at], n.length)
			}
		}
		ready := h.tree.earliest()
		if first != nil {
			ready = max(ready, h.throughPairs(t, first, second, k, marked))
		} else if t != nil {
			start, work := t.atLeast(h, k, func(s int) int { return marked[s] })
			if work > 0 {
				at, _ := slices.BinarySearch(h.sorted, start)
				ready = max(ready, h.tree.earliestWith(at, start, work))
			}
		}
		changed = h.raise(g.base[q]+k, ready) || changed
	}
	return changed
}

func (h *heads) takerOn(q int32, d int) *taker {
	for i := range h.takers[q] {
		if h.takers[q][i].device == d {
			return &h.takers[q][i]
		}
	}
	return nil
}
