package runtime

// PredictionError returns (predicted - measured) / measured, 0 if measured is 0.
func PredictionError(predicted, measured float64) float64 {
	if measured == 0 {
		return 0
	}
	return (predicted - measured) / measured
}

// KendallTau returns the rank correlation of two figures of the same things, in [-1, 1]:
// the pairs that both put in the same order less those that they put in opposite orders,
// over all pairs that neither ties (Kendall, "A New Measure of Rank Correlation", 1938, with
// Goodman and Kruskal's treatment of ties). 1 if there is no such pair.
func KendallTau(a, b []float64) float64 {
	same, opposite := 0, 0
	for i := range a {
		for j := range i {
			switch product := (a[i] - a[j]) * (b[i] - b[j]); {
			case product > 0:
				same++
			case product < 0:
				opposite++
			}
		}
	}
	if same+opposite == 0 {
		return 1
	}
	return float64(same-opposite) / float64(same+opposite)
}

// Regret returns how much worse, measured, the best by prediction is than the best by
// measurement: 0 if they are the same. Of equal predictions the first counts. Both lists
// have the same length, at least 1, of positive times.
func Regret(predicted, measured []float64) float64 {
	best, chosen := measured[0], 0
	for i := range measured {
		best = min(best, measured[i])
		if predicted[i] < predicted[chosen] {
			chosen = i
		}
	}
	if best == 0 {
		return 0
	}
	return measured[chosen]/best - 1
}

// Fidelity says how far predictions of several runs can be trusted.
type Fidelity struct {
	Median, Worst float64 // of the absolute values of [PredictionError]
	Tau           float64 // [KendallTau]
	Regret        float64 // [Regret]
}

// NewFidelity compares predictions with the medians of the runs that they are of, at least one.
func NewFidelity(predictions []*Prediction, runs []*Run) Fidelity {
	var predicted, measured, errors []float64
	var f Fidelity
	for i, p := range predictions {
		want, got := p.Seconds(), runs[i].Makespans().Median
		e := PredictionError(want, got)
		predicted, measured, errors = append(predicted, want), append(measured, got), append(errors, max(e, -e))
		f.Worst = max(f.Worst, e, -e)
	}
	f.Median, f.Tau, f.Regret = NewQuantiles(errors).Median, KendallTau(predicted, measured), Regret(predicted, measured)
	return f
}

// Ratio returns how many times as long an iteration of base takes as the one of r that ran beside
// it, see [Compare]. Iterations of no length, and those that only one of the two has, do not count.
func Ratio(base, r *Run) Quantiles {
	var samples []float64
	for i := range min(len(base.Records), len(r.Records)) {
		if t := r.Records[i].Makespan; t > 0 {
			samples = append(samples, float64(base.Records[i].Makespan)/float64(t))
		}
	}
	return NewQuantiles(samples)
}
