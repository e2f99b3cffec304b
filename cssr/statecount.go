package cssr

import "github.com/flexpipe/flexpipe/model"

// What stands here keeps the counts by device that some rules need. A rank changes
// only where a device enters another phase or crosses the bound of its backlog, so
// a decision reads the same ranks under any rule.

// urgent is what puts a rank before those of all operations that are not urgent.
const urgent = int64(1) << 62

// count books the start of an operation of row r in the counts of a device.
func (d *Decoder) count(dev, r int32) {
	s, g := &d.devices[dev], &d.guards[r]
	s.flight += g.flight
	if g.backlog != 0 {
		over := d.overdue(dev)
		s.backlog += g.backlog
		if over != d.overdue(dev) {
			d.rankAnew(dev, func(q int32) bool { return d.guards[q].backlog < 0 })
		}
	}
	if d.rule.phased() {
		d.countPhase(dev, d.p.Rows[r].Kind)
	}
}

// overdue reports whether too many gradients of weights are outstanding.
func (d *Decoder) overdue(dev int32) bool {
	return len(d.rule.Backlog) > 0 && d.devices[dev].backlog > d.rule.Backlog[dev]
}

// isDue reports whether the next operation of a row is a gradient of weights that
// some device has put off long enough.
func (d *Decoder) isDue(r int32) bool {
	if d.guards[r].backlog >= 0 {
		return false
	}
	for _, dev := range d.p.Rows[r].Devices {
		if d.overdue(dev) {
			return true
		}
	}
	return false
}

// countPhase moves a device on when it starts an operation of a kind.
func (d *Decoder) countPhase(dev int32, kind model.Kind) {
	s, before := &d.devices[dev], d.devices[dev].phase
	switch {
	case kind == model.Forward:
		if s.forwards--; s.forwards == 0 {
			s.phase = CoolDown
		}
	case isGradient(kind) && s.phase == WarmUp:
		s.phase = Steady
	}
	if s.phase != before {
		d.rankAnew(dev, func(q int32) bool { return d.p.Rows[q].Devices[0] == dev })
	}
}

// rankAnew ranks the next operations of some rows of a device.
func (d *Decoder) rankAnew(dev int32, which func(r int32) bool) {
	for _, r := range d.live[dev] {
		if which(r) {
			d.rows[r].key = d.keyOf(r)
		}
	}
}

// offset returns the offset of a row in the phase of its first device.
func (d *Decoder) offset(r int32) int64 {
	if offsets := d.rule.Phased[d.devices[d.p.Rows[r].Devices[0]].phase]; offsets != nil {
		return offsets[r]
	}
	return at(d.rule.Offset, int(r))
}

// resetPhases puts each device into its first phase. One without forwards is in
// its cool-down from the start.
func (d *Decoder) resetPhases() {
	for r := range d.rows {
		if d.p.Rows[r].Kind == model.Forward {
			for _, dev := range d.p.Rows[r].Devices {
				d.devices[dev].forwards += d.rows[r].count
			}
		}
	}
	for dev := range d.devices {
		s := &d.devices[dev]
		s.phase = WarmUp
		if s.forwards == 0 {
			s.phase = CoolDown
		}
	}
	for r := range d.rows {
		d.rows[r].key = d.keyOf(int32(r))
	}
}

// findBacklog pairs the gradient of the input of each stage with that of its
// weights.
func (d *Decoder) findBacklog() {
	for r := range d.rows {
		if d.p.Rows[r].Kind != model.BackwardWeight || d.rows[r].count == 0 {
			continue
		}
		for _, q := range d.p.RowsOn[d.p.Rows[r].Devices[0]] {
			row := &d.p.Rows[q]
			if row.Kind == model.BackwardInput && row.Stage == d.p.Rows[r].Stage && row.Route == d.p.Rows[r].Route && d.rows[q].count > 0 {
				d.guards[q].backlog, d.guards[r].backlog = 1, -1
			}
		}
	}
}
