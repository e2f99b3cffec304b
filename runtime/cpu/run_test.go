package cpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// chainOf is a small gpt on a chain of devices, by a random plan.
func chainOf(t *testing.T, o Options) *training {
	return chainWith(t, cut(t, gptOf(2), 2), o)
}

func chainWith(t *testing.T, b *network.Blueprint, o Options) *training {
	p := problemOf(t, b, [][]int{{0, 1}}, 3, model.Split)
	plan, _ := modelgen.RandomPlan(p, 1)
	return newTraining(t, p, plan, b, o)
}

// TestNonFinite puts a number that is none into a parameter of each stage, and an infinite
// input gradient between them, and demands an error that names the operation.
func TestNonFinite(t *testing.T) {
	for stage, want := range []string{"the output", "the loss"} {
		tr := chainOf(t, Options{Seed: 1})
		if err := tr.backend.Begin(0); err != nil {
			t.Fatal(err)
		}
		c := tr.backend.copies[stage][0]
		last := c.parameters[len(c.parameters)-1]
		last.value[0] = float32(math.NaN())
		_, err := tr.engine.Run(context.Background())
		var bad *NonFiniteError
		if !errors.As(err, &bad) || bad.Stage != stage || bad.Tensor != want {
			t.Errorf("a NaN in %s of stage %d gives %v", last.name, stage, err)
			continue
		}
		if fault := (*pipert.Fault)(nil); !errors.As(err, &fault) || !strings.Contains(err.Error(), bad.Operation) {
			t.Errorf("the error %v does not name %s", err, bad.Operation)
		}
		// The backend is as good as new after it.
		last.value[0] = 0
		tr.iterateAfterFault(t)
	}
}

// iterateAfterFault runs an iteration after one that failed.
func (tr *training) iterateAfterFault(t *testing.T) {
	t.Helper()
	step := tr.run(t, 0)
	if math.IsNaN(step.Loss) {
		t.Error("the loss after a fault is no number")
	}
	tr.checkMemory(t, step)
}

// TestNonFiniteGradient tests what only a backward pass can find.
func TestNonFiniteGradient(t *testing.T) {
	tr := chainOf(t, Options{Seed: 1})
	if err := tr.backend.Begin(0); err != nil {
		t.Fatal(err)
	}
	for m := range tr.backend.batches {
		tr.backend.batches[m][0].scale = float32(math.Inf(1))
	}
	_, err := tr.engine.Run(context.Background())
	var bad *NonFiniteError
	if !errors.As(err, &bad) || bad.Stage != 1 || bad.Tensor != "the gradient of the input" {
		t.Errorf("an infinite loss gradient gives %v", err)
	}
}

// TestNonFiniteStep: a gradient that is no number after the last operation is an error, and
// then no stage has made its optimizer step.
func TestNonFiniteStep(t *testing.T) {
	tr := chainOf(t, Options{Seed: 1})
	tr.run(t, 0)
	tr.run(t, 1)
	last := tr.backend.copies[1][0].parameters
	last[len(last)-1].grad[0] = float32(math.Inf(-1))
	var before [][]float32
	for _, p := range tr.backend.Parameters() {
		before = append(before, slices.Clone(p.Value))
	}
	_, err := tr.backend.Finish()
	var bad *NonFiniteError
	if !errors.As(err, &bad) || bad.Stage != 1 || bad.MicroBatch != -1 || !strings.HasPrefix(bad.Tensor, "the gradient of ") {
		t.Fatalf("an infinite gradient gives %v", err)
	}
	for i, p := range tr.backend.Parameters() {
		if !sameBits(p.Value, before[i]) {
			t.Errorf("%s of layer %d has changed with a step that failed", p.Name, p.Layer)
		}
	}
	if tr.backend.steps != 2 {
		t.Errorf("%d steps are counted, want the two that succeeded", tr.backend.steps)
	}
}

// TestIterationsStandAlone tests that an iteration finds no gradients of the one before it,
// and that the loss is the mean of its micro-batches. The optimizer does not change anything.
func TestIterationsStandAlone(t *testing.T) {
	tr := chainOf(t, Options{Seed: 1, Optimizer: AdamW{Epsilon: 1}})
	tr.run(t, 0)
	var first [][]float32
	for _, p := range tr.backend.Parameters() {
		first = append(first, slices.Clone(p.Gradient))
	}
	tr.run(t, 1)
	step := tr.run(t, 0)
	for i, p := range tr.backend.Parameters() {
		if !sameBits(p.Gradient, first[i]) {
			t.Errorf("the gradient of %s of layer %d is another one the second time", p.Name, p.Layer)
		}
	}
	want := 0.0
	for _, batches := range tr.backend.batches {
		want += batches[len(batches)-1].loss / float64(len(tr.backend.batches))
	}
	if math.Abs(step.Loss-want) > 1e-12*want {
		t.Errorf("the loss is %v, the mean of the micro-batches %v", step.Loss, want)
	}
}

