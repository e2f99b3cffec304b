package emulated_test

import (
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// demandLags demands that no operation ends before what it waits for allows. It reckons from
// starts: a device counts a lag from the end as it sees it, a moment before the engine does.
func demandLags(t *testing.T, p *model.Problem, record *pipert.Record, tick int64) {
	t.Helper()
	for op := range model.OpID(p.NumOps()) {
		if record.Start[op] < 0 {
			continue
		}
		for _, pred := range p.Row(op).Preds {
			first, last := p.PredOps(p.RowOf(op), p.Index(op), pred)
			for before := first; before < last; before++ {
				least := int64(p.Duration(before)+pred.Lag+p.Duration(op)) * tick
				if took := record.End[op] - record.Start[before]; record.Start[before] >= 0 && took < least {
					t.Errorf("%s ended %d ns after the start of %s, want at least %d", p.Name(op), took, p.Name(before), least)
				}
			}
		}
	}
}

// TestLags has an operation wait for two of another device, for longer after the first than
// after the last, of which alone a message tells; and random pipelines with operations of
// their own.
func TestLags(t *testing.T) {
	const tick = 20 * time.Microsecond
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused, Latency: 3})
	pl.Operations = []model.Operation{{
		Name: "all_reduce", Letter: "R", Stage: 1, Single: true, Duration: 4,
		After: []model.Ref{{Kind: "forward", Stage: 0, Lag: 500}, {Kind: model.Backward, Stage: 0}},
	}}
	pipelines := []*model.Pipeline{pl}
	for seed := range uint64(20) {
		pl := modelgen.RandomStages(seed, 4)
		modelgen.AddOperations(pl, seed)
		for i := range pl.Operations {
			for j := range pl.Operations[i].After {
				pl.Operations[i].After[j].Lag += model.Time((seed + 7*uint64(i+j)) % 20)
			}
		}
		pipelines = append(pipelines, pl)
	}
	for i, pl := range pipelines {
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := modelgen.RandomPlan(p, uint64(i))
		pr, err := lower.Lower(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		b, e := open(t, pr, emulated.Options{Tick: tick})
		for range 2 {
			demandLags(t, p, iterate(t, t.Context(), b, e), int64(b.PerTick()))
		}
	}
}
