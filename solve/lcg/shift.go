package lcg

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// For the span, a schedule in which a device starts late may be better than the plan
// with the same orders, whose value is measured with every operation as early as they
// allow. A search for plans therefore moves everything as early as it can be, once all
// orders are decided, and takes it as a conflict if the span is then too long. That
// holds for plans whose sequences run in index order, not for every schedule: such a
// search tells no proof and claims no bound.

// shift makes every start as early as the orders allow. It reports whether a bound has
// moved or there is a conflict; then the search has to go on.
func (s *search) shift() (changed, ok bool) {
	before := len(s.events)
	order := slices.Clone(s.order)
	slices.SortStableFunc(order, func(a, b model.OpID) int { return cmp.Compare(s.earliest(a), s.earliest(b)) })
	for again := true; again; {
		again = false
		for _, op := range order {
			mark := len(s.events)
			if !s.shiftOne(op) {
				return true, false
			}
			again = again || len(s.events) > mark
		}
	}
	return len(s.events) > before, true
}

// before is an operation that another one starts after, and how long after its start.
type before struct {
	op   model.OpID
	wait int64
}

// shiftOne lets an operation start when the last of those before it allows it.
func (s *search) shiftOne(op model.OpID) bool {
	s.befores = s.befores[:0]
	var facts []lit
	for i := range s.edges[high(start(op))] {
		e := &s.edges[high(start(op))][i]
		if v := e.to.variable(); v > 0 && v < s.choiceBegin() && (e.cond.s < 0 || s.holds(e.cond)) {
			s.befores = append(s.befores, before{model.OpID(v - 1), e.weight})
		}
	}
	o := &s.ops[op]
	for i := range s.seqs[o.seq].partners {
		p := &s.seqs[o.seq].partners[i]
		others := s.seqs[p.seq].ops
		_, n := s.counts(o, p)
		if n < len(others) {
			facts = append(facts, s.beforeLit(op, others[n]))
		}
		if n > 0 {
			s.befores = append(s.befores, before{others[n-1], s.duration(&s.ops[others[n-1]])})
		}
	}
	latest := int64(0)
	for _, b := range s.befores {
		latest = max(latest, s.latest(b.op)+b.wait)
	}
	if latest >= s.latest(op) {
		return true
	}
	for _, b := range s.befores {
		facts = append(facts, atMost(start(b.op), latest-b.wait))
		if c := s.ops[b.op].choice; c >= 0 {
			facts = append(facts, choiceLit(c, int(s.lo(c))))
		}
	}
	return s.tell(atMost(start(op), latest), explanation{device: -1, op: -1}, facts)
}
