package lcg

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Edge finding (Carlier and Pinson 1989; Vilím 2004): if a set of operations cannot
// run together with another one before the set's deadline, the other one comes after
// the whole set. The order is told by the window that it would overload, then the
// start by the work that has to be done before.

// findEdges looks for operations that have to come after, or before, a set.
func (q *windowQueue) findEdges(s *search, device int32, w *windows) bool {
	if !q.sweep(s, device, w, false) {
		return false
	}
	b := w.reverse(&q.back)
	return q.sweep(s, device, &b, true)
}

// reverse returns the windows with time running backward, written into scratch.
func (w *windows) reverse(scratch *windows) windows {
	n := len(w.byBegin)
	b := *scratch
	b.byBegin, b.byEnd, b.dur = b.byBegin[:n], b.byEnd[:n], w.dur
	for k, i := range w.byEnd {
		b.byBegin[n-1-k] = i
		b.place[i] = int32(n - 1 - k)
		b.begin[i], b.end[i] = -w.end[i], -w.begin[i]
	}
	for k, i := range w.byBegin {
		b.byEnd[n-1-k] = i
	}
	return b
}

// sweep makes one operation after the other gray, the latest deadline first, and
// looks which gray one no longer fits with the members.
func (q *windowQueue) sweep(s *search, device int32, w *windows, mirrored bool) bool {
	t := &q.gray
	t.fill(w.byBegin, w.begin, w.dur)
	for k := len(w.byEnd) - 1; k >= 0; k-- {
		j := w.byEnd[k]
		to := w.end[j]
		for top := &t.node[1]; top.endGray > to && top.byEnd >= 0; {
			place := top.byEnd
			i := w.byBegin[place]
			if w.begin[i] < top.end && !q.after(s, device, w, i, to, mirrored) {
				return false
			}
			t.remove(int(place))
		}
		if w.begin[j]+w.dur[j] == w.end[j] {
			t.remove(int(w.place[j])) // it is where it has to be
		} else {
			t.gray(int(w.place[j]), w.begin[j], w.dur[j])
		}
	}
	return true
}

// after draws the conclusion that operation i comes after all that fall between some
// moment and to: first their order, then the start. If mirrored, before and end.
func (q *windowQueue) after(s *search, device int32, w *windows, i int32, to int64, mirrored bool) bool {
	from, excess := w.overloadedWith(i, to)
	if excess < 0 {
		return true
	}
	op := s.devices[device].ops[i]
	q.collect(s, device, w, from, to)
	q.spare = append(q.spare[:0], q.parts...)
	for _, p := range q.spare {
		if p.seq == s.ops[op].seq {
			continue
		}
		if !q.orderAfter(s, device, w, op, p, from, to, excess, mirrored) {
			return false
		}
	}
	from, work := w.endOf(from, to)
	q.collect(s, device, w, from, to)
	return q.startAfter(s, device, op, from, work, mirrored)
}

// overloadedWith returns the begin of a window up to to in which the operations,
// together with i, have too much work, and by how much more than one it is; negative
// if there is no such window.
func (w *windows) overloadedWith(i int32, to int64) (from, excess int64) {
	work, excess := w.dur[i], int64(-1)
	for k := len(w.byBegin) - 1; k >= 0; k-- {
		j := w.byBegin[k]
		if w.end[j] <= to && j != i {
			work += w.dur[j]
		}
		if at := w.begin[j]; at <= w.begin[i] && work-(to-at)-1 > excess {
			from, excess = at, work-(to-at)-1
		}
	}
	return from, excess
}

// endOf returns the earliest end of all that fall between a moment and to, as a begin
// and the work from there on.
func (w *windows) endOf(from, to int64) (begin, work int64) {
	sum, end := int64(0), int64(never)
	for k := len(w.byBegin) - 1; k >= 0; k-- {
		j := w.byBegin[k]
		if w.begin[j] < from {
			break
		}
		if w.end[j] > to {
			continue
		}
		sum += w.dur[j]
		if w.begin[j]+sum > end {
			end, begin, work = w.begin[j]+sum, w.begin[j], sum
		}
	}
	return begin, work
}

// orderAfter tells that op comes after the last operation of part p: else it would
// fall into the window too.
func (q *windowQueue) orderAfter(s *search, device int32, w *windows, op model.OpID, p part, from, to, excess int64, mirrored bool) bool {
	ops := s.seqs[p.seq].ops
	conclusion := s.beforeLit(ops[p.last], op)
	if mirrored {
		conclusion = s.beforeLit(op, ops[p.first])
	}
	if s.holds(conclusion) {
		return true
	}
	q.collect(s, device, w, from, to)
	excess = q.drop(excess, p.seq)
	from -= excess / 2
	to += excess - excess/2
	d := s.duration(&s.ops[op])
	q.facts = q.facts[:0]
	if mirrored {
		from, to = -to, -from
		q.facts = append(q.facts, atMost(start(op), to-d))
	} else {
		q.facts = append(q.facts, atLeast(start(op), from))
	}
	q.facts = s.lengthFacts(q.facts, []model.OpID{op})
	q.addParts(s, from, to)
	return s.tell(conclusion, q.explain(s, device, from, to), q.facts)
}

// startAfter tells that op starts after the work of the parts, which come before it
// and do not begin before from.
func (q *windowQueue) startAfter(s *search, device int32, op model.OpID, from, work int64, mirrored bool) bool {
	d := s.duration(&s.ops[op])
	conclusion := atLeast(start(op), from+work)
	if mirrored {
		conclusion = atMost(start(op), -(from+work)-d)
	}
	if s.holds(conclusion) {
		return true
	}
	q.facts = q.facts[:0]
	if mirrored {
		q.facts = s.lengthFacts(q.facts, []model.OpID{op})
	}
	for _, p := range q.parts {
		ops := s.seqs[p.seq].ops
		first, last := ops[p.first], ops[p.last]
		own := p.seq == s.ops[op].seq
		switch {
		case mirrored:
			q.facts = append(q.facts, atMost(start(last), -from-s.duration(&s.ops[last])))
			if !own {
				q.facts = append(q.facts, s.beforeLit(op, first))
			}
		default:
			q.facts = append(q.facts, atLeast(start(first), from))
			if !own {
				q.facts = append(q.facts, s.beforeLit(last, op))
			}
		}
		q.facts = s.lengthFacts(q.facts, ops[p.first:p.last+1])
	}
	begin, end := from, from+work-1
	if mirrored {
		begin, end = -(from+work)-d+1, -from
	}
	return s.tell(conclusion, q.explain(s, device, begin, end), q.facts)
}

func (q *windowQueue) explain(s *search, device int32, from, to int64) explanation {
	return explanation{rule: solve.WindowRule, device: int32(s.devices[device].device), op: -1, begin: from, end: to}
}
