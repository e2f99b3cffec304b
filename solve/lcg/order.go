package lcg

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// beforeLit is the literal that operation x stands before operation y, of another
// sequence on a common device.
func (f *form) beforeLit(x, y model.OpID) lit {
	a, b := &f.ops[x], &f.ops[y]
	for i := range f.seqs[a.seq].partners {
		if p := &f.seqs[a.seq].partners[i]; p.seq == b.seq {
			if p.isA {
				return atMost(p.first+a.index, int64(b.index))
			}
			return atLeast(p.first+b.index, int64(a.index)+1)
		}
	}
	panic("lcg: operations without a common device have no order")
}

// counts returns how many operations of a partner's sequence stand before an
// operation, at least and at most.
func (s *search) counts(o *opInfo, p *partner) (lo, hi int) {
	if p.isA {
		v := p.first + o.index
		return int(s.lo(v)), int(s.hi(v))
	}
	// The positions are those of the partner's operations: its i-th stands before
	// this one if at most index of this one's sequence stand before it. They ascend,
	// and the numbers move little from one question to the next.
	g := &s.guesses[p.guess+o.index]
	n, j := int32(len(s.seqs[p.seq].ops)), int64(o.index)
	for g.hi < n && s.lo(p.first+g.hi) <= j {
		g.hi++
	}
	for g.hi > 0 && s.lo(p.first+g.hi-1) > j {
		g.hi--
	}
	for g.lo < n && s.hi(p.first+g.lo) <= j {
		g.lo++
	}
	for g.lo > 0 && s.hi(p.first+g.lo-1) > j {
		g.lo--
	}
	return int(min(g.lo, g.hi)), int(g.hi)
}

// guess is where counts looked last; it only saves time.
type guess struct{ lo, hi int32 }

// duration returns the shortest length of an operation that its choice leaves.
func (s *search) duration(o *opInfo) int64 {
	if o.choice >= 0 {
		switch {
		case s.lo(o.choice) == 1:
			return o.durAt[1]
		case s.hi(o.choice) == 0:
			return o.durAt[0]
		}
	}
	return o.dur
}

func (s *search) earliest(op model.OpID) int64 { return s.lo(start(op)) }
func (s *search) latest(op model.OpID) int64   { return s.hi(start(op)) }

// wakeStart propagates a tighter start: later for isLow, earlier else.
func (s *search) wakeStart(op model.OpID, isLow bool) bool {
	o := &s.ops[op]
	q := &s.seqs[o.seq]
	s.windows.mark(q, o.index)
	for i := range q.partners {
		ok := true
		if isLow {
			ok = s.startsLater(op, o, &q.partners[i])
		} else {
			ok = s.startsEarlier(op, o, &q.partners[i])
		}
		if !ok {
			return false
		}
	}
	return true
}

// startsLater pushes the first operation of a partner that is known to come after
// op, and finds those that op has become too late for.
func (s *search) startsLater(op model.OpID, o *opInfo, p *partner) bool {
	ops := s.seqs[p.seq].ops
	lo, hi := s.counts(o, p)
	end := s.earliest(op) + s.duration(o)
	if hi < len(ops) && s.earliest(ops[hi]) < end {
		if !s.set(atLeast(start(ops[hi]), end), reason{byOrder, int32(op), int32(ops[hi])}) {
			return false
		}
	}
	j := lo
	for j < hi && end > s.latest(ops[j]) {
		j++
	}
	return j == lo || s.set(s.beforeLit(ops[j-1], op), reason{byClash, int32(op), int32(ops[j-1])})
}

// startsEarlier pushes the last operation of a partner that is known to come before
// op, and finds those that have become too late for op.
func (s *search) startsEarlier(op model.OpID, o *opInfo, p *partner) bool {
	ops := s.seqs[p.seq].ops
	lo, hi := s.counts(o, p)
	begin := s.latest(op)
	if lo > 0 {
		x := ops[lo-1]
		if last := begin - s.duration(&s.ops[x]); last < s.latest(x) {
			if !s.set(atMost(start(x), last), reason{byOrder, int32(x), int32(op)}) {
				return false
			}
		}
	}
	j := hi
	for j > lo && s.earliest(ops[j-1])+s.duration(&s.ops[ops[j-1]]) > begin {
		j--
	}
	return j == hi || s.set(s.beforeLit(op, ops[j]), reason{byClash, int32(ops[j]), int32(op)})
}

// wakePosition propagates a tighter position: the neighbour in the other sequence
// that it puts before or after the operation, and memory.
func (s *search) wakePosition(v int32, isLow bool, old int64) bool {
	pair := s.pairOf(v)
	op := s.seqs[pair.a].ops[v-pair.first]
	others := s.seqs[pair.q].ops
	first, end := int(old), int(s.hi(v)) // operations whose order with op was decided
	if isLow {
		first, end = int(-old), int(s.lo(v))
	} else {
		first, end = end, first
	}
	s.memory.touched(s, op, others[first:end])
	if isLow {
		return s.join(others[end-1], op)
	}
	return s.join(op, others[first])
}

