package profile

import (
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestPredict predicts one micro-batch through two stages by hand: forwards of 116 and 606 ns, the
// backwards of the second stage, 490 and 602, and a message of 30 between the forwards. The first
// stage is done before the second one's weight gradients are.
func TestPredict(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 1})
	s, err := heuristics.Lookup("zb-h1")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gathered(t).Predict(p, plan, small())
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(116 + 30 + 606 + 490 + 602); int64(got.Metrics.Makespan) != want || got.Seconds() != float64(want)/1e9 {
		t.Errorf("makespan %d ns, %v s, want %d ns", got.Metrics.Makespan, got.Seconds(), want)
	}
	wide := small()
	wide.Stacks[0].Layers, wide.Stages[1].End = 3, 5
	if _, err := gathered(t).Predict(p, plan, wide); err == nil {
		t.Error("predicted by costs of another network")
	}
}
