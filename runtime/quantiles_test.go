package runtime

import "testing"

func TestQuantiles(t *testing.T) {
	for _, test := range []struct {
		samples []float64
		want    Quantiles
	}{
		{nil, Quantiles{}},
		{[]float64{7}, Quantiles{1, 7, 7, 7}},
		{[]float64{3, 1}, Quantiles{2, 1.2, 2, 2.8}},
		{[]float64{10, 0, 5, 2, 1, 3, 4, 9, 8, 7, 6}, Quantiles{11, 1, 5, 9}},
	} {
		if got := NewQuantiles(test.samples); got != test.want {
			t.Errorf("quantiles of %v: %v, want %v", test.samples, got, test.want)
		}
	}
	if got := (Quantiles{5, 8, 10, 13}).Spread(); got != 0.5 {
		t.Errorf("spread %v, want 0.5", got)
	}
}
