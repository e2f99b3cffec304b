package lcg

import (
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// side is a sided variable: 2v stands for x and 2v+1 for -x, so that a bound is
// always an upper one (as in Bit-Monnot 2023).
type side int32

func high(v int32) side { return side(2 * v) }
func low(v int32) side  { return side(2*v + 1) }

func (s side) variable() int32 { return int32(s) >> 1 }
func (s side) isLow() bool     { return s&1 == 1 }

// lit is the fact that a sided variable is at most a bound.
type lit struct {
	s side
	b int64
}

var noLit = lit{s: -1}

func atMost(v int32, b int64) lit  { return lit{high(v), b} }
func atLeast(v int32, b int64) lit { return lit{low(v), -b} }

// not returns the opposite.
func (l lit) not() lit { return lit{l.s ^ 1, -l.b - 1} }

// fact returns the literal as proofs tell it.
func (l lit) fact() solve.Fact {
	f := solve.Fact{Variable: constraints.Variable(l.s.variable()), AtLeast: l.s.isLow(), Value: model.Time(l.b)}
	if f.AtLeast {
		f.Value = -f.Value
	}
	return f
}

// choiceLit says that a choice is split (0) or fused (1).
func choiceLit(v int32, which int) lit {
	if which == 0 {
		return atMost(v, 0)
	}
	return atLeast(v, 1)
}

// reasonKind says why a bound holds.
type reasonKind uint8

const (
	decided  reasonKind = iota
	byNogood            // x: its number
	byEdge              // x: the sided variable that pushed, y: the edge in its list
	byOrder             // the edge from operation x to operation y, which its order activates
	byClash             // operation x cannot stand before operation y: it is too late for that
	byTold              // x: index in told
)

type reason struct {
	kind reasonKind
	x, y int32
}

// event is a change of a bound.
type event struct {
	s        side
	level    int32
	prev     int32 // the event before on the same side, -1 if none
	why      reason
	old, now int64
}

// explanation is a step that was written down when it was made.
type explanation struct {
	first, n int32 // its facts in search.arena
	rule     solve.ProofRule
	device   int32
	op       model.OpID
	ops      []model.OpID
	begin    int64
	end      int64
}

// trail is the state of a search that backtracking restores.
type trail struct {
	ub     []int64 // by side
	last   []int32 // by side: its latest event, -1 if none
	events []event
	levels []int32 // by level, from 1 on: the number of events before it
	next   int     // events before this one have been propagated
	arena  []lit
	told   []explanation
}

func (t *trail) level() int32 { return int32(len(t.levels)) }

func (t *trail) lo(v int32) int64 { return -t.ub[low(v)] }
func (t *trail) hi(v int32) int64 { return t.ub[high(v)] }

// holds reports whether a literal is implied.
func (t *trail) holds(l lit) bool { return t.ub[l.s] <= l.b }

// fails reports whether its opposite is implied.
func (t *trail) fails(l lit) bool { return -t.ub[l.s^1] > l.b }

// note records a tighter bound.
func (t *trail) note(l lit, why reason) {
	t.events = append(t.events, event{l.s, t.level(), t.last[l.s], why, t.ub[l.s], l.b})
	t.last[l.s] = int32(len(t.events) - 1)
	t.ub[l.s] = l.b
}

// pop takes back the latest event.
func (t *trail) pop() {
	e := &t.events[len(t.events)-1]
	t.ub[e.s], t.last[e.s] = e.old, e.prev
	if e.why.kind == byTold {
		x := &t.told[e.why.x]
		t.arena = t.arena[:x.first]
		t.told = t.told[:e.why.x]
	}
	t.events = t.events[:len(t.events)-1]
}

// open begins a level.
func (t *trail) open() { t.levels = append(t.levels, int32(len(t.events))) }

// madeTrue returns the event that made a literal true, -1 if it always was.
func (t *trail) madeTrue(l lit) int32 {
	at := t.last[l.s]
	for at >= 0 && t.events[at].old <= l.b {
		at = t.events[at].prev
	}
	return at
}

// boundAt returns the bound of a side just before an event.
func (t *trail) boundAt(s side, before int32) int64 {
	b := t.ub[s]
	for at := t.last[s]; at >= before; at = t.events[at].prev {
		b = t.events[at].old
	}
	return b
}
