package cssr

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// memory keeps the decoder out of states that cannot continue. It is the
// banker's algorithm (Dijkstra 1965, EWD 108) with a fixed order of customers:
// an operation is admitted only if afterwards, on its device, all micro-batches
// in flight could still be finished one after the other, the oldest first, each
// along one canonical order of its rows. All devices agree on that order, so the
// oldest micro-batch can always go on, and the decoder never gets stuck.
//
// The test is a little stricter than needed: it rejects states from which only
// some other order of completion leads out.
type memory struct {
	p       *model.Problem
	limited bool
	limit   []model.Bytes // by device
	held    []model.Bytes // by device, with static
	fresh   []model.Bytes // by device: the most that one micro-batch alone holds
	walk    [][]int32     // by device: its rows in canonical order
	routes  int
}

// MemoryError reports that one micro-batch alone, completed along the canonical
// order, needs more memory than a device has. Amounts are in memory units and
// include static memory. In a chain of stages no other order needs less.
type MemoryError struct {
	Device      int
	Need, Limit model.Bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("device %d: a single micro-batch needs %d units of memory, the limit is %d", e.Device, e.Need, e.Limit)
}

func (m *memory) init(p *model.Problem) {
	n := p.NumDevices()
	m.p = p
	m.limit, m.held, m.fresh = make([]model.Bytes, n), make([]model.Bytes, n), make([]model.Bytes, n)
	for r := range p.Rows {
		m.routes = max(m.routes, p.Rows[r].Route+1)
	}
}

// reset empties the devices and finds their limits under a rule.
func (m *memory) reset(d *Decoder, rule *Rule) error {
	p := d.p
	m.limited = false
	for dev := range m.limit {
		m.limit[dev] = p.Limits[dev]
		if rule.Memory != nil {
			m.limit[dev] = min(m.limit[dev], rule.Memory[dev])
		}
		m.held[dev] = p.Statics[dev]
		m.limited = m.limited || m.limit[dev] < model.Unlimited
	}
	if !m.limited {
		return nil
	}
	if m.walk == nil {
		m.walk = canonicalWalks(p)
	}
	for dev := range m.limit {
		m.fresh[dev] = m.freshNeed(p, rule, dev)
		if need := p.Statics[dev] + m.fresh[dev]; need > m.limit[dev] {
			return &MemoryError{Device: dev, Need: need, Limit: m.limit[dev]}
		}
	}
	return nil
}

// freshNeed returns the most that a micro-batch of any route holds on a device
// when it runs alone.
func (m *memory) freshNeed(p *model.Problem, rule *Rule, d int) model.Bytes {
	need := model.Bytes(0)
	for route := range m.routes {
		held := model.Bytes(0)
		for _, r := range m.walk[d] {
			row := &p.Rows[r]
			if row.Route != route || !rule.chosen(row) {
				continue
			}
			delta := row.MemoryOn(d)
			held += delta.AtStart
			need = max(need, held)
			held += delta.AtEnd
			need = max(need, held)
		}
	}
	return need
}

func (m *memory) take(dev int32, delta model.Delta) { m.held[dev] += delta.AtStart + delta.AtEnd }

// admits reports whether a device can start the next operation of row r.
func (m *memory) admits(d *Decoder, dev, r int32, delta model.Delta) bool {
	limit, during := m.limit[dev], m.held[dev]+delta.AtStart
	after := during + delta.AtEnd
	if max(during, after) > limit {
		return false
	}
	return limit-after >= m.fresh[dev] || m.safe(d, dev, r, limit-after)
}

// safe reports whether, once row r has run its next operation and left free
// memory on the device, all micro-batches in flight there can finish in order.
func (m *memory) safe(d *Decoder, dev, r int32, free model.Bytes) bool {
	oldest, newest := int32(1<<31-1), int32(0)
	for _, q := range m.walk[dev] {
		if d.rows[q].count > 0 {
			oldest, newest = min(oldest, m.done(d, q, r)), max(newest, m.done(d, q, r))
		}
	}
	for index := oldest; index < newest; index++ {
		for route := range m.routes {
			need, rest := m.remaining(d, dev, r, index, route)
			if need > free {
				return false
			}
			free -= rest
			if free >= m.fresh[dev] {
				return true
			}
		}
	}
	return true
}

// done returns the operations of row q that have started, row r one ahead.
func (m *memory) done(d *Decoder, q, r int32) int32 {
	if q == r {
		return d.rows[q].next + 1
	}
	return d.rows[q].next
}

// remaining returns the most and the net memory that a micro-batch still takes.
func (m *memory) remaining(d *Decoder, dev, r, index int32, route int) (need, held model.Bytes) {
	for _, q := range m.walk[dev] {
		row := &m.p.Rows[q]
		if row.Route != route || row.Memory == nil || m.done(d, q, r) > index || index >= d.rows[q].count {
			continue
		}
		delta := d.guards[q].delta
		if len(row.Devices) > 1 {
			delta = row.MemoryOn(int(dev))
		}
		held += delta.AtStart
		need = max(need, held)
		held += delta.AtEnd
		need = max(need, held)
	}
	return need, held
}

// canonicalWalks lists the rows of each device in the order in which a
// micro-batch alone should run them: what frees memory first, forwards last.
func canonicalWalks(p *model.Problem) [][]int32 {
	waits := make([]int, len(p.Rows))
	for r := range p.Rows {
		waits[r] = len(p.Rows[r].Preds)
	}
	for r := range p.Rows {
		// A pair of twins counts once among the predecessors of its successors.
		if p.Rows[r].Choice == model.WhenFused {
			for _, s := range p.Succs[r] {
				waits[s.Row]++
			}
		}
	}
	h := &rowHeap{p: p}
	for r, n := range waits {
		if n == 0 {
			h.rows = append(h.rows, int32(r))
		}
	}
	heap.Init(h)
	walks := make([][]int32, p.NumDevices())
	for h.Len() > 0 {
		r := heap.Pop(h).(int32)
		for _, dev := range p.Rows[r].Devices {
			walks[dev] = append(walks[dev], r)
		}
		for _, s := range p.Succs[r] {
			if waits[s.Row]--; waits[s.Row] == 0 {
				heap.Push(h, s.Row)
			}
		}
	}
	return walks
}

// rowHeap orders rows by how soon they should run.
type rowHeap struct {
	p    *model.Problem
	rows []int32
}

func (h *rowHeap) urgency(r int32) int {
	switch k := h.p.Rows[r].Kind; {
	case k.IsTransfer():
		return 0
	case k == model.BackwardWeight:
		return 1
	case k == model.Forward:
		return 3
	default:
		return 2
	}
}

func (h *rowHeap) Len() int { return len(h.rows) }
func (h *rowHeap) Less(i, j int) bool {
	a, b := h.rows[i], h.rows[j]
	return cmp.Or(cmp.Compare(h.urgency(a), h.urgency(b)), cmp.Compare(a, b)) < 0
}
func (h *rowHeap) Swap(i, j int) { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *rowHeap) Push(x any)    { h.rows = append(h.rows, x.(int32)) }
func (h *rowHeap) Pop() any {
	last := h.rows[len(h.rows)-1]
	h.rows = slices.Delete(h.rows, len(h.rows)-1, len(h.rows))
	return last
}
