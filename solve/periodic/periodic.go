package periodic

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

const name = "periodic"

// New returns the engine that unrolls patterns: that of the smallest period, and
// some of longer ones, whose micro-batches take less time from start to end, and some
// found at random; it justifies what their warm-up and cool-down leave open. It
// proves no plan best, but notices one that meets the bound known without it. A
// choice between split and fused is settled once for all stages and micro-batches,
// both ways in turn. Of the options it reads Seed, Incumbent, Bound and Progress.
func New() solve.Solver { return engine{} }

type engine struct{}

func (engine) Name() string { return name }

func (engine) Refuses(p *model.Problem) error { return refuse(p) }

func (engine) Solve(ctx context.Context, p *model.Problem, o solve.Options) (*solve.Result, error) {
	if err := refuse(p); err != nil {
		return nil, err
	}
	r, err := solve.Begin(p, &o)
	if err != nil || r.Status == solve.Infeasible || r.Status == solve.Optimal {
		return r, err
	}
	u := &unroller{ctx: ctx, p: p, o: o, r: r}
	for _, fused := range []bool{false, true} {
		if fused && !p.HasChoice {
			break
		}
		if err := u.try(fused); err != nil {
			return nil, err
		}
	}
	u.explain()
	return r, nil
}

// unroller offers plans to a result.
type unroller struct {
	ctx  context.Context
	p    *model.Problem
	o    solve.Options
	r    *solve.Result
	none int // cases without any pattern
}

// ladder is how many periods above the smallest are tried, in even steps up to the
// one in which a micro-batch ends before the next starts. With few micro-batches a
// short span is worth more than a short period.
const ladder = 6

// try offers the plans of one case of a choice.
func (u *unroller) try(fused bool) error {
	if u.done() {
		return nil
	}
	f := newFinder(u.ctx, u.p, Options{Fused: fused})
	best, proved := f.smallest()
	if best == nil {
		if proved {
			u.none++
		}
		return nil
	}
	if err := u.offer(f, best); err != nil {
		return err
	}
	best = f.shorten(best)
	if err := u.offer(f, best); err != nil {
		return err
	}
	if err := u.climb(f, best); err != nil {
		return err
	}
	return u.stray(f, best)
}

// climb offers patterns of longer periods.
func (u *unroller) climb(f *finder, best *candidate) error {
	f.nodes = min(f.nodes, 2000)
	for step := model.Time(1); step <= ladder && !u.done(); step++ {
		period := best.period + max(step, (best.span-best.period)*step/ladder)
		_, c := f.at(period)
		if c == nil {
			continue
		}
		if err := u.offer(f, f.shorten(c)); err != nil {
			return err
		}
	}
	return nil
}

// Limits of stray: how many patterns, how many operations they have together, and
// how many attempts in a row may fail.
const (
	strays     = 200
	strayOps   = 100_000
	strayFails = 10
)

// stray offers patterns from searches that decide at random, half of them of a
// somewhat longer period: they differ in how well warm-up and cool-down fit.
func (u *unroller) stray(f *finder, best *candidate) error {
	tries := min(strays, strayOps/u.p.NumOps())
	nodes := int64(100 + 2*len(f.s.in.pairs))
	for k, fails := 0, 0; k < tries && fails < strayFails && !u.done(); k++ {
		r := rand.New(rand.NewPCG(u.o.Seed, uint64(k)))
		period := best.period
		if k%2 == 1 {
			period += model.Time(r.Int64N(int64(best.period)/8 + 1))
		}
		f.s.stray = r
		_, starts := f.s.explore(&budget{f.ctx, nodes}, period, best.span+period*model.Time(k%3), true)
		f.s.stray = nil
		if starts == nil {
			fails++
			continue
		}
		fails = 0
		if err := u.offer(f, f.candidate(period, starts)); err != nil {
			return err
		}
	}
	return nil
}

func (u *unroller) done() bool { return u.r.Status == solve.Optimal || u.ctx.Err() != nil }

// offer offers a pattern unrolled, and with its ends justified.
func (u *unroller) offer(f *finder, c *candidate) error {
	if u.done() && u.r.Plan != nil {
		return nil
	}
	plan := f.pattern(u.p, c, false).Unroll(u.p)
	tl, err := model.Evaluate(u.p, plan)
	if err != nil {
		return fmt.Errorf("a pattern of period %d: %w", c.period, err)
	}
	if shorter := justify(u.ctx, u.p, tl); shorter != nil {
		if err := u.keep(shorter, c); err != nil {
			return err
		}
	}
	return u.keep(plan, c)
}

func (u *unroller) keep(plan *model.Plan, c *candidate) error {
	better, err := u.r.Offer(u.p, plan, name)
	if err != nil {
		return fmt.Errorf("a pattern of period %d: %w", c.period, err)
	}
	if better {
		u.r.Rule = fmt.Sprintf("period %d", c.period)
		if u.o.Progress != nil {
			u.o.Progress(solve.Progress{Engine: name, Value: u.r.Value, Bound: u.r.Bound})
		}
	}
	return nil
}

// explain says why the search ended.
func (u *unroller) explain() {
	r := u.r
	switch {
	case r.Status == solve.Optimal:
	case r.Status == solve.Feasible && u.ctx.Err() == nil:
		r.Reason = "all periods worth a try are tried; no schedule whose micro-batches differ was looked at"
	case r.Status == solve.Unknown && u.none > 0:
		r.Reason = "no schedule whose micro-batches are all alike keeps within the memory limits"
	case u.ctx.Err() != nil:
		r.Reason = solve.Ended(u.ctx)
	default:
		r.Reason = "the search came to no schedule whose micro-batches are all alike"
	}
}
