package model_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestEvaluateOneForwardOneBackward compares with the closed form: each device
// behind the first waits for a forward and an input gradient less than with a
// fused backward, 3M + 2(P-1) for unit costs.
func TestEvaluateOneForwardOneBackward(t *testing.T) {
	for _, c := range []struct {
		p, m int
		want model.Time
	}{{4, 8, 30}, {8, 16, 62}, {1, 4, 12}, {4, 1, 9}, {2, 2, 8}} {
		p := modelgen.Unit(c.p, c.m)
		plan := modelgen.OneForwardOneBackward(p)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		if got := model.Measure(p, plan, tl).Makespan; got != c.want {
			t.Errorf("P=%d M=%d: makespan %d, want %d", c.p, c.m, got, c.want)
		}
	}
}
