package periodic

import (
	"context"
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
)

// state is what is known about a pattern of one period: distances between starts,
// and a range for the y of each pair. Each narrows the other, until they agree.
type state struct {
	in     *instance
	period model.Time
	path   model.Time // the longest path of a micro-batch
	dist   *distances // nodes: the rows, then source and sink
	lo, hi []int64    // by pair
	trail  []narrowed

	pairAt   []int32 // by two nodes: 1 + their pair, 0 if none
	rulesOf  [][]int32
	dirty    []int32 // pairs to look at
	isDirty  []bool
	stale    []int32 // memory constraints to look at
	isStale  []bool
	weight   []float64 // by pair: how often it, or its memory, made a search fail
	ctx      context.Context
	polls    int
	stopped  bool       // the context ended while conclusions were drawn
	stray    *rand.Rand // makes some decisions at random; nil: none
	onChange func(i, j int)
}

type narrowed struct {
	pair   int32
	lo, hi int64
}

func (s *state) source() int { return len(s.in.rows) }
func (s *state) sink() int   { return len(s.in.rows) + 1 }

// unlimited is wider than any range of a y.
const unlimited = 1 << 40

// newState returns what follows from precedences alone. Cost O(rows · (rows +
// precedences)).
func newState(in *instance) *state {
	n := len(in.rows) + 2
	s := &state{
		in: in, dist: newDistances(n), pairAt: make([]int32, n*n),
		lo: make([]int64, len(in.pairs)), hi: make([]int64, len(in.pairs)),
		rulesOf: make([][]int32, len(in.pairs)), isDirty: make([]bool, len(in.pairs)),
		isStale: make([]bool, len(in.memory)), weight: make([]float64, len(in.pairs)),
	}
	for i, p := range in.pairs {
		s.pairAt[p.a*n+p.b], s.pairAt[p.b*n+p.a] = int32(i+1), int32(i+1)
		s.lo[i], s.hi[i] = -unlimited, unlimited
		s.weight[i] = 1
	}
	for m := range in.memory {
		for _, t := range in.memory[m].terms {
			s.rulesOf[t.pair] = append(s.rulesOf[t.pair], int32(m))
			s.weight[t.pair] = 2
		}
	}
	s.onChange = func(i, j int) {
		if p := s.pairAt[i*n+j]; p > 0 {
			s.touch(p - 1)
		}
	}
	s.dist.close(in)
	s.path = s.dist.get(s.source(), s.sink())
	return s
}

func (s *state) touch(pair int32) {
	if !s.isDirty[pair] {
		s.isDirty[pair] = true
		s.dirty = append(s.dirty, pair)
	}
}

// begin takes a period and a limit of the span. It reports whether a pattern may
// exist.
func (s *state) begin(period, span model.Time) bool {
	s.undo(mark{})
	s.period = period
	for i := range s.in.pairs {
		s.touch(int32(i))
	}
	for m := range s.in.memory {
		s.recall(int32(m))
	}
	return s.limit(span) && s.propagate()
}

func (s *state) recall(m int32) {
	if !s.isStale[m] {
		s.isStale[m] = true
		s.stale = append(s.stale, m)
	}
}

// limit demands that a micro-batch takes no longer than span.
func (s *state) limit(span model.Time) bool {
	return s.dist.require(s.sink(), s.source(), -span, s.onChange)
}

// mark is a point to come back to.
type mark struct{ dist, trail int }

func (s *state) mark() mark { return mark{len(s.dist.trail), len(s.trail)} }

func (s *state) undo(m mark) {
	s.dist.undo(m.dist)
	for len(s.trail) > m.trail {
		c := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		s.lo[c.pair], s.hi[c.pair] = c.lo, c.hi
	}
	for _, p := range s.dirty {
		s.isDirty[p] = false
	}
	for _, m := range s.stale {
		s.isStale[m] = false
	}
	s.dirty, s.stale = s.dirty[:0], s.stale[:0]
}

// narrow sets the range of a pair's y within its range so far, and states what
// follows for the distances. It reports whether that is possible.
func (s *state) narrow(pair int32, lo, hi int64) bool {
	lo, hi = max(lo, s.lo[pair]), min(hi, s.hi[pair])
	if lo > hi {
		return false
	}
	if lo == s.lo[pair] && hi == s.hi[pair] {
		return true
	}
	s.trail = append(s.trail, narrowed{pair, s.lo[pair], s.hi[pair]})
	s.lo[pair], s.hi[pair] = lo, hi
	for _, m := range s.rulesOf[pair] {
		s.recall(m)
	}
	p := s.in.pairs[pair]
	return s.dist.require(p.a, p.b, s.least(p, lo), s.onChange) && s.dist.require(p.b, p.a, -s.most(p, hi), s.onChange)
}

// least and most return the bounds of the start of b after that of a under a given
// y.
func (s *state) least(p pair, y int64) model.Time {
	return s.period*model.Time(y) + s.in.duration[p.a]
}

func (s *state) most(p pair, y int64) model.Time {
	return s.period*model.Time(y+1) - s.in.after(p)
}

// propagate draws conclusions until there are no more, and reports whether a
// pattern may exist; if stopped, its answer means nothing. It counts what failed.
func (s *state) propagate() bool {
	for {
		for len(s.dirty) > 0 {
			pair := s.dirty[len(s.dirty)-1]
			s.dirty = s.dirty[:len(s.dirty)-1]
			s.isDirty[pair] = false
			if !s.review(pair) {
				s.weight[pair]++
				return false
			}
			if s.ended() {
				return false
			}
		}
		if len(s.stale) == 0 {
			return true
		}
		m := s.stale[len(s.stale)-1]
		s.stale = s.stale[:len(s.stale)-1]
		s.isStale[m] = false
		if !s.fits(&s.in.memory[m]) {
			for _, t := range s.in.memory[m].terms {
				s.weight[t.pair]++
			}
			return false
		}
	}
}

// ended polls the context, now and then.
func (s *state) ended() bool {
	if s.polls++; s.polls%64 == 0 && s.ctx.Err() != nil {
		s.stopped = true
	}
	return s.stopped
}

// review narrows a pair's y to what the distances leave.
func (s *state) review(pair int32) bool {
	p := s.in.pairs[pair]
	lo := ceilDiv(s.dist.get(p.a, p.b)+s.in.after(p), s.period) - 1
	hi := floorDiv(-s.dist.get(p.b, p.a)-s.in.duration[p.a], s.period)
	return s.narrow(pair, int64(lo), int64(hi))
}

// fits narrows the y of a memory constraint to what the others leave.
func (s *state) fits(m *memory) bool {
	room := m.room
	for _, t := range m.terms {
		room -= t.factor * model.Bytes(s.lowEnd(t))
	}
	if room < 0 {
		return false
	}
	for _, t := range m.terms {
		if s.lo[t.pair] == s.hi[t.pair] {
			continue
		}
		lo, hi := s.lo[t.pair], s.hi[t.pair]
		if t.factor > 0 {
			hi = min(hi, lo+int64(room/t.factor))
		} else {
			lo = max(lo, hi-int64(room/-t.factor))
		}
		if !s.narrow(int32(t.pair), lo, hi) {
			return false
		}
	}
	return true
}

// lowEnd returns the y at which a term is least.
func (s *state) lowEnd(t term) int64 {
	if t.factor > 0 {
		return s.lo[t.pair]
	}
	return s.hi[t.pair]
}

func floorDiv(a, b model.Time) model.Time {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b model.Time) model.Time { return -floorDiv(-a, b) }
