package model_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/google/go-cmp/cmp"
)

// withEngine adds a copy engine to a pipeline and returns its number.
func withEngine(pl *model.Pipeline) int {
	pl.Devices = append(pl.Devices, model.Device{Name: "copy", Limit: model.Unlimited, Engine: true})
	return len(pl.Devices) - 1
}

// TestRecompute checks an operation that takes memory which the last backward
// gives back, on the device of its stage.
func TestRecompute(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 3, Activation: []model.Bytes{1}, Backward: model.Fused})
	for s := range pl.Stages {
		pl.Operations = append(pl.Operations, model.Operation{Name: "recompute", Letter: "R", Stage: s, Duration: 2,
			After: []model.Ref{{Kind: "forward", Stage: s}}, Before: []model.Ref{{Kind: "backward", Stage: s}}, Takes: 3})
	}
	p := compile(t, pl)
	if got := p.Name(p.Base(5) + 2); got != "1R2" {
		t.Errorf("the third recomputation of stage 1 is called %s", got)
	}
	op, err := p.ParseOp("1R2")
	if err != nil || op != p.Base(5)+2 {
		t.Errorf("1R2 parses as %d, %v", op, err)
	}
	backward := p.Rows[p.RowOf(idOf(p, "0B0"))]
	if got := backward.Memory[0]; got != (model.Delta{AtEnd: -4}) {
		t.Errorf("the backward of stage 0 has memory %+v, want all 4 given back", got)
	}
	if got := p.Rows[p.RowOf(idOf(p, "0R0"))].Memory[0]; got != (model.Delta{AtStart: 3}) {
		t.Errorf("the recomputation has memory %+v", got)
	}
	plan := named(p, "0F0 0F1 0R0 0B0 0F2 0R1 0B1 0R2 0B2", "1F0 1R0 1B0 1F1 1R1 1B1 1F2 1R2 1B2")
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	m := model.Measure(p, plan, tl)
	// Device 1 works on each micro-batch for 5 ticks from 1 on; then 0B2 from 16 to 18.
	if m.Makespan != 18 || m.Devices[0].Peak != 5 || m.Devices[1].Peak != 4 {
		t.Errorf("makespan %d, peaks %d and %d; want 18, 5, 4", m.Makespan, m.Devices[0].Peak, m.Devices[1].Peak)
	}
}

// TestOffload checks that an operation on an engine takes and gives memory at
// places in the order of its stage's device.
func TestOffload(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 2, Activation: []model.Bytes{4}, Backward: model.Fused, Latency: 9})
	engine := withEngine(pl)
	pl.Operations = []model.Operation{
		{Name: "offload", Letter: "D", Stage: 0, Devices: []int{engine}, Duration: 3, After: []model.Ref{{Kind: "forward", Stage: 0}}, Gives: 4},
		{Name: "reload", Letter: "L", Stage: 0, Devices: []int{engine}, Duration: 3, Takes: 4,
			After: []model.Ref{{Kind: "offload", Stage: 0, Lag: 1}}, Before: []model.Ref{{Kind: "backward", Stage: 0}}},
	}
	p := compile(t, pl)
	plan := named(p, "0F0 0D_FREE0 0F1 0L_ALLOC0 0B0 0D_FREE1 0L_ALLOC1 0B1", "0D0 0D1 0L0 0L1")
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	m := model.Measure(p, plan, tl)
	// 0F0 to 1, 0D0 to 4, 0F1 to 5 behind the freeing, 0D1 to 8, 0L0 to 11, 0B0 to 13, 0L1 to 16, 0B1 to 18.
	if m.Makespan != 18 || m.Devices[0].Peak != 8 || m.Devices[1].Peak != 0 || m.Devices[1].Busy != 12 {
		t.Errorf("makespan %d, peaks %d and %d, engine busy %d; want 18, 8, 0, 12",
			m.Makespan, m.Devices[0].Peak, m.Devices[1].Peak, m.Devices[1].Busy)
	}
	if got := pl.DeviceCounts(); got != "1 device, 1 engine" {
		t.Errorf("counts: %s", got)
	}
	if got := p.StagesOn(engine); len(got) != 0 {
		t.Errorf("the engine holds stages %v", got)
	}
}

