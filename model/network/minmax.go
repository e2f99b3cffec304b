package network

import (
	"math"
	"slices"
)

// A RangeCost returns the cost of layers first to end, half-open and not empty,
// on a stage. It is finite, not negative, and no smaller for a range that
// contains another.
type RangeCost func(stage, first, end int) float64

// MinMax returns the partition of a chain of layers into stages, none of them
// empty, with the smallest largest cost of a stage. Among these it returns one
// with the smallest sum of squared costs, so that the stages off the bottleneck
// are even, too; among sums that agree to a part in 10¹², the one with the fewer
// layers in the earliest stage where they differ.
//
// The largest cost is exact: it is found by bisection over all float64 values
// with an exact test whether a value can be met (the "probe" for chains on chains
// of Pınar and Aykanat, J. Parallel Distrib. Comput. 64(8), 2004, here for
// stages that differ and must not be empty). The second step is dynamic
// programming over the ranges that meet it. With n layers, S stages and at most w
// layers in a range that meets the value, time is O(64·S·n + S·n·w) calls of
// cost, memory O(S·n).
//
// It returns a [*PartitionError] if there are fewer layers than stages or no
// stages. If cost breaks its rules, the result is some valid partition or a
// panic.
func MinMax(layers, stages int, cost RangeCost) (Partition, error) {
	if err := checkCounts(layers, stages); err != nil {
		return nil, err
	}
	return leastSquares(layers, stages, cost, leastLimit(layers, stages, cost)), nil
}

// leastLimit returns the smallest value that the largest cost of a stage can
// have. Floats that are not negative are in the order of their bits.
func leastLimit(n, stages int, cost RangeCost) float64 {
	p := newProbe(n)
	low, high := uint64(0), math.Float64bits(evenLimit(n, stages, cost))
	for low < high {
		middle := low + (high-low)/2
		if p.meets(math.Float64frombits(middle), stages, cost) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return math.Float64frombits(high)
}

// evenLimit returns the largest cost of a stage when layers are dealt evenly, an
// upper bound to start from.
func evenLimit(n, stages int, cost RangeCost) float64 {
	limit := 0.0
	for s := range stages {
		limit = max(limit, cost(s, s*n/stages, (s+1)*n/stages))
	}
	return limit
}

// A probe tests limits on the largest cost. Its two rows say which numbers of
// layers the stages so far can hold exactly.
type probe struct {
	held, next []bool
}

func newProbe(n int) *probe {
	return &probe{held: make([]bool, n+1), next: make([]bool, n+1)}
}

// meets reports whether all layers fit when no stage may cost more than limit.
// It takes O(stages · layers).
func (p *probe) meets(limit float64, stages int, cost RangeCost) bool {
	clear(p.held)
	p.held[0] = true
	for s := range stages {
		if !p.advance(s, limit, cost) {
			return false
		}
	}
	return p.held[len(p.held)-1]
}

// advance adds a stage, and reports whether it can hold anything. From each
// start the ends within the limit are an interval whose upper end does not
// decrease with the start: one sweep finds their union.
func (p *probe) advance(stage int, limit float64, cost RangeCost) bool {
	clear(p.next)
	layers, end, found := len(p.held)-1, 0, false
	for first := range layers {
		if !p.held[first] {
			continue
		}
		end = max(end, first)
		for end < layers && cost(stage, first, end+1) <= limit {
			end++
			p.next[end] = true
			found = true
		}
	}
	p.held, p.next = p.next, p.held
	return found
}

// tie is how much smaller a sum of squares must be, as a factor, to count as
// smaller: it absorbs rounding, which depends on the order of summation.
const tie = 1 - 1e-12

// leastSquares returns the partition of least sum of squares in which no stage
// costs more than limit, which must be possible. It fills, from the last stage to
// the first, rest[i] = the least sum for layers i to n on the stages from s on.
func leastSquares(n, stages int, cost RangeCost, limit float64) Partition {
	rest, next := make([]float64, n+1), make([]float64, n+1)
	for i := range n {
		rest[i] = math.Inf(1)
	}
	ends := make([][]int32, stages)
	for s := stages - 1; s >= 0; s-- {
		ends[s] = make([]int32, n+1)
		least := slices.Min(rest)
		next[n] = math.Inf(1)
		for first := range n {
			next[first], ends[s][first] = bestEnd(s, first, rest, least, cost, limit)
		}
		rest, next = next, rest
	}
	p := make(Partition, stages)
	first := 0
	for s := range p {
		end := int(ends[s][first])
		p[s] = end - first
		first = end
	}
	return p
}

// bestEnd returns the least sum of squares for the layers from first on when
// stage s starts there, and the end of that stage; +Inf if there is none. It
// stops as soon as this stage is too costly whatever follows, of which least is
// the least sum.
func bestEnd(s, first int, rest []float64, least float64, cost RangeCost, limit float64) (sum float64, end int32) {
	sum = math.Inf(1)
	for e := first + 1; e < len(rest); e++ {
		c := cost(s, first, e)
		if c > limit || c*c+least >= sum {
			break
		}
		if v := c*c + rest[e]; v < sum*tie {
			sum, end = v, int32(e)
		}
	}
	return sum, end
}
