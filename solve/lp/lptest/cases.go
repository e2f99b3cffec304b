package lptest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// Assignment returns the linear program of assigning n agents to n tasks, which is
// degenerate through and through: 2n equations of rank 2n-1 over n² columns.
func Assignment(n int) *lp.Problem {
	p := &lp.Problem{Rows: make([]lp.Row, 2*n)}
	for i := range p.Rows {
		p.Rows[i].Lower, p.Rows[i].Upper = 1, 1
	}
	for i := range n {
		for j := range n {
			for _, r := range []int{i, n + j} {
				p.Rows[r].Cols = append(p.Rows[r].Cols, len(p.Objective))
				p.Rows[r].Values = append(p.Rows[r].Values, 1)
			}
			p.Objective = append(p.Objective, float64((i*7+j*j*5+i*j*3)%11))
		}
	}
	return p
}

// assignment compares with the best of all permutations.
func assignment(t *testing.T, s lp.Solver) {
	for n := 1; n <= 6; n++ {
		p := Assignment(n)
		best := math.Inf(1)
		used := make([]bool, n)
		var assign func(i int, cost float64)
		assign = func(i int, cost float64) {
			if i == n {
				best = min(best, cost)
				return
			}
			for j := range n {
				if !used[j] {
					used[j] = true
					assign(i+1, cost+p.Objective[i*n+j])
					used[j] = false
				}
			}
		}
		assign(0, 0)
		expect(t, s, p, nil, nil, lp.Optimal, best)
	}
}

// cancelled tests that a solve ends with its context, before and during it.
func cancelled(t *testing.T, s lp.Solver) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := lp.Solve(ctx, s, Assignment(5)); err != nil || got.Status != lp.Limit {
		t.Fatalf("with an ended context: %v, %v", got, err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err := lp.Solve(ctx, s, Assignment(30))
		if err != nil || got.Status != lp.Limit && got.Status != lp.Optimal {
			t.Errorf("with a context that ends: %v, %v", got, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the solve goes on after its context")
	}
}

func malformed(t *testing.T, s lp.Solver) {
	nan := math.NaN()
	for name, p := range map[string]*lp.Problem{
		"lengths":        {Objective: []float64{1}, Lower: []float64{1, 2}},
		"column":         {Objective: []float64{1}, Rows: []lp.Row{row(0, 1, 1, 1)}},
		"column twice":   {Objective: []float64{1}, Rows: []lp.Row{row(0, 1, 0, 1, 0, 1)}},
		"objective":      {Objective: []float64{inf}},
		"value":          {Objective: []float64{1}, Rows: []lp.Row{row(0, 1, 0, nan)}},
		"bound":          {Objective: []float64{1}, Upper: []float64{nan}},
		"infinite bound": {Objective: []float64{1}, Lower: []float64{inf}},
		"row bound":      {Objective: []float64{1}, Rows: []lp.Row{row(inf, inf, 0, 1)}},
	} {
		if _, err := s.Load(p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	m, err := s.Load(Assignment(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Solve(context.Background(), []float64{0}, nil); err == nil {
		t.Error("lower bounds of the wrong length: no error")
	}
}
