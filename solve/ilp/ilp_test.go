package ilp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/solve/ilp"
	"github.com/flexpipe/flexpipe/solve/lp"
)

var inf = math.Inf(1)

// knapsack is a random knapsack with a second, lower bounded, resource.
func knapsack(seed uint64, n int) *ilp.Problem {
	r := rand.New(rand.NewPCG(seed, 0xa5))
	p := &ilp.Problem{}
	a, b := lp.Row{Lower: -inf}, lp.Row{Upper: inf}
	for j := range n {
		p.Objective = append(p.Objective, -float64(1+r.IntN(20)))
		p.Lower, p.Upper = append(p.Lower, -1), append(p.Upper, float64(r.IntN(3)))
		p.Integer = append(p.Integer, true)
		a.Cols, a.Values = append(a.Cols, j), append(a.Values, float64(1+r.IntN(9)))
		b.Cols, b.Values = append(b.Cols, j), append(b.Values, float64(r.IntN(9)-4))
	}
	a.Upper, b.Lower = float64(r.IntN(3*n)-n), float64(r.IntN(9)-3)
	p.Rows = []lp.Row{a, b}
	return p
}

// exhaust returns the best value over all whole points, +Inf if there is none.
func exhaust(p *ilp.Problem) float64 {
	best := inf
	x := make([]float64, len(p.Objective))
	var fill func(j int)
	fill = func(j int) {
		if j == len(x) {
			if p.Fits(x, p.Lower, p.Upper) {
				best = min(best, p.Value(x))
			}
			return
		}
		for v := p.Lower[j]; v <= p.Upper[j]; v++ {
			x[j] = v
			fill(j + 1)
		}
	}
	fill(0)
	return best
}

func solve(t *testing.T, p *ilp.Problem, o ilp.Options) *ilp.Result {
	t.Helper()
	r, err := ilp.Solve(context.Background(), lp.Gonum(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAgainstAllPoints(t *testing.T) {
	feasible := 0
	for seed := range uint64(300) {
		p := knapsack(seed, 1+int(seed%7))
		want, r := exhaust(p), solve(t, p, ilp.Options{})
		if math.IsInf(want, 1) {
			if r.Status != ilp.Infeasible {
				t.Fatalf("seed %d: %s, there is no point", seed, r.Status)
			}
			continue
		}
		feasible++
		if r.Status != ilp.Optimal || r.Objective != want || r.Bound != want || !p.Fits(r.X, p.Lower, p.Upper) {
			t.Fatalf("seed %d: %+v, want %g", seed, r, want)
		}
	}
	if feasible < 100 {
		t.Fatalf("only %d programs have a point", feasible)
	}
}

func TestLimits(t *testing.T) {
	for seed := range uint64(100) {
		p := knapsack(seed, 6)
		want := exhaust(p)
		for _, nodes := range []int{1, 2, 5} {
			r := solve(t, p, ilp.Options{MaxNodes: nodes})
			if r.Nodes > nodes {
				t.Fatalf("seed %d: %d nodes of %d", seed, r.Nodes, nodes)
			}
			if r.Bound > want+1e-6 {
				t.Fatalf("seed %d: bound %g above the optimum %g", seed, r.Bound, want)
			}
			if r.X != nil && r.Objective < want-1e-6 || r.Status == ilp.Infeasible && !math.IsInf(want, 1) {
				t.Fatalf("seed %d: %+v, the optimum is %g", seed, r, want)
			}
		}
	}
}

func TestMixed(t *testing.T) {
	// x whole, y not: minimise -x-y, x + 2y <= 4.5, 2x + y <= 4.7.
	p := &ilp.Problem{Integer: []bool{true, false}}
	p.Objective = []float64{-1, -1}
	p.Rows = []lp.Row{
		{Cols: []int{0, 1}, Values: []float64{1, 2}, Lower: -inf, Upper: 4.5},
		{Cols: []int{0, 1}, Values: []float64{2, 1}, Lower: -inf, Upper: 4.7},
	}
	if r := solve(t, p, ilp.Options{}); r.Status != ilp.Optimal || math.Abs(r.Objective+2.75) > 1e-6 || r.X[0] != 1 {
		t.Fatalf("%+v, want -2.75 at x = 1", r)
	}
}

// TestLargeCoefficients has a slope on which a millionth of a trip matters.
func TestLargeCoefficients(t *testing.T) {
	p := &ilp.Problem{Integer: []bool{true, false}}
	p.Objective = []float64{1, 0}
	p.Upper = []float64{9, 2e7}
	p.Rows = []lp.Row{{Cols: []int{0, 1}, Values: []float64{1e7, -1}, Lower: 0, Upper: 0}, {Cols: []int{1}, Values: []float64{1}, Lower: 1.5e7, Upper: inf}}
	if r := solve(t, p, ilp.Options{}); r.Status != ilp.Optimal || r.X[0] != 2 || math.Abs(r.X[1]-2e7) > 20 {
		t.Fatalf("%+v, want 2 and 2e7", r)
	}
}

func TestIncumbent(t *testing.T) {
	p := knapsack(4, 6)
	best := solve(t, p, ilp.Options{})
	again := solve(t, p, ilp.Options{Incumbent: best.X})
	if !reflect.DeepEqual(best.X, again.X) || again.Nodes > best.Nodes {
		t.Fatalf("from the best point %+v, without %+v", again, best)
	}
	if r := solve(t, p, ilp.Options{Incumbent: make([]float64, 3)}); r.Objective != best.Objective {
		t.Fatalf("a point of the wrong size changes the result: %+v", r)
	}
}

func TestOutcomes(t *testing.T) {
	p := &ilp.Problem{Integer: []bool{true}}
	p.Objective = []float64{-1}
	if r := solve(t, p, ilp.Options{}); r.Status != ilp.Unbounded {
		t.Fatalf("%+v, want unbounded", r)
	}
	p.Lower, p.Upper = []float64{0.2}, []float64{0.8}
	if r := solve(t, p, ilp.Options{}); r.Status != ilp.Infeasible {
		t.Fatalf("%+v, want infeasible", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := ilp.Solve(ctx, lp.Gonum(), knapsack(1, 5), ilp.Options{}); err != nil || r.Status != ilp.Unknown {
		t.Fatalf("with an ended context: %+v, %v", r, err)
	}
	p.Integer = nil
	if _, err := ilp.Solve(context.Background(), lp.Gonum(), p, ilp.Options{}); err == nil {
		t.Fatal("no error without Integer")
	}
}

func ExampleSolve() {
	// Two trips carry 3 and 5; how few trips for 22 at no more than 23?
	p := &ilp.Problem{Integer: []bool{true, true}}
	p.Objective = []float64{1, 1}
	p.Rows = []lp.Row{{Cols: []int{0, 1}, Values: []float64{3, 5}, Lower: 22, Upper: 23}}
	r, err := ilp.Solve(context.Background(), lp.Gonum(), p, ilp.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Status, r.Objective)
	// Output: optimal 5
}
