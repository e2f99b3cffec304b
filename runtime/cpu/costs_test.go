package cpu

import (
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// TestLedger tests that a layer costs the mean of its calls in an iteration, and of that the
// median over iterations: one slow call of an iteration counts, one slow iteration does not.
func TestLedger(t *testing.T) {
	var l ledger
	stages := []network.Slice{{End: 1, Recompute: network.RecomputeFull}}
	for _, calls := range [][]time.Duration{{10, 10, 10, 50}, {10, 12, 14, 40}, {10, 10, 10, 54}, {500, 500, 500, 500}, {10, 10, 10, 46}} {
		var times []LayerTime
		for m, d := range calls {
			times = append(times, LayerTime{MicroBatch: m, Kind: model.BackwardInput, Time: d})
		}
		l.add(times, stages)
	}
	got := l.quantiles(entry{kind: model.BackwardInput, recompute: network.RecomputeFull})
	if want := (pipert.Quantiles{N: 5, P10: 19, Median: 20, P90: 21 + 0.6*479}); !closeTo(got, want) {
		t.Errorf("quantiles %+v, want %+v", got, want)
	}
	if other := l.quantiles(entry{kind: model.BackwardInput}); other.N != 0 {
		t.Errorf("%d samples without recomputation, want none", other.N)
	}
}

func closeTo(a, b pipert.Quantiles) bool {
	within := func(x, y float64) bool { return x-y < 1e-9 && y-x < 1e-9 }
	return a.N == b.N && within(a.P10, b.P10) && within(a.Median, b.Median) && within(a.P90, b.P90)
}
