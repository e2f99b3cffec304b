package network

import (
	"math"
	"slices"
	"sort"
)

// A probe tests limits on the largest cost of a stage: the probe for chains on chains
// of Pınar and Aykanat, J. Parallel Distrib. Comput. 64(8), 2004, here for stages that
// differ and must not be empty.
//
// It lets each stage in turn reach as far as the limit allows. That is exact as long
// as the stage can hold the layer at which it starts, since then the ends within its
// reach are all layers from the next one on, and starting further reaches further.
// Where it cannot, an earlier stage has to stop sooner, and the probe follows all
// ends that are possible.
type probe struct {
	layers, stages int
	cost           RangeCost
	ends           []int // by stage: where it ends when the last limit could be met
}

// leastLimit returns the smallest value that the largest cost of a stage can have.
// Floats that are not negative are in the order of their bits.
func (p *probe) leastLimit() float64 {
	last := p.stages - 1
	low := math.Float64bits(max(p.cost(0, 0, 1), p.cost(last, p.layers-1, p.layers)))
	high := math.Float64bits(p.evenLimit())
	for low < high {
		middle := low + (high-low)/2
		if p.meets(math.Float64frombits(middle)) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return math.Float64frombits(high)
}

// evenLimit returns the largest cost of a stage when layers are dealt evenly, an
// upper bound to start from.
func (p *probe) evenLimit() float64 {
	limit := 0.0
	for s := range p.stages {
		limit = max(limit, p.cost(s, s*p.layers/p.stages, (s+1)*p.layers/p.stages))
	}
	return limit
}

// partition returns a partition in which no stage costs more than limit, which must
// be possible.
func (p *probe) partition(limit float64) Partition {
	p.meets(limit)
	parts, first := make(Partition, p.stages), 0
	for s, end := range p.ends {
		parts[s], first = end-first, end
	}
	return parts
}

// meets reports whether all layers fit when no stage may cost more than limit, and
// sets ends if so.
func (p *probe) meets(limit float64) bool {
	first := 0
	for s := range p.stages {
		if !p.fits(s, first, limit) {
			return p.anyFits(s, limit) && p.search(limit)
		}
		first = min(p.reach(s, first, limit), p.layers-(p.stages-1-s))
		p.ends[s] = first
	}
	return first == p.layers
}

// fits reports whether a stage can hold a layer alone.
func (p *probe) fits(stage, layer int, limit float64) bool {
	return p.cost(stage, layer, layer+1) <= limit
}

// anyFits reports whether a stage can hold any layer.
func (p *probe) anyFits(stage int, limit float64) bool {
	for layer := range p.layers {
		if p.fits(stage, layer, limit) {
			return true
		}
	}
	return false
}

// reach returns the largest end of a stage that starts with a layer it can hold. It
// takes O(log of the layers reached) calls of cost.
func (p *probe) reach(stage, first int, limit float64) int {
	good, step := first+1, 1
	for good+step <= p.layers && p.cost(stage, first, good+step) <= limit {
		good += step
		step *= 2
	}
	open := min(step, p.layers-good+1) // good + open is too far
	return good + sort.Search(open-1, func(i int) bool { return p.cost(stage, first, good+i+1) > limit })
}

// A span is the numbers from low to high, both included.
type span struct{ low, high int }

// search is meets by all ends that are possible, in ascending spans.
func (p *probe) search(limit float64) bool {
	ends := make([][]span, p.stages)
	starts := []span{{0, 0}}
	for s := range p.stages {
		ends[s] = p.advance(s, starts, p.layers-(p.stages-1-s), limit)
		starts = ends[s]
	}
	if len(starts) == 0 || starts[len(starts)-1].high != p.layers {
		return false
	}
	p.walkBack(ends, limit)
	return true
}

// advance returns the ends up to most of a stage with the given starts. The starts
// fall into runs of layers that the stage can hold alone; a run leads to the ends
// from its second layer to the reach of its last.
func (p *probe) advance(stage int, starts []span, most int, limit float64) []span {
	var ends []span
	for _, start := range starts {
		for first := start.low; first <= start.high; first++ {
			if !p.fits(stage, first, limit) {
				continue
			}
			low := first + 1
			first = p.runEnd(stage, first, start.high, limit)
			ends = appendSpan(ends, span{low, min(most, p.reach(stage, first, limit))})
		}
	}
	return ends
}

// runEnd returns the last layer, last at most, of the run of layers from first on
// that a stage can hold alone. Layers that it can hold together need no test.
func (p *probe) runEnd(stage, first, last int, limit float64) int {
	for {
		next := p.reach(stage, first, limit)
		if next > last {
			return last
		}
		if !p.fits(stage, next, limit) {
			return next - 1
		}
		first = next
	}
}

// appendSpan adds a span that starts no lower than those before it.
func appendSpan(list []span, s span) []span {
	if n := len(list); n > 0 && s.low <= list[n-1].high+1 {
		list[n-1].high = max(list[n-1].high, s.high)
		return list
	}
	return append(list, s)
}

// walkBack sets ends from the last stage to the first. Each stage starts as late as
// it can, which leaves the most layers to the early stages.
func (p *probe) walkBack(ends [][]span, limit float64) {
	end := p.layers
	for s := p.stages - 1; s > 0; s-- {
		p.ends[s] = end
		starts := ends[s-1]
		i, _ := slices.BinarySearchFunc(starts, end, func(at span, end int) int { return at.low - end })
		end = min(starts[i-1].high, end-1)
	}
	p.ends[0] = end
}
