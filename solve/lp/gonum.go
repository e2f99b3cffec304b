package lp

import (
	"context"
	"errors"
)

// Gonum returns the solver in pure Go. It brings a program into the standard form
// of gonum's lp.Simplex, which is dense and factors its basis anew in every step:
// O(rows³) for each of some 2 × rows steps, where a column with two finite bounds,
// neither of which follows from a row, counts as a further row. Programs of 8 rows
// take about a millisecond, of 16 ten, of 48 more than half a second, of 100 minutes:
// it serves small programs, and as a second opinion in tests. It starts from scratch
// every time. On degenerate programs gonum may fail by rounding, which is an error;
// that is rare, since fixed columns and empty, redundant, parallel and linearly
// dependent rows are taken out before, gonum starts from a basis that is known to be
// feasible, and what fails is tried again with values moved a little.
func Gonum() Solver { return gonumSolver{} }

type gonumSolver struct{}

func (gonumSolver) Name() string { return "gonum" }

func (gonumSolver) Load(p *Problem) (Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return &gonumModel{p}, nil
}

type gonumModel struct{ p *Problem }

func (m *gonumModel) Solve(ctx context.Context, lower, upper []float64) (*Solution, error) {
	lo, hi, err := m.p.Bounds(lower, upper)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return &Solution{Status: Limit}, nil
	}
	r := reduce(m.p, lo, hi)
	if r.infeasible {
		return &Solution{Status: Infeasible}, nil
	}
	y, status, err := r.standard().solve(ctx)
	if err != nil {
		return nil, err
	}
	if status == Optimal && r.unbounded {
		status = Unbounded
	}
	if status != Optimal {
		return &Solution{Status: status}, nil
	}
	x := r.expand(y)
	if !m.p.Fits(x, lo, hi) {
		return nil, errors.New("lp: gonum's solution is off by more than rounding")
	}
	return &Solution{Status: Optimal, X: x, Objective: m.p.Value(x)}, nil
}
