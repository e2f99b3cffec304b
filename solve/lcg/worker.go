package lcg

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// worker searches with a search of its own.
type worker struct {
	f       *form
	s       *search // made in the first turn
	trace   solve.Trace
	near    *neighbours
	tactics []tactic
	next    int // the tactic whose turn it is

	// Of the round.
	lo, hi int64 // the best value is at least lo; below hi no plan is known
	known  int64 // hi at the beginning of the round
	hint   *hint
	seen   *hint       // the hint that the search follows
	plan   *model.Plan // the best plan found, nil if none is better than what was known
	late   int64       // a value that a schedule has and its plan has not, -1 if there is none
	fault  error
}

// tactic chooses the values that a worker tries to beat. It strides away from its
// end of the gap while that is easy, and back when it is not.
type tactic struct {
	up     bool // from the bound upward, else from the best plan downward
	stride int64
	budget int64 // conflicts for one try
	left   int64 // of the try at hand
	near   int64 // conflicts left for neighbourhoods of the best plan
}

// Conflicts of the first tries, and how many times as many neighbourhoods get: they
// are what improves plans.
const (
	firstUp   = 2000
	firstDown = 500
	nearShare = 4
)

// newWorker returns worker i of n. Alone it does in turn what two do side by side.
func newWorker(b *board, i, n int) *worker {
	w := &worker{f: b.f, near: newNeighbours(b.f, b.o.Seed+uint64(i)), tactics: []tactic{{up: true, budget: firstUp, left: firstUp}, {budget: firstDown, left: firstDown, near: nearShare * firstDown}}}
	if b.o.NewTrace != nil {
		w.trace = b.o.NewTrace()
	}
	if n > 1 {
		w.tactics = w.tactics[i%2 : i%2+1]
	}
	w.s = newSearch(b.f, w.trace)
	return w
}

// begin sets what is known at the beginning of a round.
func (w *worker) begin(b *board) {
	w.lo, w.hi = int64(b.result.Bound), b.f.horizon+1
	if b.result.Plan != nil {
		w.hi = int64(b.result.Value)
	}
	w.known, w.hint, w.plan, w.late = w.hi, b.hint, nil, -1
}

func (w *worker) closed() bool { return w.s.impossible || w.lo >= w.hi }
func (w *worker) better() bool { return w.hi < w.known }

// turn searches for some units of work.
func (w *worker) turn(ctx context.Context, units int64) {
	s := w.s
	s.until = s.units + units
	s.ctx = ctx
	s.root()
	for w.fault == nil && s.units < s.until && ctx.Err() == nil {
		if w.lo = max(w.lo, s.lo(0)); w.closed() || w.late == w.lo {
			return
		}
		if w.hint != nil && w.hint != w.seen {
			s.suggest(w.hint)
			w.seen = w.hint
		}
		t := &w.tactics[w.next]
		if t.near > 0 && w.hint != nil {
			t.near -= w.near.improve(w)
		} else if w.try(t) {
			w.next = (w.next + 1) % len(w.tactics)
		}
	}
	w.lo = max(w.lo, s.lo(0))
}

// try looks for a plan at most as good as the tactic's target. It reports whether it
// came to an end; else the work of the turn is done, and it goes on in the next one.
func (w *worker) try(t *tactic) bool {
	if t.stride == 0 {
		t.stride = max(1, (w.hi-w.lo)/4)
	}
	target := w.hi - t.stride
	if t.up {
		target = w.lo + t.stride - 1
	}
	target = min(max(target, w.lo), w.hi-1)
	before := w.s.conflicts
	v := w.s.run(atMost(0, target), nil, t.left)
	if v == satisfied {
		w.found(target)
	}
	w.s.back(0)
	if t.left -= w.s.conflicts - before; v == undecided && t.left > 0 {
		return false
	}
	switch {
	case v == undecided && !t.up:
		t.near = nearShare * t.budget
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

// found keeps the plan of the schedule that the search holds for a target. Its value
// may be above that only for the span, see solve.LateStarts.
func (w *worker) found(target int64) {
	plan := w.s.plan()
	tl, err := model.Evaluate(w.f.p, plan)
	if err != nil {
		w.fault = fmt.Errorf("a schedule of %s is no plan: %w", Name, err)
		return
	}
	value := int64(model.Measure(w.f.p, plan, tl).Value(w.f.p.Pipeline.Objective))
	if value > target {
		if !w.f.span {
			w.fault = fmt.Errorf("the schedule found for %d gives a plan of %d: this is a fault of engine %s", target, value, Name)
			return
		}
		w.late = target
	}
	if value < w.hi {
		w.hi, w.plan, w.hint = value, plan, newHint(w.f, plan, tl)
	}
}
