package bound

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// holder is the part of a device's memory that the micro-batches of one stage
// take and give back: a chain of rows, of which the first takes. Rows that are not
// ordered by precedence stand in it so that those that give come before those that
// take: a micro-batch that has run some of the chain holds no less than behind the
// longest beginning of it that has run as a whole.
type holder struct {
	slots []int         // on the device, in the order of the chain
	kept  []model.Bytes // parallel: what a micro-batch holds after that operation
}

// holders splits the memory of a device by stage and route. ok is false if the
// memory does not have the form that the arguments below rely on: each holder
// is a chain in which no micro-batch ever holds less than nothing, and nothing
// at the end. Operations of the pipeline's own that give back what they take, and
// those that run once, are left out: what they hold while they run comes on top.
func (g *graph) holders(d int, l *leads) (all []holder, ok bool) {
	type key struct{ stage, route int }
	index := map[key]int{}
	for slot, q := range g.on[d] {
		n := &g.rows[q]
		delta := n.delta(d)
		if delta == (model.Delta{}) || n.own && delta.AtStart >= 0 && delta.AtStart+delta.AtEnd == 0 {
			continue
		}
		if n.single || delta.AtStart < 0 {
			return nil, false
		}
		at, seen := index[key{n.stage, n.route}]
		if !seen {
			at = len(all)
			index[key{n.stage, n.route}] = at
			all = append(all, holder{})
		}
		all[at].insert(slot, func(s int) model.Bytes { return g.net(d, s) }, l)
	}
	for i := range all {
		if !all[i].add(func(s int) model.Bytes { return g.net(d, s) }, l) {
			return nil, false
		}
	}
	return all, true
}

// net returns what an operation leaves taken on a device.
func (g *graph) net(d, slot int) model.Bytes {
	delta := g.rows[g.on[d][slot]].delta(d)
	return delta.AtStart + delta.AtEnd
}

// insert puts a row behind those before it, and one that gives also before those that
// take as far as it need not follow them.
func (h *holder) insert(slot int, net func(slot int) model.Bytes, l *leads) {
	at := len(h.slots)
	for net(slot) <= 0 && at > 0 && net(h.slots[at-1]) > 0 && !l.before(h.slots[at-1], slot) {
		at--
	}
	h.slots = slices.Insert(h.slots, at, slot)
}

// add sums up what is kept along the chain. It returns false if that is no chain.
func (h *holder) add(net func(slot int) model.Bytes, l *leads) bool {
	kept := model.Bytes(0)
	for i, slot := range h.slots {
		kept += net(slot)
		h.kept = append(h.kept, kept)
		for _, before := range h.slots[:i] {
			if !l.before(before, slot) && (net(before) > 0 || net(slot) < 0) {
				return false
			}
		}
		if kept < 0 {
			return false
		}
	}
	return kept == 0
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

// needOfAll returns memory that device d holds for certain when the operation of row
// q, which runs once on any device, starts: static memory, what the operation itself
// takes there, and for each stage the least that all of its micro-batches can hold when
// all that must precede it has run and nothing that must follow it.
func (g *graph) needOfAll(d int, q int32, all []holder, waits func(q, r int32) bool) model.Bytes {
	need := g.statics[d] + g.rows[q].delta(d).AtStart
	for i := range all {
		row := func(s int) int32 { return g.on[d][s] }
		first := &g.rows[row(all[i].slots[0])]
		need += model.Bytes(first.total) * all[i].leastAt(
			func(s int) bool { return waits(q, row(s)) },
			func(s int) bool { return waits(row(s), q) })
	}
	return need
}

// least returns the least that one micro-batch holds when the operation of slot
// q with its index starts.
func (h *holder) least(q int, l *leads) model.Bytes {
	return h.leastAt(func(s int) bool { return l.before(s, q) }, func(s int) bool { return s == q || l.before(q, s) })
}

// leastAt returns the least that one micro-batch holds when the operations of some
// slots have run, and those of others have not.
func (h *holder) leastAt(has, hasNot func(slot int) bool) model.Bytes {
	least, progress := model.Bytes(0), 0
	for i, s := range h.slots {
		switch {
		case has(s):
			least, progress = h.kept[i], i+1
		case hasNot(s):
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