// join propagates along the edge between two operations whose order is known.
func (s *search) join(x, y model.OpID) bool {
	d := s.duration(&s.ops[x])
	why := reason{byOrder, int32(x), int32(y)}
	return s.set(atLeast(start(y), s.earliest(x)+d), why) && s.set(atMost(start(x), s.latest(y)-d), why)
}

// pairOf returns the pair of a position variable.
func (f *form) pairOf(v int32) *pairInfo { return &f.pairs[f.pairAt[v-f.firstPos]] }

// wakeChoice propagates a choice that has been made: lengths and memory.
func (s *search) wakeChoice(c int) bool {
	for _, op := range s.choices[c].ops {
		if !s.pushEdges(low(start(op))) || !s.wakeStart(op, true) {
			return false
		}
		for _, q := range s.backEdges[op] {
			if !s.pushEdges(q) {
				return false
			}
		}
		o := &s.ops[op]
		for i := range s.seqs[o.seq].partners {
			p := &s.seqs[o.seq].partners[i]
			if _, hi := s.counts(o, p); hi < len(s.seqs[p.seq].ops) && !s.join(op, s.seqs[p.seq].ops[hi]) {
				return false
			}
		}
		s.memory.afterChoice(s, op)
	}
	return true
}

// wakeSpan relates the firsts and lasts of devices to the objective; v is the
// variable that moved, or -1 for the objective.
func (s *search) wakeSpan(v int) bool {
	for i := range s.devices {
		d := s.devices[i].device
		first, last := int32(s.vars.First(d)), int32(s.vars.Last(d))
		if v >= 0 && int32(v) != first && int32(v) != last {
			continue
		}
		x := explanation{rule: solve.SpanRule, device: int32(d)}
		span := s.hi(0)
		f, l := s.hi(first), s.lo(last)
		if !s.tell(atLeast(0, l-f), x, []lit{atMost(first, f), atLeast(last, l)}) {
			return false
		}
		if t := f + span; t < s.hi(last) && !s.tell(atMost(last, t), x, []lit{atMost(first, f), atMost(0, span)}) {
			return false
		}
		if t := l - span; t > s.lo(first) && !s.tell(atLeast(first, t), x, []lit{atLeast(last, l), atMost(0, span)}) {
			return false
		}
	}
	return true
}

// reach knows which sequences wait for which.
type reach struct{ to [][]waiting }

// waiting says for which operations of one sequence those of another wait.
type waiting uint8

const (
	forNone waiting = iota
	forSame         // index by index
	forAll          // each for all: one of them, or one on the way, runs once
)

// reached is a sequence that waits for another one.
type reached struct {
	seq int32
	how waiting
}

func newReach(f *form) *reach {
	n := len(f.seqs)
	r := &reach{make([][]waiting, n)}
	next := make([][]reached, n)
	for s := range f.seqs {
		next[s] = f.waitersOf(int32(s))
	}
	for s := range f.seqs {
		r.to[s] = make([]waiting, n)
		stack := []reached{{int32(s), forSame}}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, t := range next[at.seq] {
				how := max(at.how, t.how)
				if r.to[s][t.seq] < how {
					r.to[s][t.seq] = how
					stack = append(stack, reached{t.seq, how})
				}
			}
		}
	}
	return r
}

// waitersOf lists the sequences that wait for one directly.
func (f *form) waitersOf(s int32) []reached {
	var list []reached
	add := func(op model.OpID, wants waiting) {
		for _, e := range f.edges[low(start(op))] {
			v := e.to.variable()
			if v == 0 || v >= f.choiceBegin() {
				continue
			}
			if t := f.ops[v-1].seq; t != s && f.waitFor(s, t) == wants {
				list = append(list, reached{t, wants})
			}
		}
	}
	ops := f.seqs[s].ops
	add(ops[0], forSame)
	add(ops[len(ops)-1], forAll)
	return list
}

// waitFor returns how one sequence waits for another if it does.
func (f *form) waitFor(s, t int32) waiting {
	if f.p.Rows[f.vars.Sequences[s].Row].Single || f.p.Rows[f.vars.Sequences[t].Row].Single {
		return forAll
	}
	return forSame
}

// window returns the numbers of operations of b that may stand before the i-th of a.
func (r *reach) window(a, b int32, i, count int) (least, most int) {
	most = count
	switch r.to[a][b] {
	case forSame:
		most = min(i, count)
	case forAll:
		most = 0
	}
	switch r.to[b][a] {
	case forSame:
		least = min(i+1, count)
	case forAll:
		least = count
	}
	return least, most
}
