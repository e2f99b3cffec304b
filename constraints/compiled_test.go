package constraints_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// rowMutations change one field of a row, which makes the problem differ from
// its pipeline. They return false where that is not so.
var rowMutations = map[string]func(p *model.Problem, row *model.Row, r *rand.Rand) bool{
	"duration": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Duration++; return true },
	"fixed":    func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Fixed = !row.Fixed; return true },
	"single":   func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Single = !row.Single; return true },
	"kind":     func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Kind = (row.Kind + 1) % 7; return true },
	"stage":    func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Stage++; return true },
	"route":    func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Route--; return true },
	"to":       func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.To += 7; return true },
	"choice": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool {
		row.Choice = (row.Choice + 1) % 3
		return true
	},
	"twin": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool { row.Twin += 2; return true },
	"drop a predecessor": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool {
		if len(row.Preds) == 0 {
			return false
		}
		row.Preds = row.Preds[1:]
		return true
	},
	"add a predecessor": func(p *model.Problem, row *model.Row, r *rand.Rand) bool {
		q := int32(r.IntN(len(p.Rows)))
		if slices.ContainsFunc(row.Preds, func(pred model.Pred) bool { return pred.Row == q }) {
			return false
		}
		row.Preds = append(slices.Clone(row.Preds), model.Pred{Row: q})
		return true
	},
	"lag": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool {
		if len(row.Preds) == 0 {
			return false
		}
		row.Preds = slices.Clone(row.Preds)
		row.Preds[0].Lag++
		return true
	},
	"memory": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool {
		row.Memory = slices.Clone(row.Memory)
		if row.Memory == nil {
			row.Memory = make([]model.Delta, len(row.Devices))
		}
		row.Memory[len(row.Memory)-1].AtEnd--
		return true
	},
	"short memory": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool {
		if len(row.Memory) == 0 {
			return false
		}
		row.Memory = row.Memory[:len(row.Memory)-1]
		return true
	},
	"device": func(p *model.Problem, row *model.Row, _ *rand.Rand) bool {
		if p.NumDevices() == 1 || len(row.Devices) > 1 {
			return false
		}
		row.Devices = []int32{(row.Devices[0] + 1) % int32(p.NumDevices())}
		return true
	},
	"gang member": func(_ *model.Problem, row *model.Row, _ *rand.Rand) bool {
		if len(row.Devices) == 1 {
			return false
		}
		row.Devices = row.Devices[1:]
		return true
	},
}

func TestCompiledSeesChangedRows(t *testing.T) {
	for name, mutate := range rowMutations {
		t.Run(name, func(t *testing.T) {
			for seed, found := uint64(0), 0; found < 40; seed++ {
				p := compile(t, modelgen.RandomPipeline(seed, 3))
				r := rand.New(rand.NewPCG(seed, 1))
				at := r.IntN(len(p.Rows))
				if !mutate(p, &p.Rows[at], r) {
					continue
				}
				found++
				s := schedule{p, &model.Plan{}, &model.Timeline{}}
				demandOnly(t, s, constraints.RuleCompiled, fmt.Sprintf("seed %d row %d", seed, at))
			}
		})
	}
}

func TestCompiledSeesMissingAndSurplusRows(t *testing.T) {
	for seed := range uint64(300) {
		p := compile(t, modelgen.RandomPipeline(seed, 3))
		last := len(p.Rows) - 1
		twice := p.Rows[last]
		p.Rows = p.Rows[:last]
		demandOnly(t, schedule{p, nil, nil}, constraints.RuleCompiled, fmt.Sprintf("seed %d, dropped", seed))
		if last > 0 {
			p.Rows = append(p.Rows, p.Rows[0])
			demandOnly(t, schedule{p, nil, nil}, constraints.RuleCompiled, fmt.Sprintf("seed %d, twice", seed))
			p.Rows[last] = twice
			if err := constraints.CheckCompiled(p).Err(); err != nil {
				t.Fatalf("seed %d, restored: %v", seed, err)
			}
		}
	}
}

func TestCompiledSeesChangedDevices(t *testing.T) {
	for name, change := range map[string]func(*model.Problem){
		"limit":   func(p *model.Problem) { p.Limits[0]-- },
		"static":  func(p *model.Problem) { p.Statics[0]++ },
		"devices": func(p *model.Problem) { p.Statics = p.Statics[1:] },
		"choice":  func(p *model.Problem) { p.HasChoice = false },
	} {
		p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Auto})
		change(p)
		demandOnly(t, schedule{p, nil, nil}, constraints.RuleCompiled, name)
	}
}

// TestCompiledSeesChangedKinds spoils the table of kinds.
func TestCompiledSeesChangedKinds(t *testing.T) {
	for name, change := range map[string]func(*model.Problem){
		"standard": func(p *model.Problem) { p.Kinds[0].Busy = false },
		"name":     func(p *model.Problem) { p.Kinds[6].Name = "other" },
		"letter":   func(p *model.Problem) { p.Kinds[6].Letter = "Q" },
		"busy":     func(p *model.Problem) { p.Kinds[6].Busy = false },
		"more":     func(p *model.Problem) { p.Kinds = append(p.Kinds, model.KindInfo{Name: "other", Letter: "O"}) },
		"less":     func(p *model.Problem) { p.Kinds = p.Kinds[:len(p.Kinds)-1] },
	} {
		p := compile(t, withOperations())
		if err := constraints.CheckCompiled(p).Err(); err != nil {
			t.Fatal(err)
		}
		change(p)
		demandOnly(t, schedule{p, nil, nil}, constraints.RuleCompiled, name)
	}
}

