package constraints

import (
	"math/bits"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// table is what the judge needs of a row, laid out for speed: everything that
// an operation of the row asks for stands here, by value.
type table struct {
	base    model.OpID // first operation
	count   int        // number of operations
	devices []int32
	memory  []model.Delta // parallel to devices; nil if none
	preds   []pred
	slot    int // number of the row's first slot, see seats
	length  length
}

// pred is a predecessor of a row.
type pred struct {
	row, standIn int32 // standIn is -1 if there is none
	base         model.OpID
	lag          model.Time
	length       length
	all          bool // all operations of row, not only the one of the same index
}

// length is the duration of the operations of a row: fixed ticks, or perUnit
// times the factor of the micro-batch with the same index.
type length struct {
	fixed   model.Time
	perUnit model.Time
	factors []int64 // by index in the row; nil if the duration is fixed
}

func (l *length) at(index int) model.Time {
	if l.factors == nil {
		return l.fixed
	}
	return l.perUnit * model.Time(l.factors[index])
}

// newTables lays out the rows of a problem, and returns the number of slots
// beside them. Cost O(rows + micro-batches).
func newTables(p *model.Problem) ([]table, int) {
	tables, slots := make([]table, len(p.Rows)), 0
	factors := routeFactors(p.Pipeline)
	preds := make([]pred, 0, 2*len(p.Rows))
	for r := range p.Rows {
		row := &p.Rows[r]
		tables[r] = table{
			base: p.Base(r), count: p.Count(r), devices: row.Devices, memory: row.Memory, slot: slots,
			length: lengthOf(p.Pipeline, row, factors),
		}
		slots += p.Count(r) * len(row.Devices)
	}
	for r := range p.Rows {
		first := len(preds)
		for _, q := range p.Rows[r].Preds {
			before := &p.Rows[q.Row]
			preds = append(preds, pred{
				row: q.Row, standIn: before.Twin, base: p.Base(int(q.Row)), lag: q.Lag,
				length: tables[q.Row].length, all: before.Single || p.Rows[r].Single,
			})
		}
		tables[r].preds = preds[first:len(preds):len(preds)]
	}
	return tables, slots
}

func lengthOf(pl *model.Pipeline, row *model.Row, factors [][]int64) length {
	if factors == nil || row.Fixed || row.Single {
		return length{fixed: row.Duration}
	}
	return length{perUnit: row.Duration / model.Time(pl.FactorScale), factors: factors[row.Route]}
}

// routeFactors lists, by route, the factors of its micro-batches; nil if all
// micro-batches are alike.
func routeFactors(pl *model.Pipeline) [][]int64 {
	if pl.Factors == nil {
		return nil
	}
	factors := make([][]int64, pl.NumRoutes())
	for m, f := range pl.Factors {
		r := routeOf(pl, m)
		factors[r] = append(factors[r], f)
	}
	return factors
}

func routeOf(pl *model.Pipeline, microBatch int) int {
	if pl.Routes == nil {
		return 0
	}
	return pl.Routes[microBatch]
}

// seat returns the index of a device among those of the row, -1 if it is none.
func (t *table) seat(d int) int {
	if t.devices[0] == int32(d) {
		return 0
	}
	return slices.Index(t.devices, int32(d))
}

// seats is a set of slots. Every operation has one slot for each of its
// devices: of a row, first the operations on its first device, then those on
// its second.
type seats []uint64

func newSeats(slots int) seats { return make(seats, (slots+63)/64) }

func (s seats) has(slot int) bool { return s[slot>>6]>>(slot&63)&1 != 0 }

// take puts a slot into the set and reports whether it was free.
func (s seats) take(slot int) bool {
	word, bit := &s[slot>>6], uint64(1)<<(slot&63)
	free := *word&bit == 0
	*word |= bit
	return free
}

// count returns the number of slots in the half-open range that are taken.
func (s seats) count(first, end int) int {
	n := 0
	for first < end {
		word := s[first>>6] >> (first & 63)
		if left := end - first; left < 64-first&63 {
			word &= 1<<left - 1
		}
		n += bits.OnesCount64(word)
		first = first&^63 + 64
	}
	return n
}
