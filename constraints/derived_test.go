package constraints_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

func TestDerivedTablesAreCompared(t *testing.T) {
	for name, spoil := range map[string]func(*model.Problem){
		"rows of a device": func(p *model.Problem) { p.RowsOn[0] = p.RowsOn[0][1:] },
		"successor":        func(p *model.Problem) { p.Succs[0] = p.Succs[0][1:] },
		"lag of successor": func(p *model.Problem) { p.Succs[0][0].Lag++ },
		"choice":           func(p *model.Problem) { p.HasChoice = !p.HasChoice },
		"identical":        func(p *model.Problem) { p.Identical = !p.Identical },
	} {
		p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Latency: 1, Backward: model.Auto})
		if r := constraints.CheckCompiled(p); !r.OK() {
			t.Fatal(r.Err())
		}
		spoil(p)
		if r := constraints.CheckCompiled(p); r.Counts[constraints.RuleCompiled] == 0 {
			t.Errorf("%s: not reported", name)
		}
	}
}