// withOperations returns a pipeline with operations of its own: a recomputation, an
// offload by an engine and a step.
func withOperations() *model.Pipeline {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2, Latency: 1, Activation: []model.Bytes{4}})
	pl.Devices = append(pl.Devices, model.Device{Name: "copy", Limit: model.Unlimited, Engine: true})
	pl.Operations = []model.Operation{
		{Name: "recompute", Letter: "R", Stage: 0, Duration: 2, Takes: 1,
			After: []model.Ref{{Kind: "forward", Stage: 0}}, Before: []model.Ref{{Kind: "backward", Stage: 0}}},
		{Name: "offload", Letter: "OUT", Stage: 1, Devices: []int{2}, Duration: 1, Gives: 1, After: []model.Ref{{Kind: "forward", Stage: 1}}},
		{Name: "step", Letter: "STEP", Stage: -1, Single: true, Devices: []int{0, 1}, Duration: 2,
			After: []model.Ref{{Kind: "backward", Stage: 0}, {Kind: "backward", Stage: 1}}},
	}
	return pl
}

// TestCompiledSeesAChangedOperation compiles one pipeline and judges the result
// against another one, of which one operation differs.
func TestCompiledSeesAChangedOperation(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o []model.Operation)
		want   string
	}{
		"duration": {func(o []model.Operation) { o[0].Duration++ }, "row 6 (recompute of stage 0, route 0) lasts 2 (fixed: false, once: false), the pipeline says 3"},
		"takes":    {func(o []model.Operation) { o[0].Takes++ }, "takes 1 and 0 at start and end on device 0, the pipeline says 2 and 0"},
		"borrowed": {func(o []model.Operation) { o[0].Takes++ }, "takes 0 and -5 at start and end on device 0, the pipeline says 0 and -6"},
		"after":    {func(o []model.Operation) { o[0].After[0].Lag = 3 }, "waits for [{0 0}] (row and lag), the pipeline says [{0 3}]"},
		"before":   {func(o []model.Operation) { o[0].Before[0].Kind = "backward_weight" }, "row 1 (backward_input of stage 0, route 0) waits for"},
		"gives":    {func(o []model.Operation) { o[1].Gives = 0 }, "row 8 (offload_free of stage 1, route 0) the pipeline has no such operation"},
		"device":   {func(o []model.Operation) { o[2].Devices = []int{0} }, "row 9 (step of stage -1, route 0) sits on devices [0 1], the pipeline says [0]"},
		"once":     {func(o []model.Operation) { o[2].Single = false }, "lasts 2 (fixed: false, once: true), the pipeline says 2 (fixed: false, once: false)"},
		"name":     {func(o []model.Operation) { o[2].Name = "end" }, "the end of stage -1, route 0 has no row"},
		"letter":   {func(o []model.Operation) { o[2].Letter = "E" }, "kind 9 (step, STEP, busy: true) is not what the pipeline says"},
	} {
		pl := withOperations()
		p := compile(t, pl)
		c.change(pl.Operations)
		err := constraints.CheckCompiled(p).Err()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestCompiledSeesAChangedPipeline compiles one pipeline and judges the result
// against another, that differs in one word.
func TestCompiledSeesAChangedPipeline(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*model.Pipeline)
		want   string
	}{
		"latency":  {func(pl *model.Pipeline) { pl.Latency = 2 }, "waits for [{0 1}] (row and lag), the pipeline says [{0 2}]"},
		"link":     {func(pl *model.Pipeline) { pl.Links = []model.Link{{From: 0, To: 1, Latency: 5}} }, "waits for [{0 1}] (row and lag), the pipeline says [{0 5}]"},
		"blocking": {func(pl *model.Pipeline) { pl.Blocking = true }, "the send_forward from stage 0 to stage 1, route 0 has no row"},
		"edge":     {func(pl *model.Pipeline) { pl.Stages[1].After = nil }, "waits for"},
		"mode":     {func(pl *model.Pipeline) { pl.Stages[0].Backward = model.Fused }, "the backward_full of stage 0, route 0 has no row"},
		"replica":  {func(pl *model.Pipeline) { pl.Stages[0].Replicas[0].Devices = []int{1} }, "sits on devices [0], the pipeline says [1]"},
		"count":    {func(pl *model.Pipeline) { pl.MicroBatches++ }, "has 2 operations, its route has 3 micro-batches"},
		"limit":    {func(pl *model.Pipeline) { pl.Devices[1].Limit = 7 }, "device 1 has limit"},
	} {
		pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2, Latency: 1})
		p := compile(t, pl)
		if err := constraints.CheckCompiled(p).Err(); err != nil {
			t.Fatal(err)
		}
		c.change(pl)
		err := constraints.CheckCompiled(p).Err()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