// TestSingle checks operations of no micro-batch: a barrier between forwards and
// backwards, and a step at the end.
func TestSingle(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused, Latency: 1})
	pl.Operations = []model.Operation{
		{Name: "loss", Letter: "LOSS", Stage: 1, Single: true, Duration: 5,
			After: []model.Ref{{Kind: "forward", Stage: 1}}, Before: []model.Ref{{Kind: "backward", Stage: 1}}},
		{Name: "step", Letter: "STEP", Stage: -1, Single: true, Devices: []int{0, 1}, Duration: 2,
			After: []model.Ref{{Kind: "backward", Stage: 0}, {Kind: "backward", Stage: 1}}},
	}
	p := compile(t, pl)
	plan := named(p, "0F0 0F1 0B0 0B1 STEP", "1F0 1F1 1LOSS 1B0 1B1 STEP")
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	step, _ := p.ParseOp("STEP")
	// Forwards of stage 1 from 2 to 4, loss to 9, 1B0 to 11, 0B0 from 12 to 14, 0B1 to 16.
	if got := tl.Start[step]; got != 17 {
		t.Errorf("the step starts at %d, want 17: after 0B1 and a latency to the gang", got)
	}
}

func TestOperationFile(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 1})
	engine := withEngine(pl)
	pl.TimeUnit, pl.MemoryUnit = model.Unit{Multiplier: 1, Divisor: 1}, model.Unit{Multiplier: 1, Divisor: 1}
	pl.Operations = []model.Operation{
		{Name: "copy", Letter: "C", Stage: 0, Devices: []int{engine}, Duration: 3, Fixed: true, Takes: 2, Gives: 2,
			After: []model.Ref{{Kind: "forward", Stage: 0, Lag: 2}}, Before: []model.Ref{{Kind: "end", Stage: -1}}},
		{Name: "end", Letter: "END", Stage: -1, Single: true, Devices: []int{0}, Duration: 1},
	}
	p := compile(t, pl)
	file := &model.PlanFile{Problem: p, Plan: named(p, "0F0 0C_ALLOC0 0C_FREE0 0I0 0W0 END", "0C0")}
	var text bytes.Buffer
	if err := file.Encode(&text); err != nil {
		t.Fatal(err)
	}
	back, err := model.DecodePlan(text.Bytes())
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	if diff := cmp.Diff(pl, back.Problem.Pipeline); diff != "" {
		t.Error(diff)
	}
	wrong := strings.Replace(text.String(), `"letter":"C"`, `"letter":"c"`, 1)
	if _, err := model.DecodePlan([]byte(wrong)); err == nil || !strings.Contains(err.Error(), "operations[0]") {
		t.Errorf("a file with a small letter: %v", err)
	}
}

