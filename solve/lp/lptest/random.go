package lptest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// draw makes a program that a point, which it returns too, satisfies: some rows
// are equations, some ranges, some repeat others; bounds of all kinds; small whole
// numbers, so that many vertices are degenerate.
func draw(seed uint64) (*lp.Problem, []float64) {
	r := rand.New(rand.NewPCG(seed, 0x11ea))
	n, rows := 1+r.IntN(7), r.IntN(8)
	p := &lp.Problem{}
	point := make([]float64, n)
	for j := range n {
		point[j] = float64(r.IntN(9) - 4)
		p.Objective = append(p.Objective, float64(r.IntN(11)-5))
		lo, hi := point[j]-float64(r.IntN(3)), point[j]+float64(r.IntN(3))
		if r.IntN(3) == 0 {
			lo = -inf
		}
		if r.IntN(2) == 0 {
			hi = inf
		}
		p.Lower, p.Upper = append(p.Lower, lo), append(p.Upper, hi)
	}
	for i := range rows {
		p.Rows = append(p.Rows, drawRow(r, p, i, point))
	}
	return p, point
}

func drawRow(r *rand.Rand, p *lp.Problem, i int, point []float64) lp.Row {
	var row lp.Row
	if i > 0 && r.IntN(5) == 0 { // the difference or a multiple of rows before it
		a, b := &p.Rows[r.IntN(i)], &p.Rows[r.IntN(i)]
		sum := make([]float64, len(point))
		for k, j := range a.Cols {
			sum[j] += 2 * a.Values[k]
		}
		for k, j := range b.Cols {
			sum[j] -= b.Values[k]
		}
		for j, v := range sum {
			row.Cols, row.Values = append(row.Cols, j), append(row.Values, v)
		}
	} else {
		for j := range point {
			if r.IntN(2) == 0 {
				row.Cols, row.Values = append(row.Cols, j), append(row.Values, float64(r.IntN(7)-3))
			}
		}
	}
	sum := 0.0
	for k, j := range row.Cols {
		sum += row.Values[k] * point[j]
	}
	row.Lower, row.Upper = sum, sum
	switch r.IntN(4) {
	case 0:
		row.Lower = -inf
		row.Upper += float64(r.IntN(3))
	case 1:
		row.Lower -= float64(r.IntN(3))
		row.Upper = inf
	case 2:
		row.Lower -= float64(r.IntN(3))
		row.Upper += float64(r.IntN(3))
	}
	return row
}

// dual returns the dual program, to be minimised: its value is minus that of the
// program. It has a column for each finite bound: of rows, then of columns.
func dual(p *lp.Problem) *lp.Problem {
	d := &lp.Problem{}
	for j := range p.Objective {
		d.Rows = append(d.Rows, lp.Row{Lower: p.Objective[j], Upper: p.Objective[j]})
	}
	multiplier := func(bound, sign float64, cols []int, values []float64) {
		if bound == inf || bound == -inf {
			return
		}
		for k, j := range cols {
			d.Rows[j].Cols = append(d.Rows[j].Cols, len(d.Objective))
			d.Rows[j].Values = append(d.Rows[j].Values, sign*values[k])
		}
		d.Objective = append(d.Objective, -sign*bound)
	}
	for _, r := range p.Rows {
		multiplier(r.Lower, 1, r.Cols, r.Values)
		multiplier(r.Upper, -1, r.Cols, r.Values)
	}
	lo, hi, _ := p.Bounds(nil, nil)
	for j := range p.Objective {
		multiplier(lo[j], 1, []int{j}, []float64{1})
		multiplier(hi[j], -1, []int{j}, []float64{1})
	}
	return d
}

// random proves the outcome for programs that have a point: a best point by a
// dual one of the same value, unboundedness by a dual without any point.
func random(t *testing.T, s lp.Solver) {
	statuses := map[lp.Status]int{}
	for seed := range uint64(2000) {
		p, point := draw(seed)
		lo, hi, _ := p.Bounds(nil, nil)
		if !p.Fits(point, lo, hi) {
			t.Fatalf("seed %d: the program is not what it should be", seed)
		}
		got, err := lp.Solve(context.Background(), s, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		other, err := lp.Solve(context.Background(), s, dual(p))
		if err != nil {
			t.Fatalf("seed %d, dual: %v", seed, err)
		}
		statuses[got.Status]++
		switch got.Status {
		case lp.Optimal:
			if other.Status != lp.Optimal {
				t.Fatalf("seed %d: optimal, its dual %s", seed, other.Status)
			}
			feasible(t, p, got, nil, nil)
			feasible(t, dual(p), other, nil, nil)
			near(t, other.Objective, -got.Objective)
		case lp.Unbounded:
			if other.Status != lp.Infeasible {
				t.Fatalf("seed %d: unbounded, its dual %s", seed, other.Status)
			}
		default:
			t.Fatalf("seed %d: %s", seed, got.Status)
		}
	}
	if statuses[lp.Optimal] < 500 || statuses[lp.Unbounded] < 100 {
		t.Fatalf("the programs are one-sided: %v", statuses)
	}
}

// infeasible adds to random programs two rows, no multiples of each other, that
// contradict a third.
func infeasible(t *testing.T, s lp.Solver) {
	for seed := range uint64(300) {
		p, _ := draw(seed)
		n := len(p.Objective)
		p.Objective = append(p.Objective, 0, 0)
		p.Lower, p.Upper = append(p.Lower, -inf, -inf), append(p.Upper, inf, inf)
		a, b := float64(n), float64(n+1)
		p.Rows = append(p.Rows, row(1, inf, a, 1, b, 1), row(1, inf, a, 1, b, -2), row(-inf, 2.5, a, 3))
		expect(t, s, p, nil, nil, lp.Infeasible, 0)
	}
}

// unbounded adds to random programs a direction that improves without end.
func unbounded(t *testing.T, s lp.Solver) {
	for seed := range uint64(300) {
		p, _ := draw(seed)
		n := float64(len(p.Objective))
		p.Objective = append(p.Objective, -1, 1)
		p.Lower, p.Upper = append(p.Lower, -inf, -5), append(p.Upper, inf, inf)
		p.Rows = append(p.Rows, row(-3, inf, n, -1, n+1, 2))
		expect(t, s, p, nil, nil, lp.Unbounded, 0)
	}
}

// changedBounds solves one model under bounds that come and go, and compares with
// fresh models.
func changedBounds(t *testing.T, s lp.Solver) {
	for seed := range uint64(100) {
		p, _ := draw(seed)
		r := rand.New(rand.NewPCG(seed, 0xb0d5))
		m, err := s.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			lo, hi, _ := p.Bounds(nil, nil)
			for j := range lo {
				if v := float64(r.IntN(9) - 4); r.IntN(3) == 0 {
					lo[j] = v
				} else if r.IntN(3) == 0 {
					hi[j] = v
				}
			}
			fresh, err := s.Load(p)
			if err != nil {
				t.Fatal(err)
			}
			got, want := solve(t, m, lo, hi), solve(t, fresh, lo, hi)
			if got.Status != want.Status {
				t.Fatalf("seed %d: %s, a fresh model %s", seed, got.Status, want.Status)
			}
			if got.Status == lp.Optimal {
				feasible(t, p, got, lo, hi)
				near(t, got.Objective, want.Objective)
			}
		}
	}
}
