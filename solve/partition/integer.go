package partition

import (
	"context"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/solve/ilp"
)

// exactTop is how many units of the objective there may be for rounding not to
// matter.
const exactTop = 1e5

// scale chooses the unit of the objective: that in which all work is whole, or, if there
// are too many of it for floating point, the work of an average layer.
func (g *program) scale() {
	unit, bound := float64(g.f.unit()), float64(g.f.loadBound())
	g.exact = bound/unit <= exactTop
	g.unit = unit
	if !g.exact {
		g.unit = bound / float64(g.f.n)
	}
}

// margin is the relative error that a bound in floating point may have: Gap of
// package ilp, and as much for rounding.
const margin = 4 * ilp.Gap

// down turns a bound on Busiest into units, not above it.
func (g *program) down(busiest int64) float64 {
	if g.exact {
		return float64(busiest / int64(g.unit))
	}
	return float64(busiest) / g.unit * (1 - margin)
}

// up turns a bound in units into one on Busiest, not above it.
func (g *program) up(bound float64) int64 {
	if g.exact {
		return int64(math.Round(bound)) * int64(g.unit)
	}
	return int64(bound * g.unit * (1 - margin))
}

// below returns the most units that a better choice may have.
func (g *program) below(busiest int64) float64 { return float64(busiest)/g.unit - g.step() }

// step is what is between two values of the objective.
func (g *program) step() float64 {
	if g.exact {
		return 1
	}
	return 0
}

// choice reads a point.
func (g *program) choice(x []float64) Choice {
	p := g.f.p
	c := Choice{Cut: make([]int, len(p.Group)), Devices: make([]int, len(p.Group))}
	for s := range c.Cut {
		for r := range g.runs {
			for _, col := range g.count[s][r] {
				if col >= 0 {
					c.Cut[s] += int(math.Round(x[col]))
				}
			}
		}
		mode := 0
		if g.mode != nil {
			mode = slices.IndexFunc(g.mode[s], func(col int) bool { return x[col] > 0.5 })
		}
		c.Recompute = append(c.Recompute, p.modes()[mode])
	}
	classOf := make([]int, len(g.f.slots))
	for group := range g.seat {
		classOf[group] = slices.IndexFunc(g.seat[group], func(col int) bool { return x[col] > 0.5 })
	}
	g.f.seat(&c, classOf)
	return c
}

// integer solves by the integer program. What a quick look finds is the value to
// beat: that nothing is below it is a proof, too.
func (f *frontier) integer(ctx context.Context, o Options) (*Result, error) {
	best, bound := f.look(), f.bound
	g := newProgram(f)
	if best != nil {
		score, _ := Evaluate(f.p, best)
		if score.Busiest <= bound {
			return newResult(f.p, *best, bound, IntegerProgram), nil
		}
		g.ilp.Upper[0] = g.below(score.Busiest)
		g.tighten(score.Busiest - 1)
	}
	r, err := ilp.Solve(ctx, o.solver(), &g.ilp, ilp.Options{MaxNodes: o.MaxNodes})
	if err != nil {
		return nil, err
	}
	if r.Status == ilp.Infeasible {
		if best == nil {
			return nil, f.infeasible(ctx, o)
		}
		score, _ := Evaluate(f.p, best)
		return g.result(*best, g.up(g.below(score.Busiest)+g.step())), nil
	}
	if r.Bound > 0 && r.Bound < maxTotal/g.unit {
		bound = max(bound, g.up(r.Bound))
	}
	if r.X != nil {
		if c := g.choice(r.X); Fits(f.p, &c) && (best == nil || f.p.better(&c, best)) {
			f.p.descend(&c)
			best = &c
		}
	}
	if best == nil {
		return nil, &UndecidedError{bound, ctx.Err()}
	}
	return g.result(*best, bound), nil
}

// result is a result that is proved up to Precision.
func (g *program) result(c Choice, bound int64) *Result {
	r := newResult(g.f.p, c, bound, IntegerProgram)
	if !g.exact {
		r.Proved = float64(r.Score.Busiest-r.Bound) <= Precision*float64(r.Score.Busiest)
	}
	return r
}

// tighten bounds how many layers of a run a group can have if it works no longer than
// most. That whole layers fit, where the relaxation would fill up with parts, is often all
// that a proof needs.
func (g *program) tighten(most int64) {
	for group := range g.f.slots {
		slot := &g.f.slots[group]
		factor := int64(math.MaxInt64)
		for c := range g.f.classes {
			if slot.class < 0 || slot.class == c {
				factor = min(factor, g.f.classes[c].factor)
			}
		}
		left := most/factor - g.forced(slot)
		for r, run := range g.runs {
			work := g.f.t.leastWork(run.first, run.first+1)
			if work == 0 || g.isForced(r) {
				continue
			}
			fits := float64(max(0, left/work))
			g.cap(g.pooled[group][r], fits)
			for _, s := range slot.stages {
				for _, col := range g.count[s][r] {
					g.cap(col, fits)
				}
			}
		}
	}
}

// cap lowers the upper bound of a column.
func (g *program) cap(col int, most float64) {
	if col >= 0 {
		g.ilp.Upper[col] = min(g.ilp.Upper[col], most)
	}
}

// isForced reports whether a run is the first or the last layer alone, which only the
// first or the last stage can hold.
func (g *program) isForced(run int) bool {
	r := g.runs[run]
	return r.length() == 1 && (r.first == 0 || r.end == g.f.n)
}

// forced returns the least work of the layers that a group has anyway.
func (g *program) forced(slot *slot) (work int64) {
	for r, run := range g.runs {
		if !g.isForced(r) {
			continue
		}
		for _, s := range slot.stages {
			if g.room(s, r) > 0 {
				work += g.f.t.leastWork(run.first, run.end)
			}
		}
	}
	return work
}

// better reports whether a has the lower score.
func (p *Problem) better(a, b *Choice) bool {
	x, _ := Evaluate(p, a)
	y, _ := Evaluate(p, b)
	return x.Compare(y) < 0
}
