package sat

import (
	"context"
	"fmt"
	"sync"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// search narrows the gap between bound and value, in units of time.
type search struct {
	*system
	o solve.Options

	mutex sync.Mutex // guards what follows, and calls of Progress
	r     *solve.Result
	low   model.Time // no objective is smaller
	high  model.Time // of the best plan; beyond any plan's if there is none
	stuck bool       // the schedule found for a smaller span starts operations later than a plan does
	err   error      // a fault of the program
}

func newSearch(p *model.Problem, o solve.Options, r *solve.Result) *search {
	s := &search{system: newSystem(p), o: o, r: r}
	s.low = (r.Bound + s.unit - 1) / s.unit
	s.high = s.horizon + 1
	if r.Plan != nil {
		s.high = r.Value / s.unit
	}
	return s
}

// round notes that every value is a multiple of the unit.
func (s *search) round() { s.fail(s.r.Raise(s.low*s.unit, name, solve.SearchProof)) }

// run searches until bound and value meet or the context ends.
func (s *search) run(ctx context.Context) error {
	s.round()
	s.report()
	if s.relate(ctx) {
		s.raiseHorizon(ctx)
	} else if ctx.Err() == nil {
		return s.r.Exclude(name, solve.SearchProof)
	}
	switch {
	case s.err != nil:
	case s.r.Plan == nil && s.low >= s.high:
		return s.r.Exclude(name, solve.SearchProof)
	case s.low >= s.high || s.r.Reason != "":
	case s.stuck:
		s.r.Reason = "a schedule meets the bound, but the plan with its orders does not; engine lcg looks further"
	default:
		s.r.Reason = solve.Ended(ctx)
	}
	return s.err
}

// raiseHorizon searches among schedules up to one horizon after the other, until
// value and bound meet, the formula becomes too large, or the context ends.
func (s *search) raiseHorizon(ctx context.Context) {
	horizon := s.low + s.low/4
	for s.open() && ctx.Err() == nil {
		e := s.encodeWithin(ctx, horizon)
		switch {
		case e.tooLarge:
			s.r.Reason = fmt.Sprintf("a formula for a horizon of %s would have more than %d clauses", s.p.FormatTime(e.horizon*s.unit), maxClauses)
			return
		case !e.full():
			s.probe(ctx, e)
		}
		horizon = 2 * e.horizon
	}
}

// open reports whether anything is left to do.
func (s *search) open() bool { return s.low < s.high && !s.stuck && s.err == nil }

// encodeWithin builds the formula for the values that are left, up to a horizon.
func (s *search) encodeWithin(ctx context.Context, horizon model.Time) *encoding {
	if s.p.Pipeline.Objective == model.Span {
		if s.r.Plan == nil {
			return s.encode(ctx, s.horizon, s.low, s.low)
		}
		return s.encode(ctx, s.horizon, s.low, s.high)
	}
	horizon = max(s.low, min(horizon, s.high-1))
	if s.r.Plan != nil {
		horizon = s.high - 1
	}
	return s.encode(ctx, horizon, s.low, horizon)
}

// probe probes the values of a formula until none is left in it: each worker with
// its own copy, the first in both directions.
func (s *search) probe(ctx context.Context, e *encoding) {
	if s.o.Workers < 2 {
		s.work(ctx, e, inTurn)
		return
	}
	ways := []func(int) bool{inTurn, func(int) bool { return true }, func(int) bool { return false }}
	var group sync.WaitGroup
	for _, downward := range ways[:min(len(ways), s.o.Workers)] {
		group.Go(func() { s.work(ctx, e, downward) })
	}
	group.Wait()
}

// inTurn is downward in every other turn.
func inTurn(turn int) bool { return turn%2 == 0 }

// work probes one value after the other. downward says of each turn whether it is
// for a better plan or for a better bound.
func (s *search) work(ctx context.Context, e *encoding, downward func(turn int) bool) {
	p := newProber(ctx, e)
	if p == nil {
		return
	}
	for turn := 0; ctx.Err() == nil; turn++ {
		low, top := s.left(e)
		if low > top {
			return
		}
		p.narrow(low, top)
		v := low + (top-low)/16
		if downward(turn) {
			v = top - (top-low)/4
		}
		switch p.ask(ctx, e.atMost(v), func() bool { return s.moot(v) }) {
		case unsatisfiable:
			if p.contradictory() {
				s.exclude(e.claimed(top))
				return
			}
			s.exclude(e.claimed(v))
		case satisfiable:
			s.offer(e.extract(p.value), e.claimed(v))
		}
	}
}

// left returns the smallest and the largest value that the formula leaves to
// probe, in the wrong order if there is none.
func (s *search) left(e *encoding) (low, top model.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	top = s.high - 1
	isSpan := s.p.Pipeline.Objective == model.Span
	if !isSpan {
		top = min(top, e.horizon)
	}
	if !s.open() || isSpan && s.r.Plan != nil && top >= e.upTo {
		top = s.low - 1
	}
	return s.low, top
}

// moot reports whether the answer about a value is known meanwhile.
func (s *search) moot(v model.Time) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return v < s.low || v >= s.high || !s.open()
}

// exclude notes that no schedule has a value of at most v.
func (s *search) exclude(v model.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if v < s.low {
		return
	}
	s.low = v + 1
	if s.low <= s.horizon || s.r.Plan != nil {
		s.fail(s.r.Raise(s.low*s.unit, name, solve.SearchProof))
	}
	s.notify()
}

// offer takes a plan with a value of at most v.
func (s *search) offer(plan *model.Plan, v model.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	better, err := s.r.Offer(s.p, plan, name)
	if err != nil {
		s.fail(err)
		return
	}
	if !better {
		s.stuck = s.stuck || v < s.high
		return
	}
	s.high = s.r.Value / s.unit
	if s.high > v && s.p.Pipeline.Objective == model.Makespan {
		s.fail(fmt.Errorf("the formula for a value of %d units has a plan of %d: this is a fault of engine %s", v, s.high, name))
	}
	s.notify()
}

func (s *search) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// report is notify for the goroutine that starts the search.
func (s *search) report() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.notify()
}

func (s *search) notify() {
	if s.o.Progress == nil {
		return
	}
	value := model.Absent
	if s.r.Plan != nil {
		value = s.r.Value
	}
	s.o.Progress(solve.Progress{Engine: name, Value: value, Bound: s.r.Bound})
}
