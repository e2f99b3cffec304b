// Package lcg is an exact engine of its own: lazy clause generation (Ohrimenko,
// Stuckey and Codish 2009), a conflict-driven search over integer variables whose
// propagation explains itself.
//
// Its variables are the starts of operations and, for each operation and each other
// sequence on its device, how many of that sequence stand before it: so memory is
// linear, and the number of variables is linear in the number of micro-batches. See
// docs/proof.md for the formulation and for the steps that a search tells.
package lcg

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Name is the name of the engine in results.
const Name = "lcg"

// New returns the engine.
func New() solve.Solver { return engine{} }

type engine struct{}

func (engine) Name() string { return Name }

// Refuses returns an error for problems whose operations cannot be assumed to start in
// index order, and for those with more position variables than a search can hold.
func (engine) Refuses(p *model.Problem) error {
	if constraints.Entangled(p) >= 0 {
		return &solve.FeatureError{Engine: Name, Feature: "operations that depend on the choice between split and fused"}
	}
	if n := Undecided(p); n > maxUndecided {
		return &solve.FeatureError{Engine: Name, Feature: fmt.Sprintf("%d open positions, more than %d", n, maxUndecided)}
	}
	if horizon(p) > maxHorizon {
		return &solve.FeatureError{Engine: Name, Feature: fmt.Sprintf("durations that add up to more than %s", p.FormatTime(maxHorizon))}
	}
	return nil
}

// maxUndecided is the number of position variables up to which a search is tried, and
// maxHorizon the sum of all lengths and lags in ticks up to which none of its sums can
// overflow.
const (
	maxUndecided = 1 << 18
	maxHorizon   = 1 << 58
)

// Undecided estimates the size of the search, the number of position variables: for each
// pair of rows on a device one for each operation of one of them. Cost O(pairs).
func Undecided(p *model.Problem) int {
	n := 0
	for _, rows := range p.RowsOn {
		for i, r := range rows {
			n += i * p.Count(int(r))
		}
	}
	return n
}

func (e engine) Solve(ctx context.Context, p *model.Problem, o solve.Options) (*solve.Result, error) {
	if err := e.Refuses(p); err != nil {
		return nil, err
	}
	r, err := solve.Begin(p, &o)
	if err != nil || r.Status == solve.Infeasible || r.Status == solve.Optimal {
		return r, err
	}
	b := newBoard(p, r, o)
	if err := b.run(ctx, max(1, o.Workers)); err != nil {
		return nil, err
	}
	if !b.done() {
		r.Reason = solve.Ended(ctx)
	}
	return r, nil
}
