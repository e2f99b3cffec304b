// Package lptest is the conformance suite of lp.Solver: every implementation
// passes it.
//
// Optimal solutions are not compared with another solver's but proved: the suite
// states the dual program, has it solved too, tests both points with its own
// arithmetic, and compares the two objectives, which agree only if both points are
// best (strong duality). Infeasibility and unboundedness come by construction.
package lptest

import (
	"context"
	"math"
	"testing"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// Run tests a solver.
func Run(t *testing.T, s lp.Solver) {
	t.Run("known", func(t *testing.T) { known(t, s) })
	t.Run("random", func(t *testing.T) { random(t, s) })
	t.Run("infeasible", func(t *testing.T) { infeasible(t, s) })
	t.Run("unbounded", func(t *testing.T) { unbounded(t, s) })
	t.Run("bounds", func(t *testing.T) { changedBounds(t, s) })
	t.Run("assignment", func(t *testing.T) { assignment(t, s) })
	t.Run("context", func(t *testing.T) { cancelled(t, s) })
	t.Run("form", func(t *testing.T) { malformed(t, s) })
}

var inf = math.Inf(1)

// row builds a row from pairs of column and value.
func row(lower, upper float64, pairs ...float64) lp.Row {
	r := lp.Row{Lower: lower, Upper: upper}
	for i := 0; i < len(pairs); i += 2 {
		r.Cols, r.Values = append(r.Cols, int(pairs[i])), append(r.Values, pairs[i+1])
	}
	return r
}

type example struct {
	name   string
	p      lp.Problem
	status lp.Status
	value  float64
}

var examples = []example{
	{"no columns", lp.Problem{}, lp.Optimal, 0},
	{"no rows", lp.Problem{Objective: []float64{1, -1}, Lower: []float64{2, 0}, Upper: []float64{5, 3}}, lp.Optimal, -1},
	{"no rows, no end", lp.Problem{Objective: []float64{-1}}, lp.Unbounded, 0},
	{"no rows, no cost, free", lp.Problem{Objective: []float64{0}, Lower: []float64{-inf}}, lp.Optimal, 0},
	{"crossed bounds", lp.Problem{Objective: []float64{1}, Lower: []float64{2}, Upper: []float64{1}}, lp.Infeasible, 0},
	{"empty row", lp.Problem{Objective: []float64{1}, Rows: []lp.Row{row(0, 1)}}, lp.Optimal, 0},
	{"empty row that cannot be", lp.Problem{Objective: []float64{1}, Rows: []lp.Row{row(1, 2)}}, lp.Infeasible, 0},
	{"two resources", // Dantzig: max 3x+5y, x<=4, 2y<=12, 3x+2y<=18
		lp.Problem{Objective: []float64{-3, -5}, Rows: []lp.Row{row(-inf, 4, 0, 1), row(-inf, 12, 1, 2), row(-inf, 18, 0, 3, 1, 2)}}, lp.Optimal, -36},
	{"ranges and free columns",
		lp.Problem{Objective: []float64{1, 2}, Lower: []float64{-inf, -inf}, Rows: []lp.Row{row(4, 9, 0, 1, 1, 1), row(-5, 3, 0, 3, 1, -1)}}, lp.Optimal, 6.25},
	{"only upper bounds",
		lp.Problem{Objective: []float64{-1, -1}, Lower: []float64{-inf, -inf}, Upper: []float64{3, 4}, Rows: []lp.Row{row(-inf, 5, 0, 1, 1, 2)}}, lp.Optimal, -4},
	{"equations, one of them twice over",
		lp.Problem{Objective: []float64{1, 1, 1}, Rows: []lp.Row{row(3, 3, 0, 1, 1, 1), row(5, 5, 1, 1, 2, 1), row(8, 8, 0, 1, 1, 2, 2, 1), row(6, 6, 0, 2, 1, 2)}}, lp.Optimal, 5},
	{"equations that contradict",
		lp.Problem{Objective: []float64{1, 1, 1}, Rows: []lp.Row{row(3, 3, 0, 1, 1, 1), row(5, 5, 1, 1, 2, 1), row(9, 9, 0, 1, 1, 2, 2, 1)}}, lp.Infeasible, 0},
	{"as many equations as columns",
		lp.Problem{Objective: []float64{1, 1}, Rows: []lp.Row{row(3, 3, 0, 1, 1, 1), row(1, 1, 0, 1, 1, -1)}}, lp.Optimal, 3},
	{"parallel rows", lp.Problem{Objective: []float64{-1, -1}, Rows: []lp.Row{row(-inf, 4, 0, 1, 1, 2), row(-6, inf, 0, -2, 1, -4), row(-inf, 5, 0, 3, 1, 1)}}, lp.Optimal, -2.2},
	{"fixed columns", lp.Problem{Objective: []float64{1, 1, -1}, Lower: []float64{2, 0, 0}, Upper: []float64{2, inf, inf}, Rows: []lp.Row{row(5, inf, 0, 1, 1, 1), row(-inf, 4, 0, 1, 2, 1)}}, lp.Optimal, 3},
	{"cycling", // Beale 1955
		lp.Problem{Objective: []float64{-0.75, 150, -0.02, 6}, Rows: []lp.Row{row(-inf, 0, 0, 0.25, 1, -60, 2, -0.04, 3, 9), row(-inf, 0, 0, 0.5, 1, -90, 2, -0.02, 3, 3), row(-inf, 1, 2, 1)}}, lp.Optimal, -0.05},
	{"cube of Klee and Minty",
		lp.Problem{Objective: []float64{-100, -10, -1}, Rows: []lp.Row{row(-inf, 1, 0, 1), row(-inf, 100, 0, 20, 1, 1), row(-inf, 10000, 0, 200, 1, 20, 2, 1)}}, lp.Optimal, -10000},
	{"unbounded ray", lp.Problem{Objective: []float64{-1, 0}, Rows: []lp.Row{row(-1, inf, 0, -1, 1, 1)}}, lp.Unbounded, 0},
	{"unbounded, were it feasible", lp.Problem{Objective: []float64{-1, 0, 0}, Rows: []lp.Row{row(3, inf, 1, 1, 2, 1), row(-inf, 2, 1, 1, 2, 1), row(0, inf, 0, 1, 1, 1)}}, lp.Infeasible, 0},
}

func known(t *testing.T, s lp.Solver) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) { expect(t, s, &e.p, nil, nil, e.status, e.value) })
	}
}

// expect solves a program and tests the outcome.
func expect(t *testing.T, s lp.Solver, p *lp.Problem, lower, upper []float64, status lp.Status, value float64) {
	t.Helper()
	m, err := s.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	got := solve(t, m, lower, upper)
	if got.Status != status {
		t.Fatalf("%s, want %s", got.Status, status)
	}
	if status == lp.Optimal {
		feasible(t, p, got, lower, upper)
		near(t, got.Objective, value)
	}
}

func solve(t *testing.T, m lp.Model, lower, upper []float64) *lp.Solution {
	t.Helper()
	got, err := m.Solve(context.Background(), lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func feasible(t *testing.T, p *lp.Problem, s *lp.Solution, lower, upper []float64) {
	t.Helper()
	lo, hi, err := p.Bounds(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.X) != len(p.Objective) || !p.Fits(s.X, lo, hi) {
		t.Fatalf("the point %v breaks a bound", s.X)
	}
	near(t, s.Objective, p.Value(s.X))
}

func near(t *testing.T, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 10*lp.Tolerance*(1+math.Abs(want)) {
		t.Fatalf("objective %g, want %g", got, want)
	}
}
