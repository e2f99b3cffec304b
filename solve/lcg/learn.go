package lcg

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// conflict is a set of literals that all hold and exclude each other, with the step
// that says why.
type conflict struct {
	facts []lit
	step  solve.Step
}

// learner analyses conflicts: from the last event back to the first unique
// implication point (Marques-Silva and Sakallah 1996; lazy clause generation:
// Ohrimenko, Stuckey and Codish 2009). Literals are as weak as the conflict allows.
type learner struct {
	need   []int64 // by side, if marked: the bound that is needed
	pos    []int32 // by side: the event that made it true, -1 if not marked
	marked []side
	facts  []lit
	stack  []lit
	steps  []stepAt
	out    []solve.Step
}

func (l *learner) init(s *search) {
	l.need, l.pos = make([]int64, len(s.ub)), make([]int32, len(s.ub))
	for i := range l.pos {
		l.pos[i] = -1
	}
}

// clash keeps the conflict between a bound that is to be set and the opposite one.
func (s *search) clash(l lit, why reason) {
	lower := -s.ub[l.s^1]
	need := lit{l.s, lower - 1}
	e := event{s: l.s, why: why, old: s.ub[l.s], now: l.b}
	s.conflict.facts = append(s.conflict.facts[:0], need.not())
	s.conflict.facts = s.explain(&e, need, int32(len(s.events)), s.conflict.facts)
	if s.trace != nil {
		s.conflict.step = s.step(&e, s.conflict.facts)
	}
}

// clashTold keeps a conflict that a rule found.
func (s *search) clashTold(x explanation, facts []lit) {
	s.conflict.facts = append(s.conflict.facts[:0], facts...)
	if s.trace != nil {
		s.conflict.step = toldStep(&x, s.conflict.facts)
	}
}

// resolve learns from the conflict, goes back, and draws the conclusion. It returns
// false if there is no schedule at all, and without learning if the conflict is on
// the level floor, whose literals are given all at once; 0 means no such level.
func (s *search) resolve(floor int32) bool {
	top := int32(0)
	for _, l := range s.conflict.facts {
		if at := s.madeTrue(l); at >= 0 {
			top = max(top, s.events[at].level)
		}
	}
	s.back(top)
	switch {
	case top == 0:
		s.failAtRoot()
		return false
	case top == floor:
		return false
	}
	l := &s.learner
	l.steps = l.steps[:0]
	if s.trace != nil {
		l.steps = append(l.steps, stepAt{1 << 30, s.conflict.step})
	}
	count := 0
	for _, fact := range s.conflict.facts {
		count += s.mark(fact, top)
	}
	uip := s.climb(top, count)
	n := s.build(uip)
	s.picker.decay()
	s.nogoodStep *= 1.001
	s.conclude(n)
	return !s.impossible
}

// mark notes that a literal is needed. It returns how the number of marked
// literals that the current level made true changes.
func (s *search) mark(f lit, level int32) int {
	at := s.madeTrue(f)
	if at < 0 || s.events[at].level == 0 {
		return 0
	}
	l := &s.learner
	was := l.pos[f.s]
	switch {
	case was < 0:
		l.marked = append(l.marked, f.s)
	case l.need[f.s] <= f.b:
		return 0
	}
	l.need[f.s], l.pos[f.s] = f.b, at
	s.picker.bump(f.s.variable())
	if s.events[at].level == level && (was < 0 || s.events[was].level != level) {
		return 1
	}
	return 0
}

// climb takes back events of the level until a single marked literal of it is left,
// replacing each marked one by what implied it.
func (s *search) climb(level int32, count int) lit {
	l := &s.learner
	for {
		at := int32(len(s.events) - 1)
		e := s.events[at]
		if l.pos[e.s] != at {
			s.picker.released(s, &e)
			s.pop()
			continue
		}
		f := lit{e.s, l.need[e.s]}
		if count == 1 {
			return f
		}
		l.pos[e.s] = -1
		count--
		s.picker.released(s, &e)
		s.pop()
		l.facts = s.explain(&e, f, at, l.facts[:0])
		s.record(&e, f, at, l.facts)
		for _, fact := range l.facts {
			count += s.mark(fact, level)
		}
		if e.why.kind == byNogood {
			s.bumpNogood(e.why.x)
		}
	}
}

// build collects the nogood and clears the marks. The literal of the current level
// comes first, then one of the highest level below.
func (s *search) build(uip lit) nogood {
	l := &s.learner
	others := s.minimise(uip)
	lits := make([]lit, 1, len(others)+1)
	lits[0] = uip
	var levels []int32
	for _, f := range others {
		lits = append(lits, f)
		at := s.madeTrue(f)
		levels = append(levels, s.events[at].level)
		if k := len(lits) - 1; k > 1 && levels[k-1] > levels[0] {
			lits[1], lits[k] = lits[k], lits[1]
			levels[0], levels[k-1] = levels[k-1], levels[0]
		}
	}
	for _, sd := range l.marked {
		l.pos[sd] = -1
	}
	l.marked = l.marked[:0]
	n := nogood{lits: lits, activity: s.nogoodStep}
	slices.Sort(levels)
	n.levels = 1 + int32(len(slices.Compact(levels)))
	return n
}

