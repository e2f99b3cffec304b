package tune

import (
	"cmp"
	"context"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// finalists is how many shapes are solved unless the options say otherwise.
const finalists = 3

// polishTries is how many rules the heuristics try for each row.
const polishTries = 96

// refine makes a row of the best point of each of the best shapes, polishes the rows
// by the heuristics, and has the portfolio of solvers improve the best of them.
func (t *tuning) refine(ctx context.Context) error {
	for _, p := range t.explorer.bestByShape(max(t.o.Top, t.finalists())) {
		point := cssr.Point{Choices: p.shape.choices, Policy: t.g.policyAt(p)}
		// A plan that has been found is shown, whether time is up or not.
		row, err := t.rowOf(context.WithoutCancel(ctx), p.shape, point)
		if err != nil {
			return err
		}
		t.result.Rows = append(t.result.Rows, *row)
	}
	if t.o.Start != nil && t.result.Reference != nil {
		own := *t.result.Reference.Result // which polishing may change
		row := *t.result.Reference
		row.Result = &own
		t.result.Rows = append(t.result.Rows, row)
	}
	if len(t.result.Rows) == 0 {
		return t.attempt(ctx)
	}
	if t.finalists() == 0 {
		t.sort()
		return nil
	}
	for i := range t.result.Rows {
		t.report(Progress{Stage: "polishing", Done: i, Limit: len(t.result.Rows), Best: t.lowest()})
		if err := t.polish(ctx, &t.result.Rows[i]); err != nil {
			return err
		}
	}
	t.sort()
	if err := t.recutRows(ctx); err != nil {
		return err
	}
	for i := range min(t.finalists(), len(t.result.Rows)) {
		t.report(Progress{Stage: "solving finalists", Done: i, Limit: t.finalists(), Best: t.lowest()})
		if err := t.solve(ctx, &t.result.Rows[i]); err != nil {
			return err
		}
	}
	t.sort()
	return nil
}

// hopeless reports whether a row cannot become the best one, or time is up.
func (t *tuning) hopeless(ctx context.Context, row *Row) bool {
	return ctx.Err() != nil || row.Result.Status == solve.Optimal || inUnit(row.Problem, row.Result.Bound) >= t.lowest()
}

// polish has the heuristics look for a better plan of a row's problem.
func (t *tuning) polish(ctx context.Context, row *Row) error {
	if ctx.Err() != nil || row.Result.Status == solve.Optimal {
		return nil
	}
	r := row.Result
	found, err := heuristics.Search(ctx, row.Problem, heuristics.Options{
		Seed: t.o.Seed, Workers: t.o.Workers, Tries: polishTries, Target: r.Bound, Incumbent: r.Plan,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if better, err := r.Offer(row.Problem, found.Plan, "heuristic"); err != nil || !better {
		return err
	}
	r.Rule = found.Rule
	*row = *newRow(row.Problem, cssr.Point{Choices: row.Point.Choices}, r)
	return nil
}

func (t *tuning) finalists() int { return max(0, or0(t.o.Finalists, finalists)) }

// lowest returns the smallest value of the rows.
func (t *tuning) lowest() float64 {
	low := t.result.Rows[0].Value
	for i := range t.result.Rows {
		low = min(low, t.result.Rows[i].Value)
	}
	return low
}

// solve has the portfolio of solvers look for the best plan of a row's problem.
func (t *tuning) solve(ctx context.Context, row *Row) error {
	if t.hopeless(ctx, row) {
		return nil
	}
	p := row.Problem
	limited, cancel := within(ctx, t.o.Solving)
	defer cancel()
	r, err := portfolio.Solve(limited, p, portfolio.Options{Seed: t.o.Seed, Workers: t.o.Workers, Incumbent: row.Result})
	if err != nil {
		return err
	}
	point := row.Point
	if r.Value < row.Result.Value {
		point.Policy = cssr.Policy{} // it did not make this plan
	}
	*row = *newRow(p, point, r)
	return nil
}

// attempt has the portfolio of solvers look for plans of shapes for which the decoder
// knows no order that fits, the ones with the lowest floors first.
func (t *tuning) attempt(ctx context.Context) error {
	var list []*shape
	for _, s := range t.shapes {
		if s.problem != nil && tight(s.err) && !tooLarge(s.err) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *shape) int { return cmp.Compare(a.floor, b.floor) })
	for _, s := range list[:min(t.finalists(), len(list))] {
		limited, cancel := within(ctx, t.o.Solving)
		r, err := portfolio.Solve(limited, s.problem, portfolio.Options{Seed: t.o.Seed, Workers: t.o.Workers})
		cancel()
		if err != nil {
			return err
		}
		if r.Plan != nil {
			s.err = nil
			t.result.Rows = append(t.result.Rows, *newRow(s.problem, cssr.Point{Choices: s.choices}, r))
		}
	}
	t.sort()
	return nil
}

// sort puts the rows in order of their values, ties as they stand.
func (t *tuning) sort() {
	slices.SortStableFunc(t.result.Rows, func(a, b Row) int { return cmp.Compare(a.Value, b.Value) })
}