// TestTimes tests that every layer is measured once in each kind and micro-batch.
func TestTimes(t *testing.T) {
	b := cut(t, gptOf(2), 2)
	b.Stages[1].Recompute = network.RecomputeFull
	tr := chainWith(t, b, Options{Seed: 1, Timed: true})
	if tr.run(t, 0); len(tr.backend.Times()) == 0 {
		t.Fatal("nothing is measured")
	}
	tr.run(t, 1)
	type call struct {
		layer, microBatch int
		kind              model.Kind
	}
	calls := map[call]int{}
	for _, lt := range tr.backend.Times() {
		calls[call{lt.Layer, lt.MicroBatch, lt.Kind}]++
		if lt.Time < 0 || lt.Part != 0 || lt.Stage != lt.Layer/2 {
			t.Errorf("a strange sample: %+v", lt)
		}
	}
	if want := 4 * 3 * 3; len(calls) != want || len(tr.backend.Times()) != want {
		t.Errorf("%d samples of %d calls, want %d", len(tr.backend.Times()), len(calls), want)
	}
	// A layer has a sample for each of the two iterations, in its own stage's recomputation.
	for i, l := range tr.backend.Layers() {
		for way, q := range l.BackwardInput {
			want := 0
			if network.Recompute(way) == tr.backend.layout.blueprint.Stages[i/2].Recompute {
				want = 2
			}
			if q.N != want {
				t.Errorf("layer %d: %d backward inputs with recomputation %v, want %d", i, q.N, network.Recompute(way), want)
			}
		}
		if l.Forward.N != 2 || l.BackwardWeight.N != 2 {
			t.Errorf("layer %d: %d forwards and %d backward weights, want 2", i, l.Forward.N, l.BackwardWeight.N)
		}
	}
	if tr.backend.ResetTimes(); tr.backend.Layers()[0].Forward.N != 0 {
		t.Error("times are not forgotten")
	}
	if quiet := chainOf(t, Options{Seed: 1}); quiet.run(t, 0).Loss == 0 || quiet.backend.Times() != nil {
		t.Error("layers are measured without being asked for")
	}
}

// TestSteadyState tests that after the first iterations an operation allocates nothing: the
// few allocations of an iteration are fewer than its operations.
func TestSteadyState(t *testing.T) {
	b := cut(t, gptOf(2), 2)
	p := problemOf(t, b, [][]int{{0, 1}}, 12, model.Split)
	plan, _ := modelgen.RandomPlan(p, 1)
	tr := newTraining(t, p, plan, b, Options{Seed: 1})
	for i := range 3 {
		tr.run(t, i)
	}
	if n := testing.AllocsPerRun(10, func() { tr.run(t, 4) }); n >= float64(plan.NumOps())/2 {
		t.Errorf("%v allocations in an iteration of %d operations", n, plan.NumOps())
	} else {
		t.Logf("%v allocations in an iteration of %d operations", n, plan.NumOps())
	}
}

// TestLostTensors tests what devices say when a program that is not right runs on them.
func TestLostTensors(t *testing.T) {
	tr := chainOf(t, Options{Seed: 1})
	if err := tr.backend.Begin(0); err != nil {
		t.Fatal(err)
	}
	program, devices := tr.backend.program, tr.backend.Devices()
	first := program.Messages[0]
	for i, m := range program.Messages {
		if m.Carries == lower.Output && m.Producer < first.Producer {
			first = program.Messages[i]
		}
	}
	message := slices.Index(program.Messages, first)
	_, unsent := devices[0].Send(message)
	for want, err := range map[string]error{
		"1F0: the output of stage 0 has not come":                 devices[1].Compute(t.Context(), first.Consumer),
		"there is no output of stage 0 to send for micro-batch 0": unsent,
		"carries string, not a tensor":                            devices[1].Receive(message, "news"),
		"0I0: the gradient of the output of stage 0 has not come": devices[0].Compute(t.Context(), tr.p.Op(1, 0)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	plan := &model.Plan{Order: [][]model.OpID{slices.Clone(tr.plan.Order[0]), tr.plan.Order[1]}}
	slices.Reverse(plan.Order[0])
	if _, err := Replay(tr.p, plan, cut(t, gptOf(2), 2), Options{}); err == nil || !strings.Contains(err.Error(), "never gets ready") {
		t.Errorf("a plan that runs backwards gives %v", err)
	}
}
