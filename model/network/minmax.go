package network

// A RangeCost returns the cost of layers first to end, half-open and not empty,
// on a stage. It is finite, not negative, and no smaller for a range that
// contains another.
type RangeCost func(stage, first, end int) float64

// Limits of the least squares of [MinMax], which take time in proportion to the square
// of the layers, and memory in proportion to layers · stages: a second, or 40 MB.
const (
	maxSquaresLayers = 10_000
	maxSquaresCells  = 10_000_000
)

// MinMax returns the partition of a chain of layers into stages, none of them
// empty, with the smallest largest cost of a stage. Among these it returns one
// with the smallest sum of squared costs, so that the stages off the bottleneck
// are even, too; among sums that agree to a part in 10¹², the one with the fewer
// layers in the earliest stage where they differ. Above 10,000 layers or ten million
// layers × stages this second step would take too long, and is left out: then the
// early stages hold as many layers as the largest cost allows.
//
// The largest cost is exact: it is found by bisection over all float64 values
// with an exact test whether a value can be met, see [probe]. The second step is
// dynamic programming over the ranges that meet it. With n layers, S stages and at
// most w layers in a range that meets the value, time is O(64·S·log w) calls of cost
// for the first step, unless single layers are too costly for a stage at the very
// value, and O(S·n·w) for the second; memory is O(S + n), and O(S·n) for the second.
//
// It returns a [*PartitionError] if there are fewer layers than stages or no
// stages. If cost breaks its rules, the result is some valid partition or a
// panic.
func MinMax(layers, stages int, cost RangeCost) (Partition, error) {
	if err := checkCounts(layers, stages); err != nil {
		return nil, err
	}
	p := &probe{layers: layers, stages: stages, cost: cost, ends: make([]int, stages)}
	limit := p.leastLimit()
	if layers <= maxSquaresLayers && layers*stages <= maxSquaresCells {
		return leastSquares(layers, stages, cost, limit), nil
	}
	return p.partition(limit), nil
}
