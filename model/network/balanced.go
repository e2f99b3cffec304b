package network

import "math"

// BalanceOptions says how stages differ from each other. The zero value says
// that they do not.
type BalanceOptions struct {
	// Recompute has one entry per stage; nil means none.
	Recompute []Recompute
	// Slowdown has one positive factor per stage, on the time of its device;
	// nil means 1.
	Slowdown []float64
}

// Balanced returns the partition with the smallest largest time of a stage for
// forward, backward input and backward weight of one micro-batch. Embedding and
// head are layers like any other. [MinMax] does the search; see there for ties
// and for the time it takes.
//
// It returns a [*PartitionError] if there are more stages than layers or the
// options do not fit the stages.
func Balanced(layers []Layer, stages int, options BalanceOptions) (Partition, error) {
	if err := options.check(layers, stages); err != nil {
		return nil, err
	}
	return MinMax(len(layers), stages, options.costs(layers))
}

// costs returns the work of ranges of layers, each call in O(1).
func (o BalanceOptions) costs(layers []Layer) RangeCost {
	var prefix [len(recomputes)][]float64
	for r := range prefix {
		prefix[r] = prefixWork(layers, Recompute(r))
	}
	return func(stage, first, end int) float64 {
		work := prefix[recomputeOf(o.Recompute, stage)]
		t := work[end] - work[first]
		if o.Slowdown != nil {
			t *= o.Slowdown[stage]
		}
		return t
	}
}

func (o BalanceOptions) check(chain []Layer, stages int) error {
	if err := checkLayers(chain, stages); err != nil {
		return err
	}
	layers := len(chain)
	if err := checkRecompute(o.Recompute, layers, stages); err != nil {
		return err
	}
	if o.Slowdown == nil {
		return nil
	}
	if len(o.Slowdown) != stages {
		return partitionErrorf(layers, stages, "slowdown has %d entries; give one per stage", len(o.Slowdown))
	}
	for s, factor := range o.Slowdown {
		if !(factor > 0) || math.IsInf(factor, 1) {
			return partitionErrorf(layers, stages, "stage %d has the slowdown %g; it must be positive", s, factor)
		}
	}
	return nil
}

// prefixWork returns, for each i from 0 to len(layers), the FLOPs of the first i
// layers under r.
func prefixWork(layers []Layer, r Recompute) []float64 {
	prefix := make([]float64, len(layers)+1)
	for i := range layers {
		prefix[i+1] = prefix[i] + layers[i].Cost(r).FLOPs()
	}
	return prefix
}
