package sat

import (
	"math/rand/v2"
	"testing"

	"github.com/irifrance/gini/z"

	"github.com/flexpipe/flexpipe/model"
)

// TestDemand compares the clauses for a sum with the sum, for all truths of its
// literals.
func TestDemand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		f := newFormula(t.Context())
		e := &encoding{formula: f}
		var counts []count
		var weights [][]model.Bytes // by count, then variable
		first := f.fresh(0)
		most := model.Bytes(0)
		for range 1 + r.IntN(4) {
			weight, n := model.Bytes(1+r.IntN(5)), 1+r.IntN(3)
			lits := make([]literal, n)
			l := f.fresh(n)
			for i := range lits {
				lits[i] = l + literal(i)
			}
			counts = append(counts, newCount(weight, lits))
			weights = append(weights, []model.Bytes{weight, model.Bytes(n)})
			most += weight * model.Bytes(n)
		}
		need := model.Bytes(r.IntN(int(most) + 2))
		e.demand(counts, need)
		p := newProber(t.Context(), e)
		states := 1
		for _, w := range weights {
			states *= int(w[1]) + 1
		}
		for state := range states {
			// In each count the first few literals are true.
			l, sum, rest := first, model.Bytes(0), state
			for _, w := range weights {
				reached := rest % (int(w[1]) + 1)
				rest /= int(w[1]) + 1
				sum += w[0] * model.Bytes(reached)
				for i := range int(w[1]) {
					m := z.Dimacs2Lit(int(l))
					if i >= reached {
						m = m.Not()
					}
					p.solver.Assume(m)
					l++
				}
			}
			if got := p.solver.Solve() == 1; got != (sum >= need) {
				t.Fatalf("counts %v, need %d: state %d with the sum %d is allowed: %v", weights, need, state, sum, got)
			}
		}
	}
}
