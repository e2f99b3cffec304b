// Package ilp solves integer linear programs by branch and bound over the linear
// relaxation (Land and Doig 1960; best bound first, with dives): for questions of
// placement and partition, and to check other searches on small cases. What it
// can take depends on the lp.Solver that it is given.
package ilp

import (
	"context"
	"math"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// Problem is a linear program some of whose columns must be whole. Integer has a
// value for each column.
type Problem struct {
	lp.Problem
	Integer []bool
}

// Status is the outcome of a solve.
type Status uint8

// The outcomes.
const (
	Unknown    Status = iota // a limit came before any point was found
	Feasible                 // X is a point, and none is better than Bound
	Optimal                  // X is a best point
	Infeasible               // there is no point
	Unbounded                // the relaxation is unbounded
)

var statusNames = []string{"unknown", "feasible", "optimal", "infeasible", "unbounded"}

func (s Status) String() string { return statusNames[s] }

// Options steer a solve. The zero value is valid.
type Options struct {
	MaxNodes  int       // relaxations solved at most; 0: no limit
	Incumbent []float64 // a point to improve on; nil if none is known
}

// Result is what a solve found.
type Result struct {
	Status    Status
	X         []float64 // with status Feasible or Optimal; integer columns are exactly whole
	Objective float64
	Bound     float64 // no point has a lower objective, up to Gap
	Nodes     int     // relaxations solved
}

// Gap is how much better than the best point so far, relative to 1 + its absolute
// objective, a point must be for the search to look for it.
const Gap = 1e-6

// whole is how far from an integer a value may be.
const whole = 1e-6

// Solve searches for a best point. It is deterministic unless the context or
// MaxNodes ends it; then the best point so far is the result, and no error. The
// memory grows with the number of open nodes, two bounds for each column of each.
//
// Errors: those of the solver, one for an Integer of the wrong length, and one for
// coefficients so large that whole and nearly whole columns differ.
func Solve(ctx context.Context, s lp.Solver, p *Problem, o Options) (*Result, error) {
	b, err := newSearch(ctx, s, p, o)
	if err != nil {
		return nil, err
	}
	if err := b.run(); err != nil {
		return nil, err
	}
	return b.result(), nil
}

// result sums up a search that has ended.
func (b *search) result() *Result {
	r := &Result{X: b.best, Objective: b.value, Bound: b.bound(), Nodes: b.nodes}
	switch {
	case b.unbounded:
		r.Status, r.X, r.Bound = Unbounded, nil, math.Inf(-1)
	case b.best == nil && b.ended:
		r.Status, r.Bound = Unknown, b.bound()
	case b.best == nil:
		r.Status, r.Bound = Infeasible, math.Inf(1)
	case b.ended && r.Bound < b.worth():
		r.Status = Feasible
	default:
		r.Status, r.Bound = Optimal, b.value
	}
	return r
}
