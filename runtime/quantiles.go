package runtime

import (
	"math"
	"slices"
)

// Quantiles sum up samples of one quantity, in its own unit. The zero value has none.
type Quantiles struct {
	N                int // samples
	P10, Median, P90 float64
}

// NewQuantiles returns the quantiles of samples, which it reorders. Between two samples it
// interpolates linearly (Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996,
// definition 7).
func NewQuantiles(samples []float64) Quantiles {
	if len(samples) == 0 {
		return Quantiles{}
	}
	slices.Sort(samples)
	at := func(share float64) float64 {
		position := share * float64(len(samples)-1)
		low := math.Floor(position)
		i := int(low)
		if i+1 == len(samples) {
			return samples[i]
		}
		return samples[i] + (position-low)*(samples[i+1]-samples[i])
	}
	return Quantiles{N: len(samples), P10: at(0.1), Median: at(0.5), P90: at(0.9)}
}

// Spread is the distance of the outer quantiles relative to the median, 0 if that is 0.
func (q Quantiles) Spread() float64 {
	if q.Median == 0 {
		return 0
	}
	return (q.P90 - q.P10) / q.Median
}
