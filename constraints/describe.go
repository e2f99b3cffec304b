package constraints

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// The methods below word the violations. They are apart from the tests, so that
// a valid plan pays nothing for them.

func (j *judge) reportOrders(have, need int) {
	j.report.add(RuleCompleteness, func() Violation {
		return Violation{Device: -1, Need: int64(need), Have: int64(have),
			Message: fmt.Sprintf("the plan has orders for %d devices, the problem has %d", have, need)}
	})
}

func (j *judge) reportLength(have, need int) {
	j.report.add(RuleTimeline, func() Violation {
		return Violation{Device: -1, Need: int64(need), Have: int64(have),
			Message: fmt.Sprintf("the timeline has %d starts, the problem has %d operations", have, need)}
	})
}

func (j *judge) reportUnknown(d, position int, op model.OpID) {
	j.report.add(RuleCompleteness, func() Violation {
		return Violation{Device: d,
			Message: fmt.Sprintf("position %d of %s names operation %d, which does not exist: there are %d", position, j.p.DeviceName(d), op, len(j.start))}
	})
}

func (j *judge) reportTwice(d, position int, op model.OpID) {
	j.report.add(RuleCompleteness, func() Violation {
		return Violation{Device: d, Ops: []model.OpID{op}, Need: 1, Have: 2,
			Message: fmt.Sprintf("%s stands in the order of %s twice, again at position %d", j.p.Name(op), j.p.DeviceName(d), position)}
	})
}

func (j *judge) reportMissing(d int, op model.OpID) {
	j.report.add(RuleCompleteness, func() Violation {
		return Violation{Device: d, Ops: []model.OpID{op}, Need: 1, Have: 0,
			Message: fmt.Sprintf("%s is missing in the order of %s", j.p.Name(op), j.p.DeviceName(d))}
	})
}

func (j *judge) reportMisplaced(d int, op model.OpID) {
	if j.misplaced == nil {
		j.misplaced = map[model.OpID]bool{}
	}
	j.misplaced[op] = true
	j.report.add(RulePlacement, func() Violation {
		return Violation{Device: d, Ops: []model.OpID{op},
			Message: fmt.Sprintf("%s stands in the order of %s, but runs on %s", j.p.Name(op), j.p.DeviceName(d), j.deviceNames(op))}
	})
}

func (j *judge) deviceNames(op model.OpID) string {
	var names []string
	for _, d := range j.p.Row(op).Devices {
		names = append(names, j.p.DeviceName(int(d)))
	}
	return strings.Join(names, " and ")
}

func (j *judge) reportChoice(fused *table, split []*table, index int) {
	both := j.held(fused, index)
	j.report.add(RuleChoice, func() Violation {
		v := Violation{Device: int(fused.devices[0]), Need: 1, Have: 0}
		var halves []string
		for _, t := range split {
			op := t.base + model.OpID(index)
			if j.held(t, index) == both {
				v.Ops = append(v.Ops, op)
				halves = append(halves, j.p.Name(op))
			}
		}
		op := fused.base + model.OpID(index)
		v.Ops = append(v.Ops, op)
		parts := strings.Join(halves, " and ")
		if both {
			v.Have = 2
			v.Message = fmt.Sprintf("the plan holds %s beside %s, which is both in one; keep one of the two cases", parts, j.p.Name(op))
		} else {
			v.Message = fmt.Sprintf("the plan holds neither %s nor %s, which is both in one", parts, j.p.Name(op))
		}
		return v
	})
}

func (j *judge) reportStray(op model.OpID) {
	j.report.add(RuleTimeline, func() Violation {
		return Violation{Device: -1, Ops: []model.OpID{op}, Need: int64(model.Absent), Have: int64(j.start[op]),
			Message: fmt.Sprintf("%s starts at %s, but stands in no order", j.p.Name(op), j.time(j.start[op]))}
	})
}

// reportStart words a start out of range; Absent says that there is none.
func (j *judge) reportStart(op model.OpID) {
	s := j.start[op]
	v := Violation{Device: -1, Ops: []model.OpID{op}, Have: int64(s)}
	rule := RuleStart
	switch {
	case s == model.Absent:
		rule = RuleTimeline
		v.Message = fmt.Sprintf("%s stands in the orders, but has no start", j.p.Name(op))
	case s < 0:
		v.Message = fmt.Sprintf("%s starts at %s, before time 0", j.p.Name(op), j.time(s))
	default:
		v.Need = int64(latest - 1)
		v.Message = fmt.Sprintf("%s starts at %s, beyond 2^62 ticks", j.p.Name(op), j.time(s))
	}
	j.report.add(rule, func() Violation { return v })
}

