//go:build clp && cgo

package clp

import (
	"context"
	"fmt"
	"math"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// Available says whether this build has CLP.
const Available = true

// New returns a solver. Its models keep their basis from one solve to the next: a
// solve after few changes of bounds takes few steps. Errors: none in this build.
func New() (lp.Solver, error) { return solver{}, nil }

type solver struct{}

func (solver) Name() string { return "clp" }

func (solver) Load(p *lp.Problem) (lp.Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := &model{p: p}
	used := make([]bool, len(p.Objective))
	for i := range p.Rows {
		for k, j := range p.Rows[i].Cols {
			used[j] = used[j] || p.Rows[i].Values[k] != 0
		}
	}
	for j, u := range used {
		if !u {
			m.alone = append(m.alone, j)
		}
	}
	if len(p.Objective) > 0 {
		m.clp = load(p)
	}
	return m, nil
}

type model struct {
	p     *lp.Problem
	clp   *instance // nil without columns, which CLP refuses
	alone []int     // columns in no row, which CLP can leave at the wrong bound
}

// settle fixes the columns that are in no row at their best value, and reports
// whether one has none.
func (m *model) settle(lo, hi []float64) (unbounded bool) {
	for _, j := range m.alone {
		v := min(max(0, lo[j]), hi[j])
		if c := m.p.Objective[j]; c > 0 {
			v = lo[j]
		} else if c < 0 {
			v = hi[j]
		}
		if math.IsInf(v, 0) {
			unbounded, v = true, 0
		}
		lo[j], hi[j] = v, v
	}
	return unbounded
}

func (m *model) Solve(ctx context.Context, lower, upper []float64) (*lp.Solution, error) {
	lo, hi, err := m.p.Bounds(lower, upper)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return &lp.Solution{Status: lp.Limit}, nil
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return &lp.Solution{Status: lp.Infeasible}, nil
		}
	}
	if m.clp == nil {
		return withoutColumns(m.p), nil
	}
	unbounded := m.settle(lo, hi)
	code := m.clp.solve(ctx, lo, hi)
	status, ok := statuses[code]
	if !ok {
		return nil, fmt.Errorf("clp: ended with status %d", code)
	}
	if status != lp.Optimal {
		return m.confirm(ctx, status, lo, hi)
	}
	x := m.clp.columns()
	for j := range x {
		x[j] = min(max(x[j], lo[j]), hi[j])
	}
	if !m.p.Fits(x, lo, hi) {
		return nil, fmt.Errorf("clp: the solution is off by more than rounding")
	}
	if unbounded {
		return &lp.Solution{Status: lp.Unbounded}, nil
	}
	return &lp.Solution{Status: lp.Optimal, X: x, Objective: m.p.Value(x)}, nil
}

// confirm tells unbounded from infeasible, by a program without costs: CLP may call
// either the other, for example where a column that is in no row improves for ever.
func (m *model) confirm(ctx context.Context, status lp.Status, lo, hi []float64) (*lp.Solution, error) {
	if status != lp.Limit {
		free := *m.p
		free.Objective = make([]float64, len(lo))
		switch code := load(&free).solve(ctx, lo, hi); code {
		case 0:
			status = lp.Unbounded
		default:
			status = statuses[code]
		}
	}
	if ctx.Err() != nil {
		status = lp.Limit
	}
	return &lp.Solution{Status: status}, nil
}

// statuses are the ends of CLP: 3 by its own limits, 5 by the watcher.
var statuses = map[int]lp.Status{0: lp.Optimal, 1: lp.Infeasible, 2: lp.Unbounded, 3: lp.Limit, 5: lp.Limit}

func withoutColumns(p *lp.Problem) *lp.Solution {
	for i := range p.Rows {
		if p.Rows[i].Lower > 0 || p.Rows[i].Upper < 0 {
			return &lp.Solution{Status: lp.Infeasible}
		}
	}
	return &lp.Solution{Status: lp.Optimal, X: []float64{}}
}

// limitless is how CLP writes an infinite bound.
const limitless = math.MaxFloat64

func finite(v float64) float64 { return min(max(v, -limitless), limitless) }
