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
	return measured[chosen]/best - 1
}
