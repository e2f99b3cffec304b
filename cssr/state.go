package cssr

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// never is the ready time of an operation with a predecessor that has not
// started: its end is not known yet.
const never = model.Time(1<<62 - 1)

// rowState is what the decoder needs of a row at each step, in one place so that
// a step touches few cache lines.
type rowState struct {
	ready    model.Time // when the next operation may start, never if unknown
	end      model.Time // of the last operation that has started
	duration model.Time // of an operation, if all of the row are alike
	key      int64      // rank of the next operation
	slope    int64      // what the rank grows by, if there are no groups
	base     model.OpID
	next     int32 // index of the first operation that has not started
	count    int32 // operations of the row; 0 if the rule does not choose it
	device   int32 // the only device, -1 for a gang
	preds    int32 // first entry in Decoder.preds; the next row's is the end
	succs    int32 // first entry in Decoder.succs
	patience uint8
	stored   bool // it takes or gives back memory
	guarded  bool // memory or an in-flight bound may stand in its way
	whole    bool // it waits for all operations of some row
}

// rowGuard is what a step needs only of rows that use memory or are bounded.
type rowGuard struct {
	delta   model.Delta // of a row on one device
	release int32       // capped forwards: the row whose start takes a micro-batch out of flight; else -1
	cap     int32
	flight  int32 // what a start adds to the forwards in flight on its devices
	backlog int32 // what a start adds to the outstanding gradients of weights
	takes   bool  // some device has to have room
}

// deviceState is what the decoder needs of a device.
type deviceState struct {
	free  model.Time // end of its last operation
	begin model.Time // start of its first operation, never before it
	idle  model.Time // since its first operation
	work  model.Time // duration of the operations that it has not started

	// Counted if the rule asks for it.
	flight   int32 // forwards in flight
	backlog  int32 // outstanding gradients of weights
	forwards int32 // that have not started
	phase    Phase
}

// tabulate copies the rows of the problem into flat tables.
func (d *Decoder) tabulate() {
	p := d.p
	d.rows = make([]rowState, len(p.Rows)+1)
	d.guards = make([]rowGuard, len(p.Rows))
	for r := range p.Rows {
		row, s, g := &p.Rows[r], &d.rows[r], &d.guards[r]
		s.base, s.duration = p.Base(r), row.Duration
		s.device = -1
		if len(row.Devices) == 1 {
			s.device = row.Devices[0]
		}
		if row.Memory != nil {
			s.stored, g.delta = true, row.Memory[0]
			g.takes = slices.ContainsFunc(row.Memory, func(m model.Delta) bool { return m.AtStart > 0 || m.AtEnd > 0 })
		}
		s.whole = row.Single || slices.ContainsFunc(row.Preds, func(q model.Pred) bool { return p.Rows[q.Row].Single })
		s.preds, s.succs = int32(len(d.preds)), int32(len(d.succs))
		d.preds = append(d.preds, row.Preds...)
		d.succs = append(d.succs, p.Succs[r]...)
	}
	last := &d.rows[len(p.Rows)]
	last.preds, last.succs = int32(len(d.preds)), int32(len(d.succs))
	d.rows = d.rows[:len(p.Rows)]
}

func (d *Decoder) predsOf(r int32) []model.Pred {
	return d.preds[d.rows[r].preds:d.rows[:len(d.rows)+1][r+1].preds]
}

func (d *Decoder) succsOf(r int32) []model.Succ {
	return d.succs[d.rows[r].succs:d.rows[:len(d.rows)+1][r+1].succs]
}

// reset prepares the state before the first operation.
func (d *Decoder) reset() {
	p := d.p
	for i := range d.start {
		d.start[i] = model.Absent
	}
	d.mostIdle = 0
	for dev := range d.devices {
		d.devices[dev] = deviceState{begin: never}
		d.live[dev] = d.live[dev][:0]
		d.order[dev] = d.order[dev][:0]
	}
	d.counts = len(d.rule.Actor) > 0 || len(d.rule.Backlog) > 0 || d.rule.phased()
	for r := range d.rows {
		d.resetRow(r)
	}
	if len(d.rule.Cap) > 0 || len(d.rule.Actor) > 0 {
		d.findReleases()
	}
	if len(d.rule.Backlog) > 0 {
		d.findBacklog()
	}
	if d.rule.phased() {
		d.resetPhases()
	}
	for r := range d.rows {
		d.refresh(int32(r))
	}
	// A trace is told in the order of time, which a calendar does not keep.
	d.agenda.reset(p.NumDevices(), d.trace == nil && d.decidesByReadiness())
}

