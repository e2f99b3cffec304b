package periodic

import (
	"context"

	"github.com/flexpipe/flexpipe/model"
)

// verdict is the outcome of a search for a pattern.
type verdict uint8

const (
	undecided verdict = iota // a limit came first
	found                    // a pattern
	none                     // there is none
)

// budget counts nodes of search trees, and polls the context.
type budget struct {
	ctx  context.Context
	left int64
}

func (b *budget) spend() bool {
	b.left--
	return b.left >= 0 && b.ctx.Err() == nil
}

// descent is one search through the tree of the y: depth first, into the pairs
// with the fewest values and the most failures.
type descent struct {
	s      *state
	b      *budget
	nodes  int64 // left for this descent
	span   model.Time
	starts []model.Time // of the best pattern so far, nil if none
	first  bool         // end with the first pattern
}

// explore searches for a pattern of a micro-batch span of at most span; unless
// first, for the shortest. It restarts with growing limits, and keeps what it
// learned about which pairs fail. It returns found only for a pattern that is the
// shortest, or if first.
//
// Every restart costs 1.5 times as many nodes as the one before; a node costs
// O(rows²) for each conclusion drawn.
func (s *state) explore(b *budget, period, span model.Time, first bool) (verdict, []model.Time) {
	var best []model.Time
	s.ctx, s.stopped = b.ctx, b.ctx.Err() != nil
	for nodes := int64(100); ; nodes += nodes / 2 {
		d := &descent{s: s, b: b, nodes: nodes, span: span, first: first}
		complete := !s.begin(period, span) || d.descend()
		if d.starts != nil {
			best, span = d.starts, d.span
		}
		switch {
		case s.stopped:
			return undecided, best
		case complete, best != nil && first:
			return outcome(best), best
		case b.left <= 0 || b.ctx.Err() != nil:
			return undecided, best
		}
	}
}

// refute returns none if there is no pattern, for reasons that take no search.
func (s *state) refute(ctx context.Context, period, span model.Time) verdict {
	s.ctx, s.stopped = ctx, ctx.Err() != nil
	if !s.begin(period, span) && !s.stopped {
		return none
	}
	return undecided
}

func outcome(starts []model.Time) verdict {
	if starts == nil {
		return none
	}
	return found
}

// descend searches below the current state, and returns whether it has seen all of
// it: no pattern there has a shorter span than d.span allows.
func (d *descent) descend() bool {
	s := d.s
	if d.nodes--; d.nodes < 0 || !d.b.spend() {
		return false
	}
	pair := s.pick()
	if pair < 0 {
		d.keep()
		return !d.first
	}
	v := s.guess(pair)
	lo, hi := s.lo[pair], s.hi[pair]
	for _, part := range [][2]int64{{v, v}, {lo, v - 1}, {v + 1, hi}} {
		if part[0] > part[1] {
			continue
		}
		m := s.mark()
		if s.narrow(pair, part[0], part[1]) && s.limit(d.span) && s.propagate() {
			if !d.descend() {
				return false
			}
		}
		s.undo(m)
	}
	return true
}

// keep notes the pattern of a state in which every y has one value, and asks for
// shorter ones from now on.
func (d *descent) keep() {
	s := d.s
	d.starts = make([]model.Time, len(s.in.rows))
	for r := range d.starts {
		d.starts[r] = s.dist.get(s.source(), r)
	}
	d.span = s.dist.get(s.source(), s.sink()) - 1
}

// pick returns the pair to decide next, -1 if all are.
func (s *state) pick() int32 {
	best, at := 0.0, int32(-1)
	for i, lo := range s.lo {
		if n := s.hi[i] - lo; n > 0 {
			score := s.weight[i] / float64(n)
			if s.stray != nil {
				score *= 0.2 + s.stray.Float64()
			}
			if score > best {
				best, at = score, int32(i)
			}
		}
	}
	return at
}

// guess returns the y that the earliest starts suggest.
func (s *state) guess(pair int32) int64 {
	p := s.in.pairs[pair]
	gap := s.dist.get(s.source(), p.b) - s.dist.get(s.source(), p.a)
	y := int64(floorDiv(gap, s.period))
	if s.stray != nil && s.stray.IntN(4) == 0 {
		y += int64(s.stray.IntN(3) - 1)
	}
	return min(max(y, s.lo[pair]), s.hi[pair])
}
