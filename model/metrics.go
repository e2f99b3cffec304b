package model

import "slices"

// Metrics are the figures of a timeline. Times are in ticks, memory in the
// problem's memory units.
type Metrics struct {
	Makespan Time // first start to last end over all devices
	Span     Time // the largest own span of a device
	Ideal    Time // busy time of the busiest device
	Devices  []DeviceMetrics
}

// DeviceMetrics are the figures of one device.
type DeviceMetrics struct {
	First, Last   Time  // own first start and last end; both 0 without operations
	Busy          Time  // work; transfers do not count
	Peak          Bytes // largest sum of static and live memory
	ChunkSwitches int   // neighbours in its order that belong to different stages
}

// Span returns the time from a device's first start to its last end.
func (d DeviceMetrics) Span() Time { return d.Last - d.First }

// Value returns the figure that an objective minimises.
func (m *Metrics) Value(o Objective) Time {
	if o == Span {
		return m.Span
	}
	return m.Makespan
}

// Fits reports whether every peak is within the device's memory limit.
func (m *Metrics) Fits(p *Problem) bool {
	for d := range m.Devices {
		if m.Devices[d].Peak > p.Limits[d] {
			return false
		}
	}
	return true
}

// BubbleRatio is the share of value that the busiest device is idle, 0 if value
// is 0.
func (m *Metrics) BubbleRatio(o Objective) float64 {
	v := m.Value(o)
	return ratio(v-m.Ideal, v)
}

// BubbleOverIdeal is the same idle time relative to the ideal, 0 if that is 0.
func (m *Metrics) BubbleOverIdeal(o Objective) float64 { return ratio(m.Value(o)-m.Ideal, m.Ideal) }

// IdleRatio is the share of the makespan that a device is idle, 0 if that is 0.
func (m *Metrics) IdleRatio(d int) float64 { return ratio(m.Makespan-m.Devices[d].Busy, m.Makespan) }

func ratio(a, b Time) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Measure computes the metrics of a plan and its timeline. Cost O(operations).
func Measure(p *Problem, plan *Plan, tl *Timeline) *Metrics {
	m := &Metrics{Devices: make([]DeviceMetrics, p.NumDevices())}
	first, last := Time(maxTotal), Time(0)
	for d, order := range plan.Order {
		dm := &m.Devices[d]
		dm.Peak = p.Statics[d]
		if len(order) == 0 {
			continue
		}
		measureDevice(p, dm, d, order)
		dm.First = tl.Start[order[0]]
		dm.Last = tl.End(p, order[len(order)-1])
		first, last = min(first, dm.First), max(last, dm.Last)
		m.Span = max(m.Span, dm.Span())
		m.Ideal = max(m.Ideal, dm.Busy)
	}
	m.Makespan = max(0, last-first)
	return m
}

func measureDevice(p *Problem, dm *DeviceMetrics, d int, order []OpID) {
	held, stage := p.Statics[d], -1
	for _, op := range order {
		r := p.RowOf(op)
		row := &p.Rows[r]
		if p.Kinds[row.Kind].Busy {
			dm.Busy += p.DurationIn(r, int(op-p.base[r]))
			if stage >= 0 && stage != row.Stage {
				dm.ChunkSwitches++
			}
			stage = row.Stage
		}
		if row.Memory != nil {
			delta := row.MemoryOn(d)
			held += delta.AtStart
			dm.Peak = max(dm.Peak, held)
			held += delta.AtEnd
			dm.Peak = max(dm.Peak, held)
		}
	}
}

// MemoryOn returns what an operation of the row takes and gives back on a device.
func (r *Row) MemoryOn(d int) Delta {
	if r.Memory == nil {
		return Delta{}
	}
	if i, ok := slices.BinarySearch(r.Devices, int32(d)); ok {
		return r.Memory[i]
	}
	return Delta{}
}