func (d *Decoder) resetRow(r int) {
	s, g, row, rule := &d.rows[r], &d.guards[r], &d.p.Rows[r], d.rule
	s.next, s.count = 0, 0
	s.slope, s.patience = at(rule.Slope, r), at(rule.Patience, r)
	s.guarded = g.takes && d.memory.limited
	g.release, g.cap, g.flight, g.backlog = -1, at(rule.Cap, r), 0, 0
	if !rule.chosen(row) {
		return
	}
	if s.count = int32(d.p.Count(r)); s.count == 0 {
		return // a route without micro-batches
	}
	s.key = d.keyOf(int32(r))
	work := s.duration * model.Time(s.count)
	if !d.alike {
		work = 0
		for index := range s.count {
			work += d.p.DurationIn(r, int(index))
		}
	}
	for _, dev := range row.Devices {
		d.devices[dev].work += work
		d.live[dev] = append(d.live[dev], int32(r))
	}
}

// decidesByReadiness reports whether decisions of the rule depend on nothing but
// what is ready: it never waits, and no operation needs several devices.
func (d *Decoder) decidesByReadiness() bool {
	if len(d.rule.Patience) > 0 && slices.Max(d.rule.Patience) > 0 {
		return false
	}
	return !slices.ContainsFunc(d.rows, func(s rowState) bool { return s.device < 0 })
}

// newAgenda returns the agenda for the devices of p.
func newAgenda(p *model.Problem) agenda {
	shortest, longest := never, model.Time(0)
	for r := range p.Rows {
		least, most := durations(p, r)
		longest = max(longest, most)
		for _, s := range p.Succs[r] {
			if !slices.Equal(p.Rows[s.Row].Devices, p.Rows[r].Devices) {
				shortest = min(shortest, least+s.Lag)
				longest = max(longest, most+s.Lag)
			}
		}
	}
	return agenda{tree: newTournament(p.NumDevices()), calendar: newCalendar(p.NumDevices(), min(shortest, longest), longest)}
}

// durations returns the shortest and the longest operation of a row.
func durations(p *model.Problem, r int) (least, most model.Time) {
	if p.Pipeline.Factors == nil {
		return p.Rows[r].Duration, p.Rows[r].Duration
	}
	least = never
	for index := range p.Count(r) {
		t := p.DurationIn(r, index)
		least, most = min(least, t), max(most, t)
	}
	return least, most
}

// findReleases pairs each forward row with the row whose start takes a
// micro-batch out of flight: the one that sends the gradient, else the weights'.
func (d *Decoder) findReleases() {
	for f := range d.rows {
		if d.p.Rows[f].Kind != model.Forward || d.rows[f].count == 0 {
			continue
		}
		release := d.releaseOf(&d.p.Rows[f])
		if release < 0 || d.level[release] != d.level[f] {
			continue // behind a barrier, which needs all forwards first
		}
		d.guards[f].flight, d.guards[release].flight = 1, -1
		if d.guards[f].cap > 0 {
			d.guards[f].release = release
		}
		d.rows[f].guarded = d.rows[f].guarded || d.guards[f].cap > 0 || len(d.rule.Actor) > 0
	}
}

func (d *Decoder) releaseOf(forward *model.Row) int32 {
	release := int32(-1)
	for _, r := range d.p.RowsOn[forward.Devices[0]] {
		row := &d.p.Rows[r]
		if row.Stage != forward.Stage || row.Route != forward.Route || d.rows[r].count == 0 {
			continue
		}
		if row.Kind.CarriesGradient() || row.Kind == model.BackwardWeight && release < 0 {
			release = r
		}
	}
	return release
}

// source returns the row itself, or the one that stands in for it.
func (d *Decoder) source(r int32) int32 {
	if d.rows[r].count == 0 && d.p.Rows[r].Twin >= 0 {
		return d.p.Rows[r].Twin
	}
	return r
}
