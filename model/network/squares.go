package network

import (
	"math"
	"slices"
)

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
