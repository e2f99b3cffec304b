package lcg

import (
	"context"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// search is one conflict-driven search over the variables of a form: bounds that
// are propagated, nogoods that are learned. It serves one goroutine.
type search struct {
	*form
	trail

	ctx     context.Context // of the turn
	units   int64           // work done: bounds propagated, and windows looked at
	until   int64           // units at which the turn ends
	ready   bool            // what holds without any decision has been drawn
	early   bool            // it looks for plans, with every operation as early as can be
	befores []before
	guesses []guess

	nogoods    []nogood
	free       []int32 // numbers of nogoods that may be used again
	watches    [][]watch
	nogoodStep float32

	conflict conflict
	learner  learner
	memory   memoryQueue
	windows  windowQueue
	picker   picker

	trace      solve.Trace
	numbered   int64 // nogoods told to trace
	learned    int64
	conflicts  int64
	impossible bool // there is no schedule at all
}

// newSearch returns a search for schedules, or, if early, for plans, see shift.
func newSearch(f *form, trace solve.Trace, early bool) *search {
	n := f.vars.Count()
	s := &search{form: f, nogoodStep: 1, trace: trace, early: early}
	s.ub, s.last = make([]int64, 2*n), make([]int32, 2*n)
	s.watches = make([][]watch, 2*n)
	for i := range s.last {
		s.last[i] = -1
	}
	s.guesses = make([]guess, f.guesses)
	s.domains()
	s.learner.init(s)
	s.memory.init(s)
	s.windows.init(s)
	s.picker.init(s)
	return s
}

// domains sets what is known from the beginning, see docs/proof.md.
func (s *search) domains() {
	for v := range int32(s.vars.Count()) {
		s.ub[high(v)] = s.horizon
	}
	for _, c := range s.choices {
		s.ub[high(c.v)] = 1
	}
	for _, p := range s.pairs {
		for i := range s.seqs[p.a].ops {
			s.ub[high(p.first+int32(i))] = int64(len(s.seqs[p.q].ops))
		}
	}
	if s.span {
		if only := s.source(); only >= 0 {
			s.ub[high(start(s.seqs[only].ops[0]))] = 0
		}
	}
}

// root draws what holds without any decision, the first time it is called, or when it
// was called the last time if the context ended that.
func (s *search) root() {
	if s.ready {
		return
	}
	reach := newReach(s.form)
	for _, p := range s.pairs {
		if s.ctx.Err() != nil {
			return
		}
		for i := range s.seqs[p.a].ops {
			v := p.first + int32(i)
			least, most := reach.window(p.a, p.q, i, len(s.seqs[p.q].ops))
			x := explanation{rule: solve.OrderRule}
			if !s.tell(atMost(v, int64(most)), x, nil) || !s.tell(atLeast(v, int64(least)), x, nil) {
				s.ready = true
				s.failAtRoot()
				return
			}
		}
	}
	for i := range s.seqs {
		for k := range s.seqs[i].ops {
			s.windows.mark(&s.seqs[i], int32(k))
		}
		if len(s.seqs[i].limited) > 0 {
			for _, op := range s.seqs[i].ops {
				s.memory.mark(op)
			}
		}
	}
	s.ready = true
	if !s.pushAll() || !s.propagate() {
		s.failAtRoot()
	}
}

// pushAll pushes every bound once along its edges: starts in an order in which each is
// final when its turn comes, forward for the earliest and backward for the latest.
func (s *search) pushAll() bool {
	for _, op := range s.order {
		if !s.pushEdges(low(start(op))) {
			return false
		}
	}
	if !s.pushEdges(high(0)) {
		return false
	}
	for v := s.choiceBegin(); v < int32(s.vars.Count()); v++ {
		if !s.pushEdges(low(v)) || !s.pushEdges(high(v)) {
			return false
		}
	}
	for _, op := range slices.Backward(s.order) {
		if !s.pushEdges(high(start(op))) {
			return false
		}
	}
	return true
}

// set makes a literal true. It returns false on a conflict, and keeps it.
func (s *search) set(l lit, why reason) bool {
	if s.ub[l.s] <= l.b {
		return true
	}
	if lower := -s.ub[l.s^1]; l.b < lower {
		s.clash(l, why)
		return false
	}
	s.note(l, why)
	if s.level() == 0 {
		s.tellRoot()
	}
	return true
}

// tell makes a literal true by an explanation: facts that exclude its opposite.
func (s *search) tell(l lit, x explanation, facts []lit) bool {
	if s.ub[l.s] <= l.b {
		return true
	}
	x.first, x.n = int32(len(s.arena)), int32(len(facts))
	s.arena = append(s.arena, facts...)
	s.told = append(s.told, x)
	if s.set(l, reason{kind: byTold, x: int32(len(s.told) - 1)}) {
		return true
	}
	s.arena = s.arena[:x.first]
	s.told = s.told[:len(s.told)-1]
	return false
}

// propagate draws all consequences. It returns false on a conflict. It stops early,
// with true, when the context ends.
func (s *search) propagate() bool {
	for {
		for s.next < len(s.events) {
			e := &s.events[s.next]
			sd, old := e.s, e.old
			s.next++
			if s.units++; s.units&0xfff == 0 && s.ctx.Err() != nil {
				return true
			}
			if !s.wakeNogoods(sd) || !s.pushEdges(sd) || !s.wakeOrder(sd, old) {
				return false
			}
		}
		if more, ok := s.memory.run(s); !ok {
			return false
		} else if more {
			continue
		}
		if more, ok := s.windows.run(s); !ok {
			return false
		} else if !more && s.next == len(s.events) {
			return true
		}
	}
}

// pushEdges pushes the bound of a side along its edges.
func (s *search) pushEdges(sd side) bool {
	b := s.ub[sd]
	for i := range s.edges[sd] {
		e := &s.edges[sd][i]
		if b-e.weight < s.ub[e.to] && (e.cond.s < 0 || s.holds(e.cond)) {
			if !s.set(lit{e.to, b - e.weight}, reason{byEdge, int32(sd), int32(i)}) {
				return false
			}
		}
	}
	return true
}

// wakeOrder propagates between starts and positions.
func (s *search) wakeOrder(sd side, old int64) bool {
	v := sd.variable()
	switch {
	case v == 0:
		return !s.span || s.wakeSpan(-1)
	case v < s.choiceBegin():
		return s.wakeStart(model.OpID(v-1), sd.isLow())
	case v >= s.firstPos:
		return s.wakePosition(v, sd.isLow(), old)
	default:
		if c, ok := s.choiceOf[v]; ok {
			return s.wakeChoice(c)
		}
		return s.wakeSpan(int(v))
	}
}

// back returns to a level.
func (s *search) back(level int32) {
	if s.level() <= level {
		return
	}
	begin := int(s.levels[level])
	for len(s.events) > begin {
		s.picker.released(s, &s.events[len(s.events)-1])
		s.pop()
	}
	s.levels = s.levels[:level]
	s.next = begin
	s.memory.clear()
	s.windows.clear()
}

// verdict is the outcome of a run of a search.
type verdict uint8

const (
	undecided verdict = iota // the budget or the context ended it
	satisfied                // a schedule: the bounds are it
	refuted                  // no schedule meets the assumptions
)

// run looks for a schedule in which goal holds and, if any, everything that is fixed.
// After satisfied the trail holds it; the caller returns to level 0. Refuted with
// something fixed says nothing about the goal. conflicts bounds the
// effort, and so do the units of the turn.
func (s *search) run(goal lit, fixed []lit, conflicts int64) verdict {
	limit := s.conflicts + conflicts
	s.back(0)
	for restart := int64(1); ; restart++ {
		until := s.conflicts + restartUnit*luby(restart)
		v, restarted := s.descend(goal, fixed, min(until, limit), limit)
		if !restarted {
			return v
		}
		s.back(0)
		if len(s.nogoods)-len(s.free) > s.picker.keep {
			s.reduce()
			s.picker.keep += keepStep
		}
	}
}

const (
	restartUnit = 100  // conflicts
	keepFirst   = 4000 // nogoods kept before the first reduction
	keepStep    = 300  // and how many more before each further one
)

// descend decides and propagates until a verdict, or until enough conflicts.
func (s *search) descend(goal lit, fixed []lit, until, limit int64) (v verdict, restart bool) {
	floor := int32(0)
	if len(fixed) > 0 {
		floor = 2
	}
	for !s.impossible {
		if !s.propagate() {
			if s.conflicts++; !s.resolve(floor) {
				return refuted, false
			}
			continue
		}
		switch {
		case s.conflicts >= limit, s.units >= s.until, s.next < len(s.events):
			return undecided, false
		case s.conflicts >= until:
			return undecided, true
		case s.level() == 0:
			if s.fails(goal) {
				return refuted, false
			}
			s.open()
			s.set(goal, reason{})
		case s.level() == 1 && len(fixed) > 0:
			if !s.fix(fixed) {
				return refuted, false
			}
		default:
			l := s.picker.pick(s)
			if l.s >= 0 {
				s.open()
				s.set(l, reason{})
				continue
			}
			done, ok := s.complete()
			if done {
				return satisfied, false
			}
			if s.conflicts++; !ok && !s.resolve(floor) {
				return refuted, false
			}
		}
	}
	return refuted, false
}

// complete reports whether the bounds, with all orders decided, are a schedule, and for
// a search for plans, that of a plan. If not, either bounds have moved or there is a
// conflict, which is not ok.
func (s *search) complete() (done, ok bool) {
	if s.circle() {
		return false, false
	}
	if !s.early {
		return true, true
	}
	changed, ok := s.shift()
	return !changed, ok
}

// fix makes literals true on a level of their own. It returns false if they
// contradict what is known.
func (s *search) fix(fixed []lit) bool {
	s.open()
	for _, l := range fixed {
		if s.fails(l) {
			return false
		}
		s.set(l, reason{})
	}
	return true
}

// luby is the i-th number of the sequence 1 1 2 1 1 2 4 ..., i from 1 (Luby,
// Sinclair, Zuckerman 1993).
func luby(i int64) int64 {
	for k := int64(1); ; k++ {
		if i == 1<<k-1 {
			return 1 << (k - 1)
		}
		if i < 1<<k-1 {
			return luby(i - (1<<(k-1) - 1))
		}
	}
}
