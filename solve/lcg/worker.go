package lcg

import (
	"context"

	"github.com/flexpipe/flexpipe/solve"
)

// tactic chooses the values that a worker tries to beat. It strides away from its
// end of the gap while that is easy, and back when it is not.
type tactic struct {
	up     bool  // from the bound upward, else from the best plan downward
	stride int64 // 0 before the first try
	budget int64 // conflicts for one try
}

const firstBudget = 2000

// work lets worker i of n search. Alone it does in turn what two do side by side.
func (b *board) work(ctx context.Context, i, n int) {
	var trace solve.Trace
	if b.o.NewTrace != nil {
		b.mu.Lock()
		trace = b.o.NewTrace()
		b.mu.Unlock()
	}
	s := newSearch(ctx, b.f, trace)
	tactics := []tactic{{up: true}, {up: false}}
	if n > 1 {
		tactics = tactics[i%2 : i%2+1]
	}
	for t := range tactics {
		tactics[t].budget = firstBudget
	}
	var seen *hint
	near := newNeighbours(b.f, b.o.Seed+uint64(i))
	for turn := 0; ; turn++ {
		lo, hi, h, done := b.window()
		if done || ctx.Err() != nil {
			return
		}
		if s.impossible || s.lo(0) > lo {
			b.raise(s)
			continue
		}
		if h != seen && h != nil {
			s.suggest(h)
			seen = h
		}
		t := &tactics[turn%len(tactics)]
		v := b.try(ctx, s, t, lo, hi)
		if !t.up && v == undecided && h != nil {
			near.improve(ctx, b, s, h, hi, t.budget)
		}
		b.mu.Lock()
		b.count[i] = s.conflicts
		b.mu.Unlock()
	}
}

// try looks for a plan at most as good as the tactic's target.
func (b *board) try(ctx context.Context, s *search, t *tactic, lo, hi int64) verdict {
	if t.stride == 0 {
		t.stride = max(1, (hi-lo)/4)
	}
	target := hi - t.stride
	if t.up {
		target = lo + t.stride - 1
	}
	target = min(max(target, lo), hi-1)
	v := s.run(ctx, atMost(0, target), nil, t.budget)
	if v == satisfied {
		b.found(s.plan(), target)
	}
	s.back(0)
	switch {
	case v == undecided && t.stride > 1:
		t.stride /= 2
	case v == undecided:
		t.budget += t.budget / 2
	case v == refuted && t.up, v == satisfied && !t.up:
		t.stride *= 2
	case t.stride > 1:
		t.stride /= 2
	}
	return v
}