// minimise returns the marked literals of lower levels without those that the others
// imply. What implies a literal has to be older than it, or two could imply each
// other (Sörensson and Biere 2009).
func (s *search) minimise(uip lit) []lit {
	l := &s.learner
	var kept []lit
	for _, sd := range l.marked {
		at := l.pos[sd]
		if at < 0 || sd == uip.s && at == int32(len(s.events)-1) {
			continue
		}
		f := lit{sd, l.need[sd]}
		if !s.redundant(f, at, minimiseDepth) {
			kept = append(kept, f)
		}
	}
	return kept
}

// minimiseDepth bounds how far back minimise looks for what implies a literal.
const minimiseDepth = 10

// redundant reports whether a literal follows from marked or known ones: its reasons
// are, or follow from such in turn.
func (s *search) redundant(f lit, at int32, depth int) bool {
	e := &s.events[at]
	if e.why.kind == decided {
		return false
	}
	l := &s.learner
	begin := len(l.stack)
	l.stack = s.explain(e, f, at, l.stack)
	end := len(l.stack)
	defer func() { l.stack = l.stack[:begin] }()
	for i := begin; i < end; i++ {
		g := l.stack[i]
		made := s.madeTrue(g)
		if made < 0 || s.events[made].level == 0 {
			continue
		}
		if p := l.pos[g.s]; p >= 0 && p < at && l.need[g.s] <= g.b {
			continue
		}
		if depth == 0 || !s.redundant(g, made, depth-1) {
			return false
		}
	}
	s.record(e, f, at, l.stack[begin:end])
	return true
}

// conclude tells and stores a nogood, goes back and sets what follows.
func (s *search) conclude(n nogood) {
	number := s.tellNogood(n.lits)
	s.learned++
	if len(n.lits) == 1 {
		s.back(0)
		l := n.lits[0].not()
		if s.ub[l.s] <= l.b {
			return
		}
		if l.b < -s.ub[l.s^1] {
			s.impossible = true // the nogood and what is known exclude each other
			s.tellNothing()
			return
		}
		s.note(l, reason{kind: decided})
		return
	}
	s.back(s.events[s.madeTrue(n.lits[1])].level)
	n.number = number
	id := s.addNogood(n)
	s.set(n.lits[0].not(), reason{kind: byNogood, x: id})
}

// explain appends facts that implied a literal, which the event made true or
// stronger; at is the number of the event.
func (s *search) explain(e *event, f lit, at int32, out []lit) []lit {
	switch e.why.kind {
	case byNogood:
		for _, l := range s.nogoods[e.why.x].lits {
			if l.s != e.s^1 {
				out = append(out, l)
			}
		}
	case byEdge:
		edge := &s.edges[e.why.x][e.why.y]
		out = append(out, lit{side(e.why.x), f.b + edge.weight})
		if edge.cond.s >= 0 {
			out = append(out, edge.cond)
		}
	case byOrder:
		x, y := model.OpID(e.why.x), model.OpID(e.why.y)
		d, cond := s.durationAt(&s.ops[x], at)
		from := low(start(x))
		if e.s == high(start(x)) {
			from = high(start(y))
		}
		out = append(out, lit{from, f.b + d}, s.beforeLit(x, y))
		if cond.s >= 0 {
			out = append(out, cond)
		}
	case byClash:
		out = s.explainClash(model.OpID(e.why.x), model.OpID(e.why.y), at, out)
	case byTold:
		x := s.told[:e.why.x+1][e.why.x] // it may have been taken back just now
		out = append(out, s.arena[:x.first+x.n][x.first:]...)
	}
	return out
}

// durationAt returns the shortest length of an operation before an event, with the
// fact that it depends on.
func (s *search) durationAt(o *opInfo, at int32) (int64, lit) {
	if o.choice >= 0 {
		for c, d := range o.durAt {
			if l := choiceLit(o.choice, c); d > o.dur && s.boundAt(l.s, at) <= l.b {
				return d, l
			}
		}
	}
	return o.dur, noLit
}

// explainClash says why x cannot stand before y: it ends after y has to start. The
// literal that became true later is made as weak as that allows.
func (s *search) explainClash(x, y model.OpID, at int32, out []lit) []lit {
	d, cond := s.durationAt(&s.ops[x], at)
	from := lit{low(start(x)), s.boundAt(low(start(x)), at)}
	to := lit{high(start(y)), s.boundAt(high(start(y)), at)}
	slack := d - from.b - to.b - 1
	if s.madeTrue(from) > s.madeTrue(to) {
		from.b += slack
	} else {
		to.b += slack
	}
	out = append(out, from, to)
	if cond.s >= 0 {
		out = append(out, cond)
	}
	return out
}
