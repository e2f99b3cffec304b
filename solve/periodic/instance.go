package periodic

import (
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// choice says how a problem's choices between split and fused are settled: the
// same way for every stage and micro-batch.
type choice uint8

const (
	allSplit choice = iota
	allFused
)

// instance is what a problem asks of a pattern. Rows have local numbers: in the
// order of their precedences, so that those of length 0 that start at one moment
// can run in the order of their numbers.
type instance struct {
	rows     []int32 // by local number: the row of the problem
	duration []model.Time
	arcs     []arc  // precedences
	pairs    []pair // of rows that share a device, a < b
	memory   []memory
	work     model.Time // of the busiest device, for one micro-batch, or of a clique
}

// arc says that to starts at least gap after the start of from.
type arc struct {
	from, to int
	gap      model.Time
}

// pair is two rows that share a device. Its unknown y says how they interleave:
// between the starts of a for micro-batches i and i+1 stands b for i-y.
type pair struct{ a, b int }

// memory is the constraint that a device is within its limit at the start of one
// row: the sum of factor·y over terms is at most room.
type memory struct {
	terms []term
	room  model.Bytes
}

type term struct {
	pair   int
	factor model.Bytes
}

// newInstance reads a problem that refuse accepts. Cost O(rows² + precedences).
func newInstance(p *model.Problem, c choice) *instance {
	in := &instance{}
	local := make([]int, len(p.Rows)) // -1: not in this case
	for _, r := range p.RowOrder(nil) {
		if when := p.Rows[r].Choice; when == model.WhenFused && c == allSplit || when == model.WhenSplit && c == allFused {
			local[r] = -1
			continue
		}
		local[r] = len(in.rows)
		in.rows = append(in.rows, r)
		in.duration = append(in.duration, p.DurationIn(int(r), 0))
	}
	for pr := range constraints.Precedences(p) {
		from, to := local[pr.Before], local[pr.After]
		if from < 0 && pr.StandIn >= 0 {
			from = local[pr.StandIn]
		}
		if from >= 0 && to >= 0 {
			in.arcs = append(in.arcs, arc{from, to, in.duration[from] + pr.Lag})
		}
	}
	in.addDevices(p, local)
	if slices.ContainsFunc(in.rows, func(r int32) bool { return len(p.Rows[r].Devices) > 1 }) {
		in.work = max(in.work, in.clique())
	}
	return in
}

// addDevices fills pairs, work and memory.
func (in *instance) addDevices(p *model.Problem, local []int) {
	at := map[pair]int{}
	for res := range constraints.Resources(p) {
		var on []int
		for _, r := range res.Rows {
			if local[r] >= 0 {
				on = append(on, local[r])
			}
		}
		load := model.Time(0)
		for i, x := range on {
			load += in.duration[x]
			for _, y := range on[:i] {
				pr := pair{min(x, y), max(x, y)}
				if _, ok := at[pr]; !ok {
					at[pr] = len(in.pairs)
					in.pairs = append(in.pairs, pr)
				}
			}
		}
		in.work = max(in.work, load)
	}
	for limit := range constraints.MemoryLimits(p) {
		for _, taker := range limit.Deltas {
			if local[taker.Row] >= 0 && (taker.AtStart > 0 || taker.AtEnd > 0) {
				in.memory = append(in.memory, newMemory(limit, taker, local, at))
			}
		}
	}
}

// newMemory states the memory of a device at the start of a row, the taker. When it
// starts for micro-batch i, the others have run i-y times, and since all that a
// micro-batch takes is given back, i cancels out.
func newMemory(limit constraints.MemoryLimit, taker constraints.RowDelta, local []int, at map[pair]int) memory {
	t := local[taker.Row]
	m := memory{room: limit.Limit - limit.Static - max(taker.AtStart, taker.AtStart+taker.AtEnd)}
	for _, other := range limit.Deltas {
		o, net := local[other.Row], other.AtStart+other.AtEnd
		switch {
		case o < 0 || o == t || net == 0:
		case t < o:
			m.terms = append(m.terms, term{at[pair{t, o}], -net})
		default: // the y of (t, o) is -1 minus that of (o, t)
			m.terms = append(m.terms, term{at[pair{o, t}], net})
			m.room -= net
		}
	}
	return m
}

// after returns how long after the start of b the next a may start. Two rows of
// length 0 keep the order of their numbers at one moment.
func (in *instance) after(p pair) model.Time {
	if in.duration[p.a] == 0 && in.duration[p.b] == 0 {
		return 1
	}
	return in.duration[p.b]
}
