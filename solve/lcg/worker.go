package lcg

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// worker pursues one or both of the tactics.
type worker struct {
	f       *form
	near    *neighbours
	tactics []*tactic
	next    int // the tactic whose turn it is

	// Of the round.
	lo, hi int64 // the best value is at least lo; below hi no plan is known
	known  int64 // hi at the beginning of the round
	hint   *hint
	plan   *model.Plan // the best plan found, nil if none is better than what was known
	fault  error
}

// tactic chooses the values to try to beat, from one end of the gap: from the bound
// upward or from the best plan downward. It strides away from there while that is easy,
// and back when it is not.
type tactic struct {
	up     bool
	s      *search
	seen   *hint // the hint that the search follows
	stride int64 // 0 before the first try
	budget int64 // conflicts for one try
	left   int64 // of the try at hand
	near   int64 // conflicts left for neighbourhoods of the best plan
	stale  int   // times in a row that neighbourhoods gave no better plan
	over   bool  // there is nothing left to try: a schedule meets the bound, or no better plan exists
}

// Conflicts of the first tries, and how many times as many neighbourhoods get: they
// are what improves plans. Each time they do not, they get half of that the next time,
// as the plan may be the best.
const (
	firstUp   = 2000
	firstDown = 500
	nearShare = 4
)

// newWorker returns worker i of n. Alone it does in turn what two do side by side.
func newWorker(b *board, i, n int) *worker {
	w := &worker{f: b.f, near: newNeighbours(b.f, b.o.Seed+uint64(i))}
	up := &tactic{up: true, budget: firstUp, left: firstUp}
	down := &tactic{budget: firstDown, left: firstDown, near: nearShare * firstDown}
	switch {
	case n == 1:
		w.tactics = []*tactic{up, down}
	case i%2 == 0:
		w.tactics = []*tactic{up}
	default:
		w.tactics = []*tactic{down}
	}
	for k, t := range w.tactics {
		if k > 0 && !b.f.span {
			t.s = w.tactics[0].s // what one tactic learns serves the other
			continue
		}
		early := b.f.span && !t.up
		var trace solve.Trace
		if b.o.NewTrace != nil && !early {
			trace = b.o.NewTrace()
		}
		t.s = newSearch(b.f, trace, early)
		t.s.picker.disturb(b.o.Seed, i/2)
	}
	return w
}

// searches returns those of its tactics, which may share one.
func (w *worker) searches() []*search {
	all := []*search{w.tactics[0].s}
	for _, t := range w.tactics[1:] {
		if t.s != all[0] {
			all = append(all, t.s)
		}
	}
	return all
}

// begin sets what is known at the beginning of a round.
func (w *worker) begin(b *board) {
	w.lo, w.hi = int64(b.result.Bound), b.f.horizon+1
	if b.result.Plan != nil {
		w.hi = int64(b.result.Value)
	}
	w.known, w.hint, w.plan = w.hi, b.hint, nil
}

func (w *worker) better() bool { return w.hi < w.known }

// closed reports whether the gap is closed, or there is no schedule.
func (w *worker) closed() bool {
	for _, s := range w.searches() {
		if s.impossible && !s.early {
			return true
		}
	}
	return w.lo >= w.hi
}

// turn searches for some units of work, as long as a tactic has anything left to try.
func (w *worker) turn(ctx context.Context, units int64) {
	for left := units; left > 0 && w.fault == nil && ctx.Err() == nil && !w.closed(); {
		t := w.tactics[w.next]
		if t.over {
			w.next = (w.next + 1) % len(w.tactics)
			if t = w.tactics[w.next]; t.over {
				return
			}
		}
		s := t.s
		s.ctx, s.until = ctx, s.units+left
		before := s.units
		if s.root(); !s.ready {
			return // the context ended it
		}
		w.step(t)
		left -= max(1, s.units-before)
	}
}

// step makes one try of a tactic, or looks at a neighbourhood of the best plan.
func (w *worker) step(t *tactic) {
	w.learn(t)
	if t.over || w.closed() {
		return
	}
	if w.hint != nil && w.hint != t.seen {
		t.s.suggest(w.hint)
		t.seen, t.stale = w.hint, 0
	}
	if t.near > 0 && w.hint != nil {
		t.near -= w.near.improve(w, t.s)
	} else if w.try(t) {
		w.next = (w.next + 1) % len(w.tactics)
	}
	w.learn(t)
}

// learn takes over what a tactic's search has proved.
func (w *worker) learn(t *tactic) {
	low := t.s.lo(0)
	switch {
	case !t.s.early:
		w.lo = max(w.lo, low)
	case low >= w.hi || t.s.impossible:
		t.over = true
	}
}

// try looks for a plan at most as good as the tactic's target. It reports whether it
// came to an end; else the work of the turn is done, and it goes on in the next one.
func (w *worker) try(t *tactic) bool {
	target := w.target(t)
	before := t.s.conflicts
	v := t.s.run(atMost(0, target), nil, t.left)
	if v == satisfied && w.found(t.s, target) > target {
		t.over = t.over || target == w.lo
	}
	t.s.back(0)
	if t.left -= t.s.conflicts - before; v == undecided && t.left > 0 {
		return false
	}
	switch {
	case v == undecided && !t.up:
		t.near = nearShare * t.budget >> min(t.stale, 4)
		t.stale++
		fallthrough
	case v == undecided:
		if t.stride == 1 {
			t.budget += t.budget / 2
		}
		t.stride = max(1, t.stride/2)
	case v == refuted && t.up, v == satisfied && !t.up:
		t.stride *= 2
	default:
		t.stride = max(1, t.stride/2)
	}
	t.left = t.budget
	return true
}

// target returns the value to try to meet.
func (w *worker) target(t *tactic) int64 {
	lo := max(w.lo, t.s.lo(0))
	if t.stride == 0 {
		t.stride = max(1, (w.hi-lo)/4)
	}
	if t.up {
		return min(lo+t.stride-1, w.hi-1)
	}
	return max(w.hi-t.stride, lo)
}

// found keeps the plan of the schedule that a search holds for a target, and returns
// its value. That may be above the target only for the span, of a search that does not
// look for plans.
func (w *worker) found(s *search, target int64) int64 {
	plan := s.plan()
	tl, err := model.Evaluate(w.f.p, plan)
	if err != nil {
		w.fault = fmt.Errorf("a schedule of %s is no plan: %w", Name, err)
		return target
	}
	value := int64(model.Measure(w.f.p, plan, tl).Value(w.f.p.Pipeline.Objective))
	if value > target && (s.early || !w.f.span) {
		w.fault = fmt.Errorf("the schedule found for %d gives a plan of %d: this is a fault of engine %s", target, value, Name)
	}
	if value < w.hi {
		w.hi, w.plan, w.hint = value, plan, newHint(w.f, plan, tl)
	}
	return value
}
