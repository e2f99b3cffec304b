package portfolio_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// BenchmarkSolve measures a whole solve: problems that the bound proves, up to large
// ones, and two that need a search.
func BenchmarkSolve(b *testing.B) {
	for _, x := range []struct {
		name    string
		problem *model.Problem
	}{
		{"chain of 4", modelgen.Unit(4, 8)},
		{"chain of 64", modelgen.Unit(64, 256)},
		{"two branches", either(5)},
		{"there and back, half memory", hard()},
	} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				r, err := portfolio.Solve(b.Context(), x.problem, portfolio.Options{Seed: 1, Workers: 1})
				if err != nil || r.Status != solve.Optimal {
					b.Fatal(r, err)
				}
			}
		})
	}
}
