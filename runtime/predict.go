package runtime

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// Prediction is what a plan should take by given costs.
type Prediction struct {
	Problem  *model.Problem // with these costs
	Timeline *model.Timeline
	Metrics  *model.Metrics
	PerTick  float64 // nanoseconds that a tick of the problem lasts
}

// Predict evaluates a plan of a problem in which a tick lasts so many nanoseconds. Errors are
// those of [model.Evaluate].
func Predict(p *model.Problem, plan *model.Plan, perTick float64) (*Prediction, error) {
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		return nil, fmt.Errorf("prediction: %w", err)
	}
	return &Prediction{Problem: p, Timeline: tl, Metrics: model.Measure(p, plan, tl), PerTick: perTick}, nil
}

// Seconds returns the predicted time from the first start of an operation to the last end.
func (p *Prediction) Seconds() float64 { return float64(p.Metrics.Makespan) * p.PerTick / 1e9 }

// RowNanoseconds returns what an operation of a row should take: the median, where the factors of
// micro-batches make them different.
func (p *Prediction) RowNanoseconds(row int) float64 {
	count := p.Problem.Count(row)
	if p.Problem.Pipeline.Factors == nil {
		count = 1
	}
	samples := make([]float64, count)
	for i := range samples {
		samples[i] = float64(p.Problem.DurationIn(row, i)) * p.PerTick
	}
	return NewQuantiles(samples).Median
}

// MemoryDeviation is a device that did not hold what was predicted, in bytes.
type MemoryDeviation struct {
	Device              int
	Predicted, Measured int64 // peaks
	Live                int64 // what was left after the iteration
}

// MemoryDeviations compares what devices really held with a prediction in bytes, to the byte.
// It returns the devices where the peaks differ, or anything was left.
func (p *Prediction) MemoryDeviations(measured []Memory) []MemoryDeviation {
	var list []MemoryDeviation
	for d, m := range measured {
		if want := int64(p.Metrics.Devices[d].Peak); m.Peak != want || m.Live != 0 {
			list = append(list, MemoryDeviation{d, want, m.Peak, m.Live})
		}
	}
	return list
}
