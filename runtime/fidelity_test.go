package runtime

import (
	"math"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
)

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

func TestRatioAndFidelity(t *testing.T) {
	run := func(makespans ...time.Duration) *Run {
		r := &Run{}
		for _, m := range makespans {
			r.Records = append(r.Records, &Record{Makespan: m})
		}
		return r
	}
	// Each beside its own: 2, 3; the last of the base has none beside it, the second none to divide by.
	base, other := run(4, 5, 6, 9), run(2, 0, 2)
	if got, want := Ratio(base, other), (Quantiles{2, 2.1, 2.5, 2.9}); got != want {
		t.Errorf("ratio %v, want %v", got, want)
	}
	prediction := func(ticks model.Time) *Prediction {
		return &Prediction{Metrics: &model.Metrics{Makespan: ticks}, PerTick: 1}
	}
	runs := []*Run{run(10), run(20), run(40)}
	got := NewFidelity([]*Prediction{prediction(11), prediction(10), prediction(50)}, runs)
	if want := (Fidelity{Median: 0.25, Worst: 0.5, Tau: 1.0 / 3, Regret: 1}); math.Abs(got.Median-want.Median)+math.Abs(got.Worst-want.Worst)+
		math.Abs(got.Tau-want.Tau)+math.Abs(got.Regret-want.Regret) > 1e-12 {
		t.Errorf("fidelity %+v, want %+v", got, want)
	}
	if got := NewFidelity([]*Prediction{prediction(0), prediction(0)}, []*Run{run(0), run(0)}); got != (Fidelity{Tau: 1}) {
		t.Errorf("fidelity of nothing: %+v", got)
	}
}
