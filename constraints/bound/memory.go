package bound

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// holder is the part of a device's memory that the micro-batches of one stage
// take and give back: a chain of rows, of which the first takes.
type holder struct {
	slots []int         // on the device, in the order in which a micro-batch runs them
	kept  []model.Bytes // parallel: what a micro-batch holds after that operation
}

// holders splits the memory of a device by stage and route. ok is false if the
// memory does not have the form that the arguments below rely on: each holder
// is a chain in which no micro-batch ever holds less than nothing, and nothing
// at the end.
func (g *graph) holders(d int, l *leads) (all []holder, ok bool) {
	type key struct{ stage, route int }
	index := map[key]int{}
	for slot, q := range g.on[d] {
		n := &g.rows[q]
		delta := n.delta(d)
		if delta == (model.Delta{}) {
			continue
		}
		at, seen := index[key{n.stage, n.route}]
		if !seen {
			at = len(all)
			index[key{n.stage, n.route}] = at
			all = append(all, holder{})
		}
		h := &all[at]
		kept := delta.AtStart + delta.AtEnd
		if last := len(h.slots) - 1; last >= 0 {
			kept += h.kept[last]
			if !l.before(h.slots[last], slot) {
				return nil, false
			}
		}
		if kept < 0 || n.single || delta.AtStart < 0 {
			return nil, false
		}
		h.slots, h.kept = append(h.slots, slot), append(h.kept, kept)
	}
	for i := range all {
		if all[i].kept[len(all[i].kept)-1] != 0 {
			return nil, false
		}
	}
	return all, true
}

// delta returns what an operation of the row takes and gives back on a device.
func (n *node) delta(d int) model.Delta {
	for i := range n.memory {
		if int(n.devices[i]) == d {
			return n.memory[i]
		}
	}
	return model.Delta{}
}

// need returns memory that device d holds for certain while an operation of the
// row in slot q runs, whatever the order: static memory, what the operation
// itself takes, and for each stage the least that a micro-batch of the same
// index can hold when all that must precede the operation has run and nothing
// that must follow it.
//
// For a chain of stages this is what running one micro-batch at a time needs, so
// there the problem has a schedule exactly if the need of no row exceeds the
// limit.
func (g *graph) need(d, q int, l *leads, all []holder) model.Bytes {
	n := &g.rows[g.on[d][q]]
	need := g.statics[d] + n.delta(d).AtStart
	for i := range all {
		if first := &g.rows[g.on[d][all[i].slots[0]]]; first.route == n.route && !n.single {
			need += all[i].least(q, l)
		}
	}
	return need
}

// least returns the least that one micro-batch holds when the operation of slot
// q with its index starts.
func (h *holder) least(q int, l *leads) model.Bytes {
	least, progress := model.Bytes(0), 0
	for i, s := range h.slots {
		switch {
		case l.before(s, q): // has run
			least, progress = h.kept[i], i+1
		case s == q || l.before(q, s): // has not
			return least
		case progress > 0: // may have
			least = min(least, h.kept[i])
		}
	}
	if progress == 0 {
		return 0
	}
	return least
}

// taker is a row whose operations take memory of a limited device: operation k
// cannot start before enough of what the earlier micro-batches took has been
// given back.
type taker struct {
	device int
	slot   int
	slack  model.Bytes // what the earlier micro-batches may hold when one starts
	each   model.Bytes // what each of them holds at first
	gifts  []gift      // what gives it back, the least work for its memory first
}

// gift is a row whose operation k, when it has ended, makes micro-batch k hold
// less than it ever did.
type gift struct {
	row  int32
	slot int
	back model.Bytes
}

// takers returns the rows of a device that take memory, and raises the leads of
// the device by the operations that must have given memory back before. Rows
// that cannot run at all are left out.
func (g *graph) takers(d int, l *leads) []taker {
	if l == nil || g.limits[d] >= model.Unlimited {
		return nil
	}
	all, ok := g.holders(d, l)
	if !ok {
		return nil
	}
	var takers []taker
	for slot, q := range g.on[d] {
		n := &g.rows[q]
		if n.single || n.delta(d).AtStart <= 0 {
			continue
		}
		t := taker{device: d, slot: slot, slack: g.limits[d] - g.need(d, slot, l, all)}
		if t.slack >= 0 {
			g.addGifts(&t, l, all)
			takers = append(takers, t)
		}
	}
	for i := range takers {
		g.raiseByMemory(&takers[i], l, all)
	}
	return takers
}

// counted reports whether the earlier micro-batches have taken the memory of h
// when an operation of the slot starts: those before index k at least.
func (g *graph) counted(h *holder, slot, d int, l *leads) bool {
	first := h.slots[0]
	return l.at(slot, first) >= 0 && g.composable(g.on[d][first], g.on[d][slot])
}

func (g *graph) addGifts(t *taker, l *leads, all []holder) {
	for i := range all {
		h := &all[i]
		if !g.counted(h, t.slot, t.device, l) {
			continue
		}
		least := h.kept[0]
		t.each += least
		for j, slot := range h.slots[1:] {
			if kept := h.kept[j+1]; kept < least {
				t.gifts = append(t.gifts, gift{g.on[t.device][slot], slot, least - kept})
				least = kept
			}
		}
	}
	slices.SortStableFunc(t.gifts, func(a, b gift) int {
		return compareRatios(g.rows[a.row].length, a.back, g.rows[b.row].length, b.back)
	})
}

// compareRatios compares a/b with c/d, for b, d > 0.
func compareRatios(a model.Time, b model.Bytes, c model.Time, d model.Bytes) int {
	leftHigh, leftLow := bits.Mul64(uint64(a), uint64(d))
	rightHigh, rightLow := bits.Mul64(uint64(c), uint64(b))
	return cmp.Or(cmp.Compare(leftHigh, rightHigh), cmp.Compare(leftLow, rightLow))
}

// raiseByMemory notes which operations must have ended before one of the taker:
// if a gift of its stage stops short, each micro-batch from there on holds at
// least what it held before, and only so many fit into the slack.
func (g *graph) raiseByMemory(t *taker, l *leads, all []holder) {
	for i := range all {
		h := &all[i]
		if !g.counted(h, t.slot, t.device, l) {
			continue
		}
		least := h.kept[0]
		for j, slot := range h.slots[1:] {
			if least > 0 && t.slack/least < -unforced {
				l.raise(t.slot, slot, -int32(t.slack/least))
			}
			least = min(least, h.kept[j+1])
		}
	}
}
