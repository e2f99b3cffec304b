package bound

import "github.com/flexpipe/flexpipe/model"

// pair returns the two rows that give memory back to a taker, the first of which
// comes before the second for each micro-batch; ok is false if there are not
// exactly two of one stage, as backward input and backward weight are.
func (t *taker) pair(l *leads) (first, second *gift, ok bool) {
	if len(t.gifts) != 2 {
		return nil, nil, false
	}
	first, second = &t.gifts[0], &t.gifts[1]
	if first.slot > second.slot {
		first, second = second, first
	}
	return first, second, l.before(first.slot, second.slot)
}

// throughPairs returns the earliest time at which the device can have finished
// what is marked in the tree and enough of the two gifts for operation k of the
// taker to start: the least over all ways to split the memory between the two
// rows. A split determines how many operations of either row have ended, and so
// a set of operations that the device has finished. marked counts by slot what
// the tree holds; the tree is left as it was.
//
// Cost O(operations of the gifts that are not marked · log operations).
func (h *heads) throughPairs(t *taker, first, second *gift, k int, marked []int) model.Time {
	base1, base2 := min(marked[first.slot], k), min(marked[second.slot], k)
	lacking := model.Bytes(k)*t.each - t.slack - first.back*model.Bytes(base1) - second.back*model.Bytes(base2)
	if lacking <= 0 {
		return h.tree.earliest()
	}
	least := -never
	n2 := base2 + min(k-base2, int((lacking+second.back-1)/second.back))
	for i := base2; i < n2; i++ {
		h.markGift(second, i)
	}
	for n1 := base1; ; n1++ {
		for n2 > base2 && first.back*model.Bytes(n1-base1)+second.back*model.Bytes(n2-1-base2) >= lacking {
			n2--
			h.unmarkGift(second, n2)
		}
		enough := first.back*model.Bytes(n1-base1)+second.back*model.Bytes(n2-base2) >= lacking
		if enough && n2 <= n1 {
			least = min(least, h.tree.earliest())
		}
		if n1 == k || n2 == base2 && enough {
			for i := base1; i < n1; i++ {
				h.unmarkGift(first, i)
			}
			break
		}
		h.markGift(first, n1)
	}
	for i := base2; i < n2; i++ {
		h.unmarkGift(second, i)
	}
	return least
}

func (h *heads) markGift(g *gift, k int) {
	at := int(h.place[h.g.base[g.row]+k])
	h.tree.mark(at, h.sorted[at], h.g.rows[g.row].length)
}

func (h *heads) unmarkGift(g *gift, k int) {
	h.tree.unmark(int(h.place[h.g.base[g.row]+k]))
}