// reportOverlap words an operation that starts before the one ahead of it on
// the device ends: it runs wholly before that one, or they overlap.
func (j *judge) reportOverlap(d int, ahead, now span) {
	v := Violation{Device: d, Ops: []model.OpID{now.op, ahead.op}}
	if now.end <= ahead.start {
		v.Need, v.Have = int64(ahead.start), int64(now.start)
		j.report.add(RuleOrder, func() Violation {
			v.Message = fmt.Sprintf("%s stands behind %s in the order of %s, but runs before it (starts at %s and %s)",
				j.p.Name(now.op), j.p.Name(ahead.op), j.p.DeviceName(d), j.time(now.start), j.time(ahead.start))
			return v
		})
		return
	}
	v.Need, v.Have = int64(ahead.end), int64(now.start)
	j.report.add(RuleExclusive, func() Violation {
		v.Message = fmt.Sprintf("%s runs %s until %s, but %s starts at %s", j.p.DeviceName(d),
			j.p.Name(ahead.op), j.time(ahead.end), j.p.Name(now.op), j.time(now.start))
		return v
	})
}

func (j *judge) reportCircle(ops []model.OpID) {
	j.report.add(RuleOrder, func() Violation {
		v := Violation{Device: -1, Ops: ops}
		if len(ops) == 1 {
			v.Message = fmt.Sprintf("%s waits for itself", j.p.Name(ops[0]))
			return v
		}
		var names []string
		for _, op := range ops {
			names = append(names, j.p.Name(op))
		}
		v.Message = fmt.Sprintf("%s take no time, all at %s, and each waits for the next, the last for the first",
			strings.Join(names, ", "), j.time(j.start[ops[0]]))
		return v
	})
}

func (j *judge) reportEarly(pr *pred, index int, now span) {
	producer, _ := j.spanOf(int(pr.row), index)
	j.reportTooEarly(producer, pr.lag, now)
}

// reportTooEarly words an operation that starts before its producer ends, or
// before the transfer that follows is over.
func (j *judge) reportTooEarly(producer span, lag model.Time, now span) {
	v := Violation{Device: -1, Ops: []model.OpID{now.op, producer.op}, Need: int64(producer.end + lag), Have: int64(now.start)}
	if now.start < producer.end {
		j.report.add(RulePrecedence, func() Violation {
			v.Message = fmt.Sprintf("%s starts at %s, before %s ends at %s; the earliest start is %s", j.p.Name(now.op),
				j.time(now.start), j.p.Name(producer.op), j.time(producer.end), j.time(producer.end+lag))
			return v
		})
		return
	}
	j.report.add(RuleLink, func() Violation {
		v.Message = fmt.Sprintf("%s starts at %s, but %s ends at %s and the transfer takes %s; the earliest start is %s", j.p.Name(now.op),
			j.time(now.start), j.p.Name(producer.op), j.time(producer.end), j.time(lag), j.time(producer.end+lag))
		return v
	})
}

func (j *judge) reportWaitUnknown(w model.Wait) {
	j.report.add(RuleWait, func() Violation {
		return Violation{Device: -1,
			Message: fmt.Sprintf("a wait edge puts operation %d before operation %d: there are %d operations", w.Before, w.After, len(j.start))}
	})
}

func (j *judge) reportWaitMissing(w model.Wait) {
	j.report.add(RuleWait, func() Violation {
		return Violation{Device: -1, Ops: []model.OpID{w.After, w.Before}, Need: 1,
			Message: fmt.Sprintf("a wait edge puts %s before %s, but the plan does not hold it", j.p.Name(w.Before), j.p.Name(w.After))}
	})
}

func (j *judge) reportWait(before, now span) {
	j.report.add(RuleWait, func() Violation {
		return Violation{Device: -1, Ops: []model.OpID{now.op, before.op}, Need: int64(before.end), Have: int64(now.start),
			Message: fmt.Sprintf("%s starts at %s, but a wait edge puts %s before it, which ends at %s", j.p.Name(now.op),
				j.time(now.start), j.p.Name(before.op), j.time(before.end))}
	})
}

func (j *judge) reportStatic(l *ledger) {
	j.report.add(RuleMemory, func() Violation {
		return Violation{Device: l.device, Need: int64(l.limit), Have: int64(l.held),
			Message: fmt.Sprintf("%s holds %s of static memory, limit %s; no order can mend that", j.p.DeviceName(l.device), j.bytes(l.held), j.bytes(l.limit))}
	})
}

func (j *judge) reportMemory(l *ledger, op model.OpID) {
	j.report.add(RuleMemory, func() Violation {
		return Violation{Device: l.device, Ops: []model.OpID{op}, Need: int64(l.limit), Have: int64(l.held),
			Message: fmt.Sprintf("%s holds %s at %s, limit %s; give back %s before it", j.p.DeviceName(l.device), j.bytes(l.held),
				j.p.Name(op), j.bytes(l.limit), j.bytes(l.held-l.limit))}
	})
}

// time writes ticks as a number of the user's unit.
func (j *judge) time(t model.Time) string { return j.p.FormatTime(t) }

// bytes writes an amount of memory as a number of the user's unit.
func (j *judge) bytes(b model.Bytes) string { return j.p.FormatMemory(b) }
