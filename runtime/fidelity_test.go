package runtime

import "testing"

func TestFidelity(t *testing.T) {
	predicted := []float64{10, 12, 11, 20}
	for _, test := range []struct {
		measured []float64
		tau      float64
		regret   float64
	}{
		{[]float64{1, 3, 2, 4}, 1, 0},
		{[]float64{4, 2, 3, 1}, -1, 3},      // the worst was taken for the best
		{[]float64{5, 5, 5, 5}, 1, 0},       // nothing to order
		{[]float64{2, 3, 1, 4}, 4.0 / 6, 1}, // one of six pairs the other way round
		{[]float64{1, 1, 2, 3}, 3.0 / 5, 0}, // one tie, of the rest one the other way round
	} {
		if got := KendallTau(predicted, test.measured); got != test.tau {
			t.Errorf("tau of %v: %v, want %v", test.measured, got, test.tau)
		}
		if got := Regret(predicted, test.measured); got != test.regret {
			t.Errorf("regret of %v: %v, want %v", test.measured, got, test.regret)
		}
	}
	if got := PredictionError(90, 100); got != -0.1 {
		t.Errorf("error %v, want -0.1", got)
	}
}
