package sat

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// The sizes that are not refused, or at which a search gives up.
const (
	maxOps     = 1 << 12 // operations
	maxStarts  = 1 << 20 // operations times the units that the busiest device works
	maxClauses = 1 << 22 // of a formula; each takes some 100 bytes
)

const name = "sat"

// Engine is the search for plans by satisfiability. It has no state, and gini
// nothing that a seed could change.
type Engine struct{}

// New returns the engine.
func New() *Engine { return &Engine{} }

// Name returns "sat".
func (*Engine) Name() string { return name }

// Refuses returns nil, or a *solve.FeatureError for a problem of too many
// operations or too many units of time. Every other feature is honoured. Cost
// O(operations).
func (*Engine) Refuses(p *model.Problem) error {
	refuse := func(format string, args ...any) error {
		return &solve.FeatureError{Engine: name, Feature: fmt.Sprintf(format, args...)}
	}
	n := p.NumOps()
	if n > maxOps {
		return refuse("%d operations (at most %d)", n, maxOps)
	}
	if constraints.Entangled(p) >= 0 {
		return refuse("operations that depend on the choice between split and fused")
	}
	if units := busiest(p) / unit(p); units > maxStarts/model.Time(max(1, n)) {
		return refuse("a horizon of at least %d units of time for %d operations (at most %d)", units, n, maxStarts/n)
	}
	return nil
}

// busiest returns the ticks that some device is occupied whatever the plan
// chooses, the most of any. Cost O(operations).
func busiest(p *model.Problem) model.Time {
	most := model.Time(0)
	for _, rows := range p.RowsOn {
		work := model.Time(0)
		for _, r := range rows {
			if p.Rows[r].Choice != model.Always {
				continue
			}
			for k := range p.Count(int(r)) {
				work += p.DurationIn(int(r), k)
			}
		}
		most = max(most, work)
	}
	return most
}

// unit returns the greatest common divisor of all lengths and lags, 1 if all are
// zero. Cost O(operations).
func unit(p *model.Problem) model.Time {
	g := model.Time(0)
	for r := range p.Rows {
		for k := range p.Count(r) {
			g = gcd(g, p.DurationIn(r, k))
		}
		for _, pred := range p.Rows[r].Preds {
			g = gcd(g, pred.Lag)
		}
	}
	return max(1, g)
}

func gcd(a, b model.Time) model.Time {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Solve probes values by assumptions, from the bound upwards and from the best
// plan downwards in turn. A second worker does the latter only, a third the
// former, more are not used. With one worker each probe runs to its end, so that
// the result depends on nothing else.
//
// For the objective span a plan is measured with every operation as early as its
// orders allow, and the formula is about all schedules. A schedule that meets the
// bound while its plan does not ends the search: the result is feasible with a gap.
//
// Cost: exponential in the number of operations; a formula takes up to some
// hundred MB for each worker. See solve.Solver for the errors.
func (e *Engine) Solve(ctx context.Context, p *model.Problem, o solve.Options) (*solve.Result, error) {
	if err := e.Refuses(p); err != nil {
		return nil, err
	}
	r, err := solve.Begin(p, &o)
	if err != nil || r.Status == solve.Infeasible || r.Status == solve.Optimal {
		return r, err
	}
	s := newSearch(p, o, r)
	return r, s.run(ctx)
}
