package constraints_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestEntangled: what depends on one case of a choice only is named, and nothing else.
func TestEntangled(t *testing.T) {
	ref := func(kind string) []model.Ref { return []model.Ref{{Kind: kind}} }
	for _, c := range []struct {
		name string
		mode model.Mode
		o    model.Operation
		want int32 // -1: none
	}{
		{"after the whole backward", model.Auto, model.Operation{After: ref("backward")}, 4},
		{"after the gradients of weights", model.Auto, model.Operation{After: ref("backward_weight")}, 4},
		{"after the gradient of the input", model.Auto, model.Operation{After: ref("backward_input")}, -1},
		{"after the fused backward", model.Auto, model.Operation{After: ref("backward_full")}, -1},
		{"before the backward", model.Auto, model.Operation{Before: ref("backward")}, -1},
		{"before the gradients of weights", model.Auto, model.Operation{Before: ref("backward_weight")}, 3},
		{"before the fused backward", model.Auto, model.Operation{Before: ref("backward_full")}, 3},
		{"takes for the backward", model.Auto, model.Operation{After: ref("forward"), Before: ref("backward"), Takes: 1}, -1},
		{"takes for the end of the backward", model.Auto, model.Operation{After: ref("forward"), Takes: 1}, 3},
		{"once after the backwards", model.Auto, model.Operation{After: ref("backward"), Single: true}, -1},
		{"once before the backwards", model.Auto, model.Operation{Before: ref("backward"), Single: true}, -1},
		{"once before the gradients of weights", model.Auto, model.Operation{Before: ref("backward_weight"), Single: true}, 3},
		{"no choice", model.Split, model.Operation{After: ref("backward")}, -1},
	} {
		pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 2, Backward: c.mode})
		c.o.Name, c.o.Letter, c.o.Duration = "extra", "X", 1
		pl.Operations = []model.Operation{c.o}
		if got := constraints.Entangled(compile(t, pl)); got != c.want {
			t.Errorf("%s: row %d, want %d", c.name, got, c.want)
		}
	}
}
