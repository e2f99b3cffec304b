// Package lp is the layer of linear programs: what one is, what a solver must do,
// and a solver in pure Go.
//
// The default, Gonum, stands on gonum's dense simplex method, and is meant for
// programs of up to some 50 rows. Package clp holds a solver for larger ones, in
// builds that have it. Whoever needs a solver is given one: there is no registry.
package lp

import (
	"context"
	"fmt"
	"math"
)

// Problem is a linear program: minimise Objective·x, where each row keeps its
// bounds and each column lies within Lower and Upper. Bounds may be infinite; a
// nil Lower means 0 for every column, a nil Upper +Inf. The number of columns is
// the length of Objective.
type Problem struct {
	Objective    []float64
	Lower, Upper []float64
	Rows         []Row
}

// Row is the constraint Lower <= sum of Values[k]·x[Cols[k]] <= Upper. A column
// stands in a row at most once.
type Row struct {
	Cols         []int
	Values       []float64
	Lower, Upper float64
}

// Status is the outcome of a solve.
type Status uint8

// The outcomes.
const (
	Limit      Status = iota // the context or a limit of the solver ended it
	Optimal                  // X is a best point
	Infeasible               // no point keeps all bounds
	Unbounded                // there are points of any objective, however low
)

var statusNames = []string{"limit", "optimal", "infeasible", "unbounded"}

func (s Status) String() string { return statusNames[s] }

// Solution is what a solver found. X and Objective mean something only with
// status Optimal: X keeps all bounds within Tolerance, relative to the size of
// what it is compared with.
type Solution struct {
	Status    Status
	X         []float64
	Objective float64
}

// Tolerance is how far a point may be off a bound, relative to 1 + the absolute
// value of the bound or of the largest term of the row.
const Tolerance = 1e-6

// Solver solves linear programs.
type Solver interface {
	// Name returns one lower-case word.
	Name() string

	// Load prepares a program, which must not change while the model is in use.
	// Errors: those of Problem.Check, and what the solver cannot hold.
	Load(p *Problem) (Model, error)
}

// Model is a program that a solver has loaded. It is for one goroutine.
type Model interface {
	// Solve solves the program with other bounds of the columns; nil leaves those
	// of the program. Whoever solves one model again and again, with few bounds
	// changed, lets the solver start where it ended, if it can. The result depends
	// on nothing but the sequence of calls.
	//
	// When the context ends, Solve returns soon, with status Limit. Errors: bounds
	// of the wrong length or that are not numbers, and numerical trouble.
	Solve(ctx context.Context, lower, upper []float64) (*Solution, error)
}

// Solve loads and solves a program once. Errors: those of Load and Model.Solve.
func Solve(ctx context.Context, s Solver, p *Problem) (*Solution, error) {
	m, err := s.Load(p)
	if err != nil {
		return nil, err
	}
	return m.Solve(ctx, nil, nil)
}

// Check tests the form of a program: lengths, indices, numbers. Bounds that cross
// are no error, they make it infeasible. Cost O(non-zeros + columns).
func (p *Problem) Check() error {
	if err := p.checkBounds(p.Lower, p.Upper); err != nil {
		return err
	}
	for j, c := range p.Objective {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("lp: objective of column %d is %g", j, c)
		}
	}
	last := make([]int, len(p.Objective)) // by column: 1 + the last row that has it
	for i := range p.Rows {
		if err := p.checkRow(i, last); err != nil {
			return err
		}
	}
	return nil
}

func (p *Problem) checkRow(i int, last []int) error {
	r := &p.Rows[i]
	if len(r.Cols) != len(r.Values) {
		return fmt.Errorf("lp: row %d has %d columns and %d values", i, len(r.Cols), len(r.Values))
	}
	if !bound(r.Lower, r.Upper) {
		return fmt.Errorf("lp: row %d has bounds %g and %g", i, r.Lower, r.Upper)
	}
	for k, j := range r.Cols {
		switch {
		case j < 0 || j >= len(last):
			return fmt.Errorf("lp: row %d names column %d of %d", i, j, len(last))
		case last[j] == i+1:
			return fmt.Errorf("lp: row %d names column %d twice", i, j)
		case math.IsNaN(r.Values[k]) || math.IsInf(r.Values[k], 0):
			return fmt.Errorf("lp: row %d has %g for column %d", i, r.Values[k], j)
		}
		last[j] = i + 1
	}
	return nil
}

func (p *Problem) checkBounds(lower, upper []float64) error {
	n := len(p.Objective)
	if lower != nil && len(lower) != n || upper != nil && len(upper) != n {
		return fmt.Errorf("lp: %d lower and %d upper bounds for %d columns", len(lower), len(upper), n)
	}
	for j := range n {
		if lo, hi := at(lower, j, 0), at(upper, j, math.Inf(1)); !bound(lo, hi) {
			return fmt.Errorf("lp: column %d has bounds %g and %g", j, lo, hi)
		}
	}
	return nil
}

// bound reports whether two numbers can be a lower and an upper bound.
func bound(lo, hi float64) bool {
	return !math.IsNaN(lo) && !math.IsNaN(hi) && !math.IsInf(lo, 1) && !math.IsInf(hi, -1)
}

func at(list []float64, i int, none float64) float64 {
	if list == nil {
		return none
	}
	return list[i]
}

// Bounds returns the bounds of all columns, those given in place of the
// program's, as slices that the caller owns. Errors as Model.Solve.
func (p *Problem) Bounds(lower, upper []float64) (lo, hi []float64, err error) {
	if err := p.checkBounds(lower, upper); err != nil {
		return nil, nil, err
	}
	if lower == nil {
		lower = p.Lower
	}
	if upper == nil {
		upper = p.Upper
	}
	for j := range p.Objective {
		lo = append(lo, at(lower, j, 0))
		hi = append(hi, at(upper, j, math.Inf(1)))
	}
	return lo, hi, nil
}

// Value returns the objective of a point.
func (p *Problem) Value(x []float64) float64 {
	sum := 0.0
	for j, c := range p.Objective {
		sum += c * x[j]
	}
	return sum
}

// Fits reports whether a point keeps the rows, and the bounds of the columns
// given, within Tolerance. Cost O(non-zeros + columns).
func (p *Problem) Fits(x, lower, upper []float64) bool {
	for j, v := range x {
		if !within(v, lower[j], upper[j], math.Abs(v)) {
			return false
		}
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		sum, largest := 0.0, 0.0
		for k, j := range r.Cols {
			term := r.Values[k] * x[j]
			sum += term
			largest = max(largest, math.Abs(term))
		}
		if !within(sum, r.Lower, r.Upper, largest) {
			return false
		}
	}
	return true
}

func within(v, lo, hi, size float64) bool {
	return v >= lo-slack(lo, size) && v <= hi+slack(hi, size)
}

func slack(bound, size float64) float64 {
	if math.IsInf(bound, 0) {
		return 0
	}
	return Tolerance * (1 + max(math.Abs(bound), size))
}
