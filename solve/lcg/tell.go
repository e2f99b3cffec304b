package lcg

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// What a search tells of its reasoning, see solve.Trace and docs/proof.md.

// stepAt is a step and the event that it explains, by which steps are ordered.
type stepAt struct {
	at   int32
	step solve.Step
}

// record keeps the step that explains a literal by facts.
func (s *search) record(e *event, f lit, at int32, facts []lit) {
	if s.trace == nil {
		return
	}
	s.learner.steps = append(s.learner.steps, stepAt{at, s.step(e, append(slices.Clone(facts), f.not()))})
}

// step returns the step of an event; facts includes the opposite of what it implied.
func (s *search) step(e *event, facts []lit) solve.Step {
	st := solve.Step{Device: -1, Op: -1}
	switch e.why.kind {
	case byNogood:
		return solve.Step{Rule: solve.LearnedRule, Nogood: s.nogoods[e.why.x].number, Device: -1, Op: -1}
	case byEdge:
		from, to := side(e.why.x), s.edges[e.why.x][e.why.y].to
		if !from.isLow() {
			from, to = to, from
		}
		st.Rule, st.From, st.To = solve.EdgeRule, constraints.Variable(from.variable()), constraints.Variable(to.variable())
		if from.variable() >= s.firstPos {
			st.Rule = solve.MonotoneRule
		}
	case byOrder, byClash:
		st.Rule = solve.EdgeRule
		st.From, st.To = constraints.Variable(start(model.OpID(e.why.x))), constraints.Variable(start(model.OpID(e.why.y)))
	case byTold:
		x := s.told[:e.why.x+1][e.why.x]
		st = toldStep(&x, nil)
		if x.rule == solve.OrderRule {
			st.From = constraints.Variable(e.s.variable())
		}
	}
	st.Facts = factsOf(facts)
	return st
}

func toldStep(x *explanation, facts []lit) solve.Step {
	return solve.Step{Rule: x.rule, Device: x.device, Op: x.op, Ops: x.ops,
		Begin: model.Time(x.begin), End: model.Time(x.end), Facts: factsOf(facts)}
}

func factsOf(lits []lit) []solve.Fact {
	facts := make([]solve.Fact, len(lits))
	for i, l := range lits {
		facts[i] = l.fact()
	}
	return facts
}

// tellNogood tells a nogood with the steps recorded, oldest first, and returns its
// number.
func (s *search) tellNogood(lits []lit) int64 {
	if s.trace == nil {
		return -1
	}
	l := &s.learner
	slices.SortStableFunc(l.steps, func(a, b stepAt) int { return cmp.Compare(a.at, b.at) })
	l.out = l.out[:0]
	for i := range l.steps {
		l.out = append(l.out, l.steps[i].step)
	}
	s.trace.Learn(factsOf(lits), l.out)
	s.numbered++
	return s.numbered - 1
}

// tellRoot tells the latest event, which is known from now on.
func (s *search) tellRoot() {
	if s.trace == nil {
		return
	}
	e := &s.events[len(s.events)-1]
	f := lit{e.s, e.now}
	facts := s.explain(e, f, int32(len(s.events)-1), nil)
	s.trace.Learn([]solve.Fact{f.not().fact()}, []solve.Step{s.step(e, append(facts, f.not()))})
	s.numbered++
}

// failAtRoot notes that what is known excludes every schedule.
func (s *search) failAtRoot() {
	s.impossible = true
	if s.trace != nil {
		s.trace.Learn(nil, []solve.Step{s.conflict.step})
		s.numbered++
	}
}

// tellNothing tells that what is known has become contradictory.
func (s *search) tellNothing() {
	if s.trace != nil {
		s.trace.Learn(nil, nil)
		s.numbered++
	}
}

func (s *search) forget(number int64) {
	if s.trace != nil {
		s.trace.Forget(number)
	}
}