func TestOperationErrors(t *testing.T) {
	type change func(o *model.Operation)
	for _, c := range []struct {
		change change
		want   string
	}{
		{func(o *model.Operation) { o.Name = "All" }, "operation 0 (All): its name is not made of lower-case letters, digits and _; write a name such as all_reduce"},
		{func(o *model.Operation) { o.Name = "x_free" }, "operation 0 (x_free): its name is not made of lower-case letters, digits and _; write a name such as all_reduce"},
		{func(o *model.Operation) { o.Name = "backward" }, "operation 0 (backward): its name is that of a standard kind; choose another name"},
		{func(o *model.Operation) { o.Letter = "F" }, "operation 0 (extra): its letter F is that of forward; choose another letter"},
		{func(o *model.Operation) { o.Letter = "x" }, `operation 0 (extra): its letter "x" is not made of capitals and _; write a letter such as R or REDUCE`},
		{func(o *model.Operation) { o.Stage = 2 }, "operation 0 (extra): there is no stage 2; the stages are 0 to 1, -1 is none"},
		{func(o *model.Operation) { o.Stage = -1 }, "operation 0 (extra): it has neither a stage nor devices; say where it runs"},
		{func(o *model.Operation) { o.Duration = -1 }, "operation 0 (extra): duration -1 is out of range"},
		{func(o *model.Operation) { o.Devices = []int{1, 1} }, "operation 0 (extra): it lists device 1 twice"},
		{func(o *model.Operation) { o.Devices = []int{2} }, "operation 0 (extra): there is no device 2"},
		{func(o *model.Operation) { o.Gives = 1 }, "stage 0: its operations give back 1 more than they take, beyond what its activation leaves them"},
		{func(o *model.Operation) { o.Single, o.Gives = true, 1 }, "operation 0 (extra): it runs once, takes 0 and gives 1; leave out what it gives: it gives back what it takes"},
		{func(o *model.Operation) { o.Devices, o.Takes = []int{1}, 1 }, "operation 0 (extra): it takes 1 and gives 0 on devices that do not hold its stage; make both equal, or leave the devices out"},
		{func(o *model.Operation) { o.Stage, o.Devices, o.Takes = -1, []int{0}, 1 }, "operation 0 (extra): it belongs to no stage, takes 1 and gives 0; make both equal, or name the stage that gives back the rest"},
		{func(o *model.Operation) { o.After[0].Kind = "forwards" }, "operation 0 (extra): there is no forwards of stage 0; stage 0 has forward, backward_input, backward_weight, extra"},
		{func(o *model.Operation) { o.After[0].Stage = 7 }, "operation 0 (extra): it names stage 7; the stages are 0 to 1, -1 is none"},
		{func(o *model.Operation) { o.Before = []model.Ref{{Kind: "forward", Stage: 0}} }, "operation 0 (extra): extra of stage 0 waits for itself, by way of what it waits for; take one of the waits out"},
		{func(o *model.Operation) { o.Takes, o.Before = 2, []model.Ref{{Kind: "forward", Stage: 0}} }, "operation 0 (extra): extra of stage 0 waits for itself, by way of what it waits for; take one of the waits out"},
		{func(o *model.Operation) {
			o.Takes, o.After, o.Before = 2, nil, []model.Ref{{Kind: "forward", Stage: 0}}
		}, "operation 0 (extra): extra of stage 0 takes more than it gives, so it runs after the forward of its stage and before its last backward, but by the waits it cannot; make both equal, or let it run in between"},
		{func(o *model.Operation) { o.Takes, o.After = 1, []model.Ref{{Kind: "backward", Stage: 0}} }, "operation 0 (extra): extra of stage 0 takes more than it gives, so it runs after the forward of its stage and before its last backward, but by the waits it cannot; make both equal, or let it run in between"},
	} {
		pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2})
		o := model.Operation{Name: "extra", Letter: "X", Duration: 1, After: []model.Ref{{Kind: "forward", Stage: 0}}}
		c.change(&o)
		pl.Operations = []model.Operation{o}
		_, err := model.Compile(pl)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestRefusedBorrowing: what gives back memory early on an engine cannot do so before
// the forward has taken it, nor by way of another operation.
func TestRefusedBorrowing(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2, Activation: []model.Bytes{3}})
	pl.Devices = append(pl.Devices, model.Device{Name: "copy", Engine: true, Limit: model.Unlimited})
	pl.Operations = []model.Operation{
		{Name: "offload", Letter: "O", Devices: []int{2}, Duration: 1, Gives: 1, Before: []model.Ref{{Kind: "fence", Stage: 0}}},
		{Name: "fence", Letter: "X", Duration: 1, Before: []model.Ref{{Kind: "forward", Stage: 0}}},
	}
	const want = "operation 0 (offload): offload of stage 0 takes less than it gives, so it runs after the forward of its stage and before its last backward, but by the waits it cannot; make both equal, or let it run in between"
	if _, err := model.Compile(pl); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	pl.Operations[0].Gives = 0
	if _, err := model.Compile(pl); err != nil {
		t.Errorf("without memory: %v", err)
	}
}
