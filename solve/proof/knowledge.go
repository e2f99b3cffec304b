package proof

import (
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// interval holds the values that a variable may have; none if lo > hi.
type interval struct{ lo, hi model.Time }

func (i interval) implies(f solve.Fact) bool {
	if f.AtLeast {
		return i.lo >= f.Value
	}
	return i.hi <= f.Value
}

// narrow returns the interval with a fact beside it.
func (i interval) narrow(f solve.Fact) interval {
	if f.AtLeast {
		i.lo = max(i.lo, f.Value)
	} else {
		i.hi = min(i.hi, f.Value)
	}
	return i
}

func (i interval) empty() bool { return i.lo > i.hi }

// box holds an interval for every variable: what is known, and what is assumed
// beside it for a while.
type box struct {
	at      []interval
	changes []change
}

// change is what an assumption overwrote.
type change struct {
	variable constraints.Variable
	was      interval
}

// assume narrows an interval until the next undo, and reports whether it is empty
// then. Cost O(1).
func (b *box) assume(f solve.Fact) (empty bool) {
	i := &b.at[f.Variable]
	b.changes = append(b.changes, change{f.Variable, *i})
	*i = i.narrow(f)
	return i.empty()
}

// undo takes back all assumptions. Cost O(assumptions).
func (b *box) undo() {
	for k := len(b.changes) - 1; k >= 0; k-- {
		b.at[b.changes[k].variable] = b.changes[k].was
	}
	b.changes = b.changes[:0]
}

// know narrows an interval for good, and reports whether it is empty then. Nothing
// may be assumed.
func (b *box) know(f solve.Fact) (empty bool) {
	i := &b.at[f.Variable]
	*i = i.narrow(f)
	return i.empty()
}
