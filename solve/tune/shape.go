package tune

import (
	"context"
	"errors"
	"math"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve/partition"
)

// shape is a problem of the space: the choices of some shape options, built.
type shape struct {
	at      coordinates
	choices cssr.Choices
	problem *model.Problem
	err     error // why there is no such problem, or no plan for it

	splits bool      // some stage runs its two backward passes apart
	chunks int       // the most stages that a device holds
	depth  []float64 // by device: the sum over its stages, see heuristics.Depth
	floor  float64   // quick lower bound of the value, in the configuration's unit

	proven *bound.Bound // nil until asked for
}

// buildShape makes the problem of some shape options.
func (g *grid) buildShape(ctx context.Context, at coordinates) *shape {
	choices, err := g.resolve(ctx, g.draftOf(at))
	if err != nil {
		return &shape{at: at, err: err}
	}
	p, err := cssr.Build(g.cfg, choices)
	if err != nil {
		return &shape{at: at, err: err}
	}
	return newShape(at, choices, p)
}

// newShape looks at a problem.
func newShape(at coordinates, choices cssr.Choices, p *model.Problem) *shape {
	s := &shape{at: at, choices: choices, problem: p}
	if no := bound.Infeasible(p); no != nil {
		s.err = &MemoryError{Reason: no.Reason, Excess: float64(no.Need) / float64(max(1, no.Limit))}
		return s
	}
	s.depth, s.floor = make([]float64, p.NumDevices()), inUnit(p, floor(p))
	depth := heuristics.Depth(p)
	for r := range p.Rows {
		s.splits = s.splits || p.Rows[r].Kind == model.BackwardWeight
	}
	for dev := range p.Limits {
		stages := p.StagesOn(dev)
		s.chunks = max(s.chunks, len(stages))
		for _, stage := range stages {
			s.depth[dev] += depth[stage]
		}
	}
	return s
}

// bound returns the judge's lower bound of the value, in ticks.
func (s *shape) bound() bound.Bound {
	if s.proven == nil {
		b := bound.Lower(s.problem)
		s.proven = &b
	}
	return *s.proven
}

// inUnit returns ticks in the unit of the configuration. Problems of one space
// have ticks of different lengths.
func inUnit(p *model.Problem, t model.Time) float64 {
	u := p.Pipeline.TimeUnit
	return float64(t) * float64(max(u.Multiplier, 1)) / float64(max(u.Divisor, 1))
}

// floor returns a quick lower bound of the objective in O(rows · log rows): the
// work of each device, for the makespan with the shortest way to it and from it.
func floor(p *model.Problem) model.Time {
	head, tail := ends(p)
	best := model.Time(0)
	for _, rows := range p.RowsOn {
		work, before, after := model.Time(0), model.Time(math.MaxInt64), model.Time(math.MaxInt64)
		for _, r := range rows {
			row := &p.Rows[r]
			if p.Count(int(r)) == 0 {
				continue
			}
			before, after = min(before, head[r]), min(after, tail[r])
			if row.Choice == model.Always {
				work += total(p, int(r))
			}
		}
		work += choices(p, rows)
		if len(rows) > 0 && before < math.MaxInt64 && p.Pipeline.Objective == model.Makespan {
			work += before + after
		}
		best = max(best, work)
	}
	return best
}

// choices returns the least work of the rows among which a plan chooses.
func choices(p *model.Problem, rows []int32) model.Time {
	type place struct{ stage, route int }
	split, fused := map[place]model.Time{}, map[place]model.Time{}
	for _, r := range rows {
		row := &p.Rows[r]
		switch at := (place{row.Stage, row.Route}); row.Choice {
		case model.WhenSplit:
			split[at] += total(p, int(r))
		case model.WhenFused:
			fused[at] += total(p, int(r))
		}
	}
	least := model.Time(0)
	for at, t := range split {
		least += min(t, fused[at])
	}
	return least
}

// total returns the duration of all operations of a row.
func total(p *model.Problem, r int) model.Time {
	if p.Pipeline.Factors == nil {
		return p.Rows[r].Duration * model.Time(p.Count(r))
	}
	sum := model.Time(0)
	for i := range p.Count(r) {
		sum += p.DurationIn(r, i)
	}
	return sum
}

// ends returns, by row, the least time before and after an operation of it, were
// there one micro-batch only, of the shortest kind. Rows among which a plan chooses, and
// those of a route that no micro-batch takes, do not count.
func ends(p *model.Problem) (head, tail []model.Time) {
	n := len(p.Rows)
	head, tail = make([]model.Time, n), make([]model.Time, n)
	order := p.RowOrder(nil)
	runs := func(r int32) bool { return p.Rows[r].Choice == model.Always && p.Count(int(r)) > 0 }
	for _, r := range order {
		end := head[r] + shortest(p, int(r))
		for _, s := range p.Succs[r] {
			if runs(s.Row) && runs(r) {
				head[s.Row] = max(head[s.Row], end+s.Lag)
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		r := order[i]
		for _, s := range p.Succs[r] {
			if runs(s.Row) && runs(r) {
				tail[r] = max(tail[r], s.Lag+shortest(p, int(s.Row))+tail[s.Row])
			}
		}
	}
	return head, tail
}

// shortest returns the duration of the shortest operation of a row.
func shortest(p *model.Problem, r int) model.Time {
	if p.Pipeline.Factors == nil || p.Count(r) == 0 {
		return p.Rows[r].Duration
	}
	least := p.DurationIn(r, 0)
	for i := range p.Count(r) {
		least = min(least, p.DurationIn(r, i))
	}
	return least
}

// policyOf resolves the policy of a draft for a shape.
func (s *shape) policyOf(d *draft) cssr.Policy {
	policy := d.policy
	if d.inFlight > 0 {
		policy.InFlight = make([]int, len(s.depth))
		for dev, depth := range s.depth {
			policy.InFlight[dev] = int(min(max(1, math.Ceil(depth*d.inFlight)), mostInFlight))
		}
	}
	if d.patience > 0 {
		policy.Patience = []cssr.Wait{{Eighths: d.patience}}
	}
	return policy
}

// mostInFlight is a bound that bounds nothing.
const mostInFlight = 1 << 30

// MemoryError reports a shape that does not fit the memory limits.
type MemoryError struct {
	Reason string
	Excess float64 // what is needed over the limit of the device where most is lacking; 0 if not known
}

func (e *MemoryError) Error() string { return e.Reason }

// unbuilt reports whether an error says that there was no time to build a shape.
func unbuilt(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// tooLarge reports whether an error proves that memory does not suffice.
func tooLarge(err error) bool {
	var none *MemoryError
	return errors.As(err, &none)
}

// tight reports whether an error says that memory does not suffice, or that nothing was
// found that fits: the decoder knows no order (no proof outside chains of stages), or no
// partition fits as many micro-batches in flight as 1F1B has.
func tight(err error) bool {
	var order *cssr.MemoryError
	var uncut *partition.InfeasibleError
	var undecided *partition.UndecidedError
	if unbuilt(err) {
		return false
	}
	return tooLarge(err) || errors.As(err, &order) || errors.As(err, &uncut) || errors.As(err, &undecided)
}
