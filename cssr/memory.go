package cssr

import (
	"cmp"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// memory keeps the decoder out of states that cannot continue. It is the
// banker's algorithm (Dijkstra 1965, EWD 108) with a fixed order of customers:
// an operation is admitted only if afterwards, on its device, all micro-batches
// in flight could still be finished one after the other, the oldest first, each
// along one canonical order of its rows. All devices agree on that order, so the
// oldest micro-batch can always go on, and the decoder never gets stuck.
//
// Behind a barrier (see levels) the customers are the micro-batches of each level,
// level by level: no micro-batch gets through before all have come to the barrier.
//
// The test is a little stricter than needed: it rejects states from which only
// some other order of completion leads out.
type memory struct {
	limited bool
	limit   []model.Bytes // by device
	held    []model.Bytes // by device, with static
	fresh   []model.Bytes // by device: the most that one micro-batch alone holds
	walk    [][]int32     // by device: its rows that use memory, in canonical order
	walks   [][][]int32   // by canon
	routes  int
	barrier barriers
}

// MemoryError reports that one micro-batch alone, completed along the canonical
// orders that the decoder knows, needs more memory than a device has; or that all
// do that a barrier keeps in flight together. Amounts are in memory units and
// include static memory. In a chain of stages no order needs less; in other stage
// graphs some order may.
type MemoryError struct {
	Device      int
	Need, Limit model.Bytes
	Unit        model.Unit // of these amounts
	Barrier     bool
}

func (e *MemoryError) Error() string {
	what := "a single micro-batch needs"
	if e.Barrier {
		what = "a barrier keeps all micro-batches live, which together need"
	}
	return fmt.Sprintf("device %d: %s %s, the memory limit is %s", e.Device, what, e.Unit.SizeUp(int64(e.Need)), e.Unit.Size(int64(e.Limit)))
}

func (m *memory) init(p *model.Problem, level []int32) {
	n := p.NumDevices()
	m.limit, m.held, m.fresh = make([]model.Bytes, n), make([]model.Bytes, n), make([]model.Bytes, n)
	m.walks = make([][][]int32, numCanons)
	m.routes = p.Pipeline.NumRoutes()
	m.barrier.init(p, level)
}

// reset empties the devices and finds their limits under the rule.
func (m *memory) reset(d *Decoder) {
	m.limited = false
	for dev := range m.limit {
		m.limit[dev] = d.p.Limits[dev]
		if len(d.rule.Memory) > 0 {
			m.limit[dev] = min(m.limit[dev], d.rule.Memory[dev])
		}
		m.held[dev] = d.p.Statics[dev]
		m.limited = m.limited || m.limit[dev] < model.Unlimited
	}
}

// chooseWalk picks the first canonical order along which a micro-batch alone fits,
// before the first operation starts.
func (m *memory) chooseWalk(d *Decoder) error {
	if !m.limited {
		return nil
	}
	var first error
	for c := range numCanons {
		if m.walks[c] == nil {
			m.walks[c] = walks(d.p, c)
		}
		m.walk = m.walks[c]
		err := m.measure(d)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// measure computes what a micro-batch alone needs along the current walks.
func (m *memory) measure(d *Decoder) error {
	if m.barrier.some() {
		return m.measureLevels(d)
	}
	for dev := range m.limit {
		m.fresh[dev] = 0
		for route := range m.routes {
			m.fresh[dev] = max(m.fresh[dev], m.freshNeed(d, dev, route))
		}
		if need := d.p.Statics[dev] + m.fresh[dev]; need > m.limit[dev] {
			return &MemoryError{Device: dev, Need: need, Limit: m.limit[dev], Unit: d.p.Pipeline.MemoryUnit}
		}
	}
	return nil
}

// freshNeed returns the most that a micro-batch of a route holds on a device when
// it runs alone.
func (m *memory) freshNeed(d *Decoder, dev, route int) model.Bytes {
	need, held := model.Bytes(0), model.Bytes(0)
	for _, r := range m.walk[dev] {
		row := &d.p.Rows[r]
		if row.Route != route || !d.rule.chosen(row) || d.p.Count(int(r)) == 0 {
			continue
		}
		delta := row.MemoryOn(dev)
		held += delta.AtStart
		need = max(need, held)
		held += delta.AtEnd
		need = max(need, held)
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
	if m.barrier.some() {
		return m.needByLevel(d, dev, r) <= limit-after
	}
	return limit-after >= m.fresh[dev] || m.safe(d, dev, r, limit-after)
}

// safe reports whether, once row r has run its next operation and left free
// memory on the device, all micro-batches in flight there can finish in order.
func (m *memory) safe(d *Decoder, dev, r int32, free model.Bytes) bool {
	oldest, newest := int32(1<<31-1), int32(0)
	for _, q := range m.walk[dev] {
		done := m.done(d, q, r)
		newest = max(newest, done)
		if done < d.rows[q].count {
			oldest = min(oldest, done) // a row that is done keeps no micro-batch in flight
		}
	}
	for index := oldest; index < newest; index++ {
		for route := range m.routes {
			need, rest := m.remaining(d, m.walk[dev], dev, r, index, route)
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
// The rows are those of a walk; row r counts as one operation ahead.
func (m *memory) remaining(d *Decoder, walk []int32, dev, r, index int32, route int) (need, held model.Bytes) {
	for _, q := range walk {
		row := &d.p.Rows[q]
		if row.Route != route || m.done(d, q, r) > index || index >= d.rows[q].count {
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

// canon is a canonical order of the rows of a micro-batch that runs alone.
type canon int

const (
	forwardsLast canon = iota // weight gradients, then gradients of inputs, forwards last
	freesFirst                // what gives back most first
	takesLast                 // what takes nothing first, then what takes least
	numCanons
)

// walks lists the rows of each device that use memory, in a canonical order.
func walks(p *model.Problem, c canon) [][]int32 {
	rank := func(r int32) int64 {
		row := &p.Rows[r]
		switch c {
		case forwardsLast:
			return int64(urgency(row.Kind))
		case freesFirst:
			return int64(net(row))
		default:
			return int64(most(row))
		}
	}
	lists := make([][]int32, p.NumDevices())
	for _, r := range p.RowOrder(func(a, b int32) int { return cmp.Compare(rank(a), rank(b)) }) {
		if p.Rows[r].Memory == nil {
			continue
		}
		for _, dev := range p.Rows[r].Devices {
			lists[dev] = append(lists[dev], r)
		}
	}
	return lists
}

func urgency(k model.Kind) int {
	switch {
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

// net returns what an operation leaves taken, over all its devices.
func net(row *model.Row) model.Bytes {
	sum := model.Bytes(0)
	for _, delta := range row.Memory {
		sum += delta.AtStart + delta.AtEnd
	}
	return sum
}

// most returns the most that an operation takes on one of its devices.
func most(row *model.Row) model.Bytes {
	peak := model.Bytes(0)
	for _, delta := range row.Memory {
		peak = max(peak, delta.AtStart, delta.AtStart+delta.AtEnd)
	}
	return peak
}
