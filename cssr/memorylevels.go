package cssr

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// levels returns, by row, the largest number of barriers before it: operations of no
// micro-batch that wait for all micro-batches of some row. What an operation waits for
// in its own level is of its own micro-batch or of none; the rest is in lower levels. So
// level by level, and in a level micro-batch by micro-batch, is an order in which
// everything can run. Cost O((rows + precedences) · log rows).
func levels(p *model.Problem) []int32 {
	level := make([]int32, len(p.Rows))
	if !slices.ContainsFunc(p.Rows, func(r model.Row) bool { return r.Single }) {
		return level
	}
	for _, r := range p.RowOrder(nil) {
		for _, s := range p.Succs[r] {
			at := level[r]
			if p.Rows[s.Row].Single && !p.Rows[r].Single {
				at++
			}
			level[s.Row] = max(level[s.Row], at)
		}
	}
	return level
}

// barriers is what the memory test needs where rows that use memory are in several
// levels.
type barriers struct {
	level   []int32          // by row, among those that use memory counted from 0
	count   int              // levels of rows that use memory
	single  bool             // some row of no micro-batch uses memory
	walk    [][][]int32      // by device and level: the walk of the memory
	fresh   [][][]freshBatch // by device, level and route
	batches []int32          // by route: its micro-batches
}

// freshBatch is what a micro-batch that has not started in a level takes there.
type freshBatch struct{ need, held model.Bytes }

func (b *barriers) init(p *model.Problem, level []int32) {
	var used []int32
	b.batches = make([]int32, p.Pipeline.NumRoutes())
	for r := range p.Rows {
		if row := &p.Rows[r]; !row.Single {
			b.batches[row.Route] = int32(p.Count(r))
		} else if row.Memory != nil {
			b.single = true
		}
		if p.Rows[r].Memory != nil {
			used = append(used, level[r])
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	b.count, b.level = len(used), make([]int32, len(level))
	for r := range level {
		at, _ := slices.BinarySearch(used, level[r])
		b.level[r] = int32(at)
	}
}

// some reports whether memory is held across a barrier, or by operations of no
// micro-batch.
func (b *barriers) some() bool { return b.count > 1 || b.single }

// across reports whether micro-batches hold memory of a device across a barrier.
func (b *barriers) across(dev int) bool {
	return slices.ContainsFunc(b.fresh[dev], func(routes []freshBatch) bool {
		return slices.ContainsFunc(routes, func(f freshBatch) bool { return f.held > 0 })
	})
}

// measureLevels is measure where there are barriers.
func (m *memory) measureLevels(d *Decoder) error {
	b := &m.barrier
	b.walk, b.fresh = make([][][]int32, len(m.limit)), make([][][]freshBatch, len(m.limit))
	for dev := range m.limit {
		b.walk[dev] = make([][]int32, b.count)
		for _, r := range m.walk[dev] {
			if d.rule.chosen(&d.p.Rows[r]) && d.p.Count(int(r)) > 0 {
				b.walk[dev][b.level[r]] = append(b.walk[dev][b.level[r]], r)
			}
		}
		for _, walk := range b.walk[dev] {
			b.fresh[dev] = append(b.fresh[dev], m.freshBatches(d, dev, walk))
		}
	}
	for dev, limit := range m.limit {
		if need := d.p.Statics[dev] + m.needByLevel(d, int32(dev), -1); need > limit {
			return &MemoryError{Device: dev, Need: need, Limit: limit, Unit: d.p.Pipeline.MemoryUnit, Barrier: b.across(dev)}
		}
	}
	return nil
}

// freshBatches returns, by route, what a micro-batch takes along a walk. Single
// operations do not count: they are of no micro-batch.
func (m *memory) freshBatches(d *Decoder, dev int, walk []int32) []freshBatch {
	list := make([]freshBatch, m.routes)
	for _, r := range walk {
		row := &d.p.Rows[r]
		if row.Single {
			continue
		}
		f, delta := &list[row.Route], row.MemoryOn(dev)
		f.need = max(f.need, f.held+delta.AtStart, f.held+delta.AtStart+delta.AtEnd)
		f.held += delta.AtStart + delta.AtEnd
	}
	return list
}

// needByLevel returns the most memory that a device takes on top of what it holds
// once row r (-1: none) has run its next operation, if then everything runs level
// by level. Cost O(rows × micro-batches in flight).
func (m *memory) needByLevel(d *Decoder, dev, r int32) model.Bytes {
	need, held := model.Bytes(0), model.Bytes(0)
	for level := range m.barrier.count {
		n, h := m.needInLevel(d, dev, r, level)
		need = max(need, held+n)
		held += h
	}
	return need
}

// needInLevel returns the most and the net memory that the rest of a level takes:
// the micro-batches in flight in their order, then the others, in any order.
func (m *memory) needInLevel(d *Decoder, dev, r int32, level int) (need, held model.Bytes) {
	walk := m.barrier.walk[dev][level]
	oldest, newest := int32(1<<31-1), int32(0)
	for _, q := range walk {
		done := m.done(d, q, r)
		newest = max(newest, done)
		if done < d.rows[q].count {
			oldest = min(oldest, done)
			if d.p.Rows[q].Single {
				newest = max(newest, 1) // it runs with the first micro-batches
			}
		}
	}
	for index := oldest; index < newest; index++ {
		for route := range m.routes {
			n, h := m.remaining(d, walk, dev, r, index, route)
			need = max(need, held+n)
			held += h
		}
	}
	n, h := m.needOfFresh(d, dev, level, newest)
	return max(need, held+n), held + h
}

// needOfFresh returns the most and the net memory that the micro-batches from index
// first on take in a level, in whatever order the routes come: exactly, unless one
// route gives back what another takes.
func (m *memory) needOfFresh(d *Decoder, dev int32, level int, first int32) (need, held model.Bytes) {
	taken, most := model.Bytes(0), model.Bytes(0)
	for route, f := range m.barrier.fresh[dev][level] {
		left := model.Bytes(m.barrier.batches[route] - first)
		if left <= 0 {
			continue
		}
		taken += left * max(0, f.held)
		held += left * f.held
		most = max(most, f.need-max(0, f.held))
	}
	return taken + most, held
}
