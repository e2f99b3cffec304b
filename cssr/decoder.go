package cssr

import (
	"context"
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// pollSteps is the number of decisions between two looks at the context.
const pollSteps = 1 << 12

// Decoder turns rules into plans for one problem. It keeps its buffers from
// call to call; it is not safe for concurrent use.
//
// A call costs O(operations × (rows of a device + log devices)) time, without
// the logarithm for rules that never wait (see calendar). The decoder takes 8
// bytes for each operation and 4 for each place in an order.
type Decoder struct {
	p      *model.Problem
	rule   *Rule
	alike  bool // all operations of a row last equally long, in index order
	counts bool // the rule needs counts by device: in flight, outstanding, phase

	trace   func(*Decision)
	agenda  agenda
	rows    []rowState
	guards  []rowGuard
	preds   []model.Pred
	succs   []model.Succ
	devices []deviceState
	live    [][]int32 // by device: rows with operations left
	memory  memory
	level   []int32 // by row, see levels

	start    []model.Time
	order    [][]model.OpID
	mostIdle model.Time // the idle time of the idlest device
	cutoff   model.Time
}

// NewDecoder returns a decoder for p.
func NewDecoder(p *model.Problem) *Decoder {
	n := p.NumDevices()
	d := &Decoder{
		p: p, devices: make([]deviceState, n), live: make([][]int32, n), order: make([][]model.OpID, n),
		start: make([]model.Time, p.NumOps()), agenda: newAgenda(p),
	}
	d.tabulate()
	d.level = levels(p)
	d.memory.init(p, d.level)
	for dev, rows := range p.RowsOn {
		ops := 0
		for _, r := range rows {
			ops += p.Count(int(r))
		}
		d.order[dev] = make([]model.OpID, 0, ops)
	}
	return d
}

// Outcome is a decoded plan. It aliases buffers of the decoder and holds until
// the next call; Clone keeps it.
type Outcome struct {
	Plan     model.Plan
	Timeline model.Timeline // legal; where the rule waits, an operation may start later than model.Evaluate has it
	Makespan model.Time     // of Timeline
	Span     model.Time     // of Timeline
}

// Clone returns a plan that does not alias the decoder.
func (o *Outcome) Clone() *model.Plan {
	plan := &model.Plan{Order: make([][]model.OpID, len(o.Plan.Order))}
	for dev, order := range o.Plan.Order {
		plan.Order[dev] = slices.Clone(order)
	}
	return plan
}

// Value returns the figure that an objective minimises.
func (o *Outcome) Value(objective model.Objective) model.Time {
	if objective == model.Span {
		return o.Span
	}
	return o.Makespan
}

// Decode returns the plan of a rule. The operations of a row stand in index
// order, or in rule.Order.
//
// If cutoff is above 0, the call gives up and returns nil as soon as the value of
// the problem's objective is sure to reach cutoff.
//
// Errors: *RuleError for a rule that does not fit the problem; *MemoryError when
// the decoder knows no order in which a micro-batch alone fits the memory, or all
// that a barrier keeps in flight together; and the context's error when it ends
// first.
func (d *Decoder) Decode(ctx context.Context, rule *Rule, cutoff model.Time) (*Outcome, error) {
	if err := rule.check(d.p); err != nil {
		return nil, err
	}
	d.rule, d.cutoff = rule, cutoff
	if cutoff <= 0 {
		d.cutoff = never
	}
	d.alike = d.p.Pipeline.Factors == nil && len(rule.Order) == 0
	d.memory.reset(d)
	d.reset()
	if err := d.memory.chooseWalk(d); err != nil {
		return nil, err
	}
	steps := 0
	for at := d.agenda.next(); at.time < never; at = d.agenda.next() {
		if steps++; steps%pollSteps == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !d.decide(at.device, at.time) {
			return nil, nil
		}
	}
	if dev := d.stuck(); dev >= 0 {
		return nil, fmt.Errorf("the decoder got stuck with operations left on device %d: this is a fault of the decoder", dev)
	}
	return d.outcome(), nil
}

func (d *Decoder) stuck() int {
	return slices.IndexFunc(d.live, func(rows []int32) bool { return len(rows) > 0 })
}

func (d *Decoder) outcome() *Outcome {
	o := &Outcome{Plan: model.Plan{Order: d.order}, Timeline: model.Timeline{Start: d.start}}
	first := never
	for dev := range d.devices {
		if s := &d.devices[dev]; s.begin < never {
			first = min(first, s.begin)
			o.Makespan = max(o.Makespan, s.free)
			o.Span = max(o.Span, s.free-s.begin)
		}
	}
	if first < never {
		o.Makespan -= first
	}
	return o
}

// decide lets a free device start its best operation at time t, or sets when it
// looks again. It returns false when the cutoff is reached.
func (d *Decoder) decide(dev int32, t model.Time) bool {
	best, soonest := int32(-1), never
	var bestKey int64
	for _, r := range d.live[dev] {
		s := &d.rows[r]
		if s.ready > t {
			soonest = min(soonest, s.ready)
		} else if (best < 0 || s.key < bestKey) && (!s.guarded || d.admits(dev, r)) {
			best, bestKey = r, s.key
		}
	}
	if best < 0 {
		if d.trace != nil {
			d.tellIdle(dev, t)
		}
		d.agenda.set(dev, soonest)
		return true
	}
	if soonest < never && d.rows[best].patience > 0 {
		if until := d.worthWaiting(dev, best, t); until > t {
			if d.trace != nil {
				d.tellWait(dev, best, t, until)
			}
			d.agenda.set(dev, until)
			return true
		}
	}
	if d.rows[best].device < 0 {
		if until := d.gather(best); until > t {
			if d.trace != nil {
				d.tellGather(dev, best, t, until)
			}
			d.agenda.set(dev, until)
			return true
		}
	}
	if d.trace != nil {
		d.tellStart(dev, best, t)
	}
	return d.run(best, t)
}

// admits reports whether the in-flight bounds and the memory of every device of
// the row allow its next operation.
func (d *Decoder) admits(dev, r int32) bool {
	s, g := &d.rows[r], &d.guards[r]
	if !d.roomOnStage(r) || !d.roomOnActors(r) {
		return false
	}
	if !g.takes || !d.memory.limited {
		return true
	}
	if s.device >= 0 {
		return d.memory.admits(d, dev, r, g.delta)
	}
	row := &d.p.Rows[r]
	for i, other := range row.Devices {
		if !d.memory.admits(d, other, r, row.Memory[i]) {
			return false
		}
	}
	return true
}

// roomOnStage reports whether the stage of a row may have one more forward in
// flight, if the row is a forward.
func (d *Decoder) roomOnStage(r int32) bool {
	g := &d.guards[r]
	return g.release < 0 || d.rows[r].next-d.rows[g.release].next < g.cap
}

// roomOnActors reports whether every device of a forward row has room for one
// more, or is to run its oldest micro-batch; behind a barrier all are young.
func (d *Decoder) roomOnActors(r int32) bool {
	if d.guards[r].flight <= 0 || len(d.rule.Actor) == 0 {
		return true
	}
	for _, dev := range d.p.Rows[r].Devices {
		limit := d.rule.Actor[dev]
		if limit == 0 || d.devices[dev].flight < limit {
			continue
		}
		for _, q := range d.live[dev] {
			if d.rows[q].next < d.rows[r].next && d.level[q] == d.level[r] {
				return false
			}
		}
	}
	return true
}

// worthWaiting returns the time until which the device should wait for a better
// operation than best, or t.
func (d *Decoder) worthWaiting(dev, best int32, t model.Time) model.Time {
	s := &d.rows[best]
	limit := t + patience(d.length(s, s.next), s.patience)
	if d.rule.Frugal {
		state := &d.devices[dev]
		limit = min(limit, state.free+max(d.mostIdle, d.rule.Allowance)-state.idle+1)
	}
	until := never
	for _, r := range d.live[dev] {
		if q := &d.rows[r]; q.ready > t && q.ready < min(limit, until) && q.key < s.key && (!q.guarded || d.admits(dev, r)) {
			until = q.ready
		}
	}
	if until == never {
		return t
	}
	return until
}

// patience returns so many eighths of a duration, without overflow.
func patience(t model.Time, eighths uint8) model.Time {
	n := model.Time(eighths)
	return t/8*n + t%8*n/8
}

// gather returns when all devices of a row are free.
func (d *Decoder) gather(r int32) model.Time {
	t := model.Time(0)
	for _, dev := range d.p.Rows[r].Devices {
		t = max(t, d.devices[dev].free)
	}
	return t
}

// run starts the next operation of a row at time t. It returns false when the
// cutoff is reached.
func (d *Decoder) run(r int32, t model.Time) bool {
	s := &d.rows[r]
	index := s.next
	op, dur := d.op(s, index), d.length(s, index)
	d.start[op] = t
	s.end = t + dur
	s.next++
	s.key += s.slope
	if d.rule.Group > 1 {
		s.key = d.keyOf(r)
	}
	within := true
	if s.device >= 0 {
		if s.stored {
			d.memory.take(s.device, d.guards[r].delta)
		}
		within = d.occupy(s.device, r, op, t, dur)
	} else {
		for i, dev := range d.p.Rows[r].Devices {
			if s.stored {
				d.memory.take(dev, d.p.Rows[r].Memory[i])
			}
			within = d.occupy(dev, r, op, t, dur) && within
		}
	}
	d.refresh(r)
	d.announce(r, index, t)
	return within
}

// occupy books an operation on a device.
func (d *Decoder) occupy(dev, r int32, op model.OpID, t, dur model.Time) bool {
	s := &d.devices[dev]
	if s.begin == never {
		s.begin = t
	} else {
		s.idle += t - s.free
		d.mostIdle = max(d.mostIdle, s.idle)
	}
	d.order[dev] = append(d.order[dev], op)
	s.free = t + dur
	s.work -= dur
	if d.counts {
		d.count(dev, r)
	}
	if row := &d.rows[r]; row.next == row.count {
		i := slices.Index(d.live[dev], r)
		d.live[dev] = slices.Delete(d.live[dev], i, i+1)
	}
	d.agenda.set(dev, s.free)
	if d.p.Pipeline.Objective == model.Span {
		return s.free-s.begin+s.work < d.cutoff
	}
	return s.free+s.work < d.cutoff
}

// announce tells the successors of the operation at an index of a row, the last
// that has started, that it runs from t on.
func (d *Decoder) announce(r, index int32, t model.Time) {
	for _, succ := range d.succsOf(r) {
		q := &d.rows[succ.Row]
		if q.count == 0 || q.next != index && !(q.whole && d.rows[r].next == d.rows[r].count) {
			continue
		}
		d.refresh(succ.Row)
		switch at := max(q.ready, t); {
		case at == never:
		case q.device >= 0:
			d.alert(q.device, at)
		default:
			for _, dev := range d.p.Rows[succ.Row].Devices {
				d.alert(dev, at)
			}
		}
	}
}

// alert makes a device look for work no later than at, or when it is free.
func (d *Decoder) alert(dev int32, at model.Time) {
	at = max(at, d.devices[dev].free)
	if at < d.agenda.at(dev) {
		d.agenda.set(dev, at)
	}
}

// refresh recomputes when the next operation of a row may start.
func (d *Decoder) refresh(r int32) {
	s := &d.rows[r]
	s.ready = never
	if s.next >= s.count {
		return
	}
	if s.whole {
		s.ready = d.readyWhole(r)
		return
	}
	ready := model.Time(0)
	for _, pred := range d.predsOf(r) {
		q := &d.rows[pred.Row]
		if q.count == 0 {
			if q = &d.rows[d.source(pred.Row)]; q.count == 0 {
				continue // of the other case of a choice, without a stand-in
			}
		}
		if q.next <= s.next {
			return
		}
		if q.device == s.device && q.device >= 0 && pred.Lag == 0 {
			continue // it has ended whenever the device is free
		}
		ready = max(ready, d.endOf(q, s.next)+pred.Lag)
	}
	s.ready = ready
}

// readyWhole is refresh for a row with predecessors of which all operations have to
// end. Those of a row run one after the other, so the last to start is the last to
// end.
func (d *Decoder) readyWhole(r int32) model.Time {
	s, ready := &d.rows[r], model.Time(0)
	for _, pred := range d.predsOf(r) {
		q := &d.rows[d.source(pred.Row)]
		if q.count == 0 {
			continue // as in refresh, or a route without micro-batches
		}
		last := q.count - 1
		if !d.p.Rows[r].Single && !d.p.Rows[pred.Row].Single {
			last = s.next
		}
		if q.next <= last {
			return never
		}
		ready = max(ready, d.endOf(q, last)+pred.Lag)
	}
	return ready
}

// endOf returns the end of an operation of a row that has started.
func (d *Decoder) endOf(s *rowState, index int32) model.Time {
	if index == s.next-1 {
		return s.end // the common case, without a look into the timeline
	}
	return d.start[d.op(s, index)] + d.length(s, index)
}

// op returns the operation at an index of a row.
func (d *Decoder) op(s *rowState, index int32) model.OpID {
	if len(d.rule.Order) > 0 && s.count > 1 { // a single operation has no order
		index = d.rule.Order[index]
	}
	return s.base + model.OpID(index)
}

// length returns the duration of the operation at an index of a row.
func (d *Decoder) length(s *rowState, index int32) model.Time {
	if d.alike {
		return s.duration
	}
	return d.p.Duration(d.op(s, index))
}

// keyOf ranks the next operation of a row.
func (d *Decoder) keyOf(r int32) int64 {
	rule, index := d.rule, int64(d.rows[r].next)
	key := d.offset(r) + at(rule.Slope, int(r))*index
	if rule.Group > 1 {
		key += rule.GroupStep * (index / int64(rule.Group))
	}
	if rule.Backlog != nil && d.isDue(r) {
		key -= urgent
	}
	return key
}
