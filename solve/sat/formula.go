package sat

import "context"

// literal is a variable, from 1, or with a minus sign its opposite.
type literal int32

// The constants: variable 1 is true in every formula.
const (
	yes literal = 1
	no  literal = -1
)

// formula is a list of clauses. When the context ends or there are too many
// clauses it takes no more, and tells by full.
type formula struct {
	ctx       context.Context
	variables int32
	clauses   int
	literals  []literal // of all clauses, a 0 behind each
	tooLarge  bool
	stopped   bool
}

func newFormula(ctx context.Context) *formula {
	f := &formula{ctx: ctx, variables: 1}
	f.literals = append(f.literals, yes, 0)
	f.clauses++
	return f
}

// full reports whether the formula takes no more clauses.
func (f *formula) full() bool { return f.tooLarge || f.stopped }

// fresh returns n new variables: the first.
func (f *formula) fresh(n int) literal {
	first := f.variables + 1
	f.variables += int32(n)
	return literal(first)
}

// add demands that one of the literals is true.
func (f *formula) add(clause ...literal) {
	if f.full() {
		return
	}
	at := len(f.literals)
	for _, l := range clause {
		switch l {
		case yes:
			f.literals = f.literals[:at]
			return
		case no:
		default:
			f.literals = append(f.literals, l)
		}
	}
	if len(f.literals) == at {
		f.literals = append(f.literals, no) // a clause without literals cannot be read by all solvers
	}
	f.literals = append(f.literals, 0)
	f.clauses++
	f.tooLarge = f.clauses >= maxClauses
	if f.clauses%1024 == 0 {
		f.stopped = f.ctx.Err() != nil
	}
}
