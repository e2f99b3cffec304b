package constraints

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// latest is the first start that is out of range: from there on, ends could
// overflow.
const latest model.Time = 1 << 62

// Check judges a plan and its timeline: it tests all rules and reports what
// breaks them. A rule that makes no sense where another one is broken is not
// tested there, so that one fault is one violation as far as can be: the
// successors of an operation that is missing do not count as violations.
//
// If the problem itself differs from its pipeline, or the lengths of orders or
// timeline do not fit the problem, the report holds only that.
//
// Check writes to none of its arguments. Cost O(operations + precedences +
// rows) time, one bit for each operation and device of memory; neighbours of
// length 0 at one moment cost more, see circles.
func Check(p *model.Problem, plan *model.Plan, tl *model.Timeline) *Report {
	j := &judge{p: p, plan: plan, report: CheckCompiled(p)}
	if !j.report.OK() {
		return j.report
	}
	j.start, j.timed = tl.Start, true
	if !j.orders() {
		return j.report
	}
	j.waits()
	if j.report.OK() {
		j.circles()
	}
	return j.report
}

// CheckOrders judges a plan that has no timeline, such as one that cannot run:
// it is Check without the rules that need times, see Rule.NeedsTimes.
func CheckOrders(p *model.Problem, plan *model.Plan) *Report {
	j := &judge{p: p, plan: plan, report: CheckCompiled(p)}
	if j.report.OK() {
		j.start = slices.Repeat([]model.Time{model.Absent}, p.NumOps())
		j.orders()
	}
	return j.report
}

// judge holds the state of one Check.
type judge struct {
	p      *model.Problem
	plan   *model.Plan
	start  []model.Time
	timed  bool // start holds the timeline; else there is none
	report *Report

	tables    []table
	seen      seats
	misplaced map[model.OpID]bool // operations that stand on a foreign device; nil if none
	ties      []tie
}

// orders tests each order, and all together for completeness. It returns false
// if the lengths of orders or timeline do not fit the problem.
func (j *judge) orders() bool {
	if !j.fits() {
		return false
	}
	var slots int
	j.tables, slots = newTables(j.p)
	j.seen = newSeats(slots)
	for d, order := range j.plan.Order {
		j.walk(d, order)
	}
	j.complete()
	return true
}

// fits tests the lengths of the arrays that are to be read.
func (j *judge) fits() bool {
	if have, need := len(j.plan.Order), j.p.NumDevices(); have != need {
		j.reportOrders(have, need)
		return false
	}
	if have, need := len(j.start), j.p.NumOps(); have != need {
		j.reportLength(have, need)
		return false
	}
	return true
}

// walk follows the order of a device.
func (j *judge) walk(d int, order []model.OpID) {
	before := span{op: -1}
	memory := j.openLedger(d)
	for position, op := range order {
		if op < 0 || int(op) >= len(j.start) {
			j.reportUnknown(d, position, op)
			continue
		}
		t := &j.tables[j.p.RowOf(op)]
		index := int(op - t.base)
		seat := t.seat(d)
		if seat < 0 {
			j.reportMisplaced(d, op)
			continue
		}
		if !j.seen.take(t.slot + seat*t.count + index) {
			j.reportTwice(d, position, op)
			continue
		}
		if memory.limited {
			j.hold(&memory, t, seat, op)
		}
		if !j.timed {
			continue
		}
		now := span{op: op, start: j.start[op]}
		if now.start < 0 || now.start >= latest {
			j.reportStart(op)
			continue
		}
		now.end = now.start + t.length.at(index)
		if now.start < before.end {
			j.reportOverlap(d, before, now)
		}
		if now.start == now.end {
			j.tied(before, now)
		}
		if seat == 0 {
			j.after(t, index, now)
		}
		before = now
	}
}

// span is the time during which an operation runs.
type span struct {
	op         model.OpID
	start, end model.Time
}

// after tests that an operation starts after all its predecessors.
func (j *judge) after(t *table, index int, now span) {
	for i := range t.preds {
		pr := &t.preds[i]
		if pr.all {
			for k := range j.tables[pr.row].count {
				j.afterOne(pr, k, now)
			}
			continue
		}
		if s := j.start[pr.base+model.OpID(index)]; s >= 0 && s < latest {
			if now.start < s+pr.length.at(index)+pr.lag {
				j.reportEarly(pr, index, now)
			}
			continue
		}
		j.afterOne(pr, index, now)
	}
}

// afterOne tests one predecessor, or the operation that stands in for it.
func (j *judge) afterOne(pr *pred, index int, now span) {
	producer, ok := j.producer(pr, index)
	if ok && now.start < producer.end+pr.lag {
		j.reportTooEarly(producer, pr.lag, now)
	}
}

// producer returns when a predecessor runs, or the one that stands in for it;
// false if the timeline holds neither.
func (j *judge) producer(pr *pred, index int) (span, bool) {
	producer, ok := j.spanOf(int(pr.row), index)
	if !ok && pr.standIn >= 0 {
		return j.spanOf(int(pr.standIn), index)
	}
	return producer, ok
}

// spanOf returns when an operation runs, false if the timeline does not hold it
// or its start is out of range.
func (j *judge) spanOf(row, index int) (span, bool) {
	t := &j.tables[row]
	op := t.base + model.OpID(index)
	s := j.start[op]
	if s < 0 || s >= latest {
		return span{}, false
	}
	return span{op, s, s + t.length.at(index)}, true
}

// ledger is the memory account of a device along its order.
type ledger struct {
	device  int
	limited bool
	held    model.Bytes // static memory included
	limit   model.Bytes
}

func (j *judge) openLedger(d int) ledger {
	l := ledger{device: d, held: j.p.Statics[d], limit: j.p.Limits[d]}
	l.limited = l.limit < model.Unlimited
	if l.limited && l.held > l.limit {
		j.reportStatic(&l)
	}
	return l
}

// hold books an operation: what it takes at its start, then its end. Only an
// operation that takes something can break the limit.
func (j *judge) hold(l *ledger, t *table, seat int, op model.OpID) {
	if t.memory == nil {
		return
	}
	delta := t.memory[seat]
	l.held += delta.AtStart
	if l.held > l.limit && delta.AtStart > 0 {
		j.reportMemory(l, op)
	}
	l.held += delta.AtEnd
	if l.held > l.limit && delta.AtEnd > 0 {
		j.reportMemory(l, op)
	}
}

// waits tests the wait edges of the plan. An edge before an operation that the
// plan does not hold says nothing.
func (j *judge) waits() {
	for _, w := range j.plan.Waits {
		if !j.exists(w.Before) || !j.exists(w.After) {
			j.reportWaitUnknown(w)
			continue
		}
		r := j.p.RowOf(w.After)
		now, ok := j.spanOf(r, int(w.After-j.tables[r].base))
		if !ok {
			continue
		}
		r = j.p.RowOf(w.Before)
		index := int(w.Before - j.tables[r].base)
		before, ok := j.spanOf(r, index)
		if twin := j.p.Rows[r].Twin; !ok && twin >= 0 {
			before, ok = j.spanOf(int(twin), index)
		}
		switch {
		case !ok:
			j.reportWaitMissing(w)
		case now.start < before.end:
			j.reportWait(before, now)
		case now.start == now.end:
			j.tied(before, now)
		}
	}
}

func (j *judge) exists(op model.OpID) bool { return op >= 0 && int(op) < len(j.start) }
