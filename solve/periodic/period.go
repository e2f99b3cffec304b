package periodic

import (
	"context"

	"github.com/flexpipe/flexpipe/model"
)

// finder looks for the smallest period of an instance.
type finder struct {
	s     *state
	ctx   context.Context
	nodes int64 // for each search
}

// candidate is a pattern over local rows.
type candidate struct {
	period model.Time
	starts []model.Time
	span   model.Time
}

func (f *finder) candidate(period model.Time, starts []model.Time) *candidate {
	c := &candidate{period: period, starts: starts}
	for r, t := range starts {
		c.span = max(c.span, t+f.s.in.duration[r])
	}
	return c
}

// longest returns a span that no pattern of a period needs to exceed: where rows in
// the order of their starts leave a gap of more than a period beyond what they wait
// for, all from there on can start a period earlier, which takes less memory.
func (in *instance) longest(period model.Time) model.Time {
	total, lag := model.Time(0), model.Time(0)
	for _, d := range in.duration {
		total += d + period
	}
	for _, a := range in.arcs {
		lag = max(lag, a.gap-in.duration[a.from])
	}
	return total + lag*model.Time(len(in.duration))
}

// at searches for a pattern of one period: first, with few nodes, for one of a span
// near the shortest possible, which most often exists and leaves less to decide.
func (f *finder) at(period model.Time) (verdict, *candidate) {
	longest := f.s.in.longest(period)
	if v := f.s.refute(f.ctx, period, longest); v == none {
		return v, nil
	}
	short := f.s.path + f.s.path/4 + 2*period
	if short < longest {
		b := &budget{f.ctx, min(f.nodes, int64(2*len(f.s.in.pairs)))}
		if v, starts := f.s.explore(b, period, short, true); v == found {
			return v, f.candidate(period, starts)
		}
	}
	v, starts := f.s.explore(&budget{f.ctx, f.nodes}, period, longest, true)
	if v != found {
		return v, nil
	}
	return v, f.candidate(period, starts)
}

// manyRows is the number of rows from which on a search takes so long that one for
// an easy period comes first.
const manyRows = 150

// smallest returns a pattern of the smallest period that it finds, nil if none, and
// whether it is proved that none is smaller, or that there is none.
//
// The period of all operations one after the other comes first: if that has no
// pattern, none has. Then the work of the busiest device, then periods above it in
// growing steps, then those between.
func (f *finder) smallest() (*candidate, bool) {
	least := max(1, f.s.in.work)
	best := f.serial()
	if best == nil {
		var v verdict
		if v, best = f.at(max(least, f.s.in.longest(1))); best == nil {
			return nil, v == none
		}
	}
	best = f.shrink(best, least)
	if len(f.s.in.rows) > manyRows && least+least/4 < best.period {
		if _, c := f.at(least + least/4); c != nil {
			best = f.shrink(c, least)
		}
	}
	proved := true
	for step := model.Time(0); least < best.period && f.ctx.Err() == nil; {
		try := min(least+step, best.period-1)
		if step > (best.period-least)/2 {
			try = least + (best.period-least)/2
		}
		switch v, c := f.at(try); v {
		case found:
			best = f.shrink(c, least)
			step = best.period // from here on by halves
		default:
			proved = proved && v == none
			least, step = try+1, max(2*step, 1+f.s.in.work/64)
		}
	}
	return best, proved && least >= best.period
}

// serial returns the pattern in which a micro-batch ends before the next starts, its
// rows in the order of their numbers, nil if that takes too much memory. Cost
// O(rows² + precedences).
func (f *finder) serial() *candidate {
	in := f.s.in
	var turns []turn
	for _, a := range in.arcs {
		turns = append(turns, turn{a, 0})
	}
	y := make([]model.Bytes, len(in.pairs)) // a before b: 0
	for _, p := range in.pairs {
		turns = append(turns, turn{arc{p.a, p.b, in.duration[p.a]}, 0})
	}
	for i := range in.memory {
		if !in.memory[i].fits(y) {
			return nil
		}
	}
	c := f.candidate(1, in.earliest(turns, 0))
	c.period = max(c.span+1, in.work)
	return c
}

// fits reports whether a device has the memory for given y.
func (m *memory) fits(y []model.Bytes) bool {
	sum := model.Bytes(0)
	for _, t := range m.terms {
		sum += t.factor * y[t.pair]
	}
	return sum <= m.room
}

// shrink returns the pattern with the same order and the smallest period, at least
// the one given. Cost O(log period) times that of fits.
func (f *finder) shrink(c *candidate, least model.Time) *candidate {
	arcs := f.s.in.order(c)
	for low := least; low < c.period; {
		mid := low + (c.period-low)/2
		if starts := f.s.in.earliest(arcs, mid); starts != nil {
			c = f.candidate(mid, starts)
		} else {
			low = mid + 1
		}
	}
	return c
}

// shorten returns a pattern of the same period and the shortest span that it finds,
// with a tenth of the nodes, since most of them would go into the proof.
func (f *finder) shorten(c *candidate) *candidate {
	b := &budget{f.ctx, f.nodes / 10}
	if _, starts := f.s.explore(b, c.period, c.span-1, false); starts != nil {
		return f.candidate(c.period, starts)
	}
	return c
}

// turn is an arc across periods: to starts at least gap + periods·period after from.
type turn struct {
	arc
	periods model.Time
}

// order returns what a pattern fixes: precedences, and how pairs interleave.
func (in *instance) order(c *candidate) []turn {
	var turns []turn
	for _, a := range in.arcs {
		turns = append(turns, turn{a, 0})
	}
	for _, p := range in.pairs {
		y := floorDiv(c.starts[p.b]-c.starts[p.a]-in.duration[p.a], c.period)
		turns = append(turns, turn{arc{p.a, p.b, in.duration[p.a]}, y}, turn{arc{p.b, p.a, in.after(p)}, -y - 1})
	}
	return turns
}

// earliest returns the earliest starts under turns, nil if the period is too short
// for them. Cost O(rows · turns) (Bellman 1958), mostly a few rounds.
func (in *instance) earliest(turns []turn, period model.Time) []model.Time {
	starts := make([]model.Time, len(in.rows))
	for range len(starts) + 1 {
		changed := false
		for i := range turns {
			t := &turns[i]
			if s := starts[t.from] + t.gap + t.periods*period; s > starts[t.to] {
				starts[t.to], changed = s, true
			}
		}
		if !changed {
			return starts
		}
	}
	return nil
}
