package bound

import "github.com/flexpipe/flexpipe/model"

// barrier is an operation that runs once: it waits for all work of its ancestors, on
// every device.
type barrier struct {
	row     int32
	devices [][]approach // for each device with ancestors: these
}

// approach is an ancestor of a barrier, and the least time from the end of one of its
// operations to the start of the barrier.
type approach struct {
	row  int32
	tail model.Time
}

// barriers lists the operations that run once, with their ancestors. It leaves out
// those beyond a fixed effort. Cost O(rows + precedences) for each.
func (g *graph) barriers() []barrier {
	var all []barrier
	effort := windowVisits
	for _, s := range g.singles {
		if effort -= len(g.rows); effort < 0 {
			break
		}
		b := barrier{row: s}
		tails := g.tailsTo(s)
		for _, rows := range g.on {
			var list []approach
			for _, q := range rows {
				if q < s && tails[q] > never {
					list = append(list, approach{q, tails[q]})
				}
			}
			if list != nil {
				b.devices = append(b.devices, list)
			}
		}
		all = append(all, b)
	}
	return all
}

// tailsTo returns by row the least time from the end of an operation to the start of the
// one of row s, never if that does not wait for it.
func (g *graph) tailsTo(s int32) []model.Time {
	tails := make([]model.Time, len(g.rows))
	for q := range tails {
		tails[q] = never
	}
	tails[s] = 0
	for q := s; q >= 0; q-- {
		if tails[q] == never {
			continue
		}
		behind := tails[q]
		if q != s {
			behind += g.rows[q].length
		}
		for _, a := range g.rows[q].preds {
			tails[a.from] = max(tails[a.from], behind+a.lag)
		}
	}
	return tails
}

// barrier raises the heads of operations that run once by the one-machine problem of
// each device: all work of the ancestors, and what must still follow it. Cost O(ancestors
// · operations · log operations).
func (h *heads) barrier() bool {
	changed := false
	for i := range h.barriers {
		b := &h.barriers[i]
		if h.g.rows[b.row].count == 0 {
			continue
		}
		for _, list := range b.devices {
			h.jobs = h.jobs[:0]
			for _, a := range list {
				h.addJobs(a)
			}
			if len(h.jobs) > 0 {
				changed = h.raise(h.g.base[b.row], jackson(h.jobs).value) || changed
			}
		}
	}
	return changed
}

// addJobs appends the operations of an ancestor, those beyond the window as one.
func (h *heads) addJobs(a approach) {
	n := &h.g.rows[a.row]
	for k := range n.count {
		h.jobs = append(h.jobs, job{h.at(a.row, k), n.length, a.tail})
	}
	if rest := n.total - n.count; rest > 0 {
		h.jobs = append(h.jobs, job{h.at(a.row, n.count), n.length * model.Time(rest), a.tail})
	}
}
