package partition

import (
	"context"

	"github.com/flexpipe/flexpipe/solve/ilp"
	"github.com/flexpipe/flexpipe/solve/lp"
)

// Program solves the integer program of p alone, without a choice to start from. If most
// is not 0, no device may work longer. The choice is nil unless there is a best one.
func Program(p *Problem, most int64, nodes int) (ilp.Status, *Choice, error) {
	g := newProgram(newFrontier(p))
	if most > 0 {
		g.ilp.Upper[0] = g.below(most) + g.step()
		g.tighten(most)
	}
	r, err := ilp.Solve(context.Background(), lp.Gonum(), &g.ilp, ilp.Options{MaxNodes: nodes})
	if err != nil {
		return ilp.Unknown, nil, err
	}
	if r.Status != ilp.Optimal {
		return r.Status, nil, nil
	}
	c := g.choice(r.X)
	return r.Status, &c, nil
}
