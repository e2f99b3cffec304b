package lptest

import (
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// Bench measures assignments of n agents: 2n rows, n² columns. Cold is a model's
// first solve, warm the next after one column was fixed.
func Bench(b *testing.B, s lp.Solver, n int) {
	p := Assignment(n)
	upper := make([]float64, n*n)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if got, err := lp.Solve(context.Background(), s, p); err != nil || got.Status != lp.Optimal {
				b.Fatal(got, err)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		m, err := s.Load(p)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			for j := range upper {
				upper[j] = 1
			}
			upper[i%len(upper)] = 0
			if got, err := m.Solve(context.Background(), nil, upper); err != nil || got.Status != lp.Optimal {
				b.Fatal(got, err)
			}
		}
	})
}
