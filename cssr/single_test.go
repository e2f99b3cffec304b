package cssr_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// barrierPipeline is a chain with unit costs and activations of 1, in which a loss
// over all micro-batches stands between the forwards and the backwards.
func barrierPipeline(devices, microBatches int, limit model.Bytes) *model.Pipeline {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: devices, MicroBatches: microBatches, Activation: []model.Bytes{1}, Limit: []model.Bytes{limit}})
	last := devices - 1
	pl.Operations = []model.Operation{{Name: "loss", Letter: "LOSS", Stage: last, Single: true, Duration: 3, Takes: 2,
		After: []model.Ref{{Kind: "forward", Stage: last}}, Before: []model.Ref{{Kind: "backward", Stage: last}}}}
	return pl
}

// TestBarrierNeedsAllActivations demands that a barrier between the forwards and
// the backwards fits exactly where all activations and the loss itself do, under
// any bound on what is in flight: none can hold there.
func TestBarrierNeedsAllActivations(t *testing.T) {
	for _, m := range []int{1, 2, 5, 40} {
		for limit := model.Bytes(m); limit <= model.Bytes(m)+3; limit++ {
			p, err := model.Compile(barrierPipeline(3, m, limit))
			if err != nil {
				t.Fatal(err)
			}
			for _, policy := range []cssr.Policy{{}, {Types: []string{"W", "I"}, InFlight: []int{1}}, {Types: []string{"loss"}, Weights: cssr.Weights{Mode: cssr.Fill}}} {
				out, err := cssr.NewDecoder(p).Decode(context.Background(), rule(t, &policy, p), 0)
				var memory *cssr.MemoryError
				switch fits := limit >= model.Bytes(m)+2; {
				case fits && err != nil:
					t.Errorf("M=%d, limit %d: %v", m, limit, err)
				case !fits && (!errors.As(err, &memory) || !memory.Barrier || memory.Device != 2 || memory.Need != model.Bytes(m)+2):
					t.Errorf("M=%d, limit %d: error %v", m, limit, err)
				case fits:
					if got := replayed(t, p, out).Makespan; got < model.Time(3*m+3+2) {
						t.Errorf("M=%d: makespan %d is too short for a barrier", m, got)
					}
				}
			}
		}
	}
}

// TestStepKeepsNothingLive: where no micro-batch holds memory across a barrier, a limit
// that is too low is too low for one alone.
func TestStepKeepsNothingLive(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 5, Activation: []model.Bytes{4}, Limit: []model.Bytes{3}})
	pl.Operations = []model.Operation{{Name: "step", Letter: "STEP", Single: true, Duration: 1, Takes: 1, After: []model.Ref{{Kind: model.Backward}}}}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cssr.NewDecoder(p).Decode(context.Background(), rule(t, &cssr.Policy{}, p), 0)
	var memory *cssr.MemoryError
	if !errors.As(err, &memory) || memory.Barrier || memory.Need != 4 {
		t.Errorf("error %v, want that a single micro-batch needs 4", err)
	}
}

// TestStepComesLast decodes an optimizer step of all devices behind all gradients.
// It changes nothing before it.
func TestStepComesLast(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 4, MicroBatches: 9, Activation: []model.Bytes{1}, Limit: []model.Bytes{4}})
	point := namedPoint(t, "zb-h1", 4, 9, 1)
	without, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cssr.NewDecoder(without).Decode(context.Background(), rule(t, &point.Policy, without), 0)
	if err != nil {
		t.Fatal(err)
	}
	step := model.Operation{Name: "step", Letter: "STEP", Stage: -1, Devices: []int{0, 1, 2, 3}, Single: true, Duration: 7, Takes: 3}
	for s := range pl.Stages {
		step.After = append(step.After, model.Ref{Kind: "backward", Stage: s})
	}
	pl.Operations = []model.Operation{step}
	with, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	then, err := cssr.NewDecoder(with).Decode(context.Background(), rule(t, &point.Policy, with), 0)
	if err != nil {
		t.Fatal(err)
	}
	replayed(t, with, then)
	if then.Makespan != out.Makespan+7 {
		t.Errorf("makespan %d with the step, %d without", then.Makespan, out.Makespan)
	}
	for d, order := range then.Plan.Order {
		if last := len(order) - 1; !slices.Equal(order[:last], out.Plan.Order[d]) {
			t.Errorf("device %d: the step changes the order before it", d)
		}
	}
}

// TestDecoderNeverGetsStuckOnOperations decodes random problems with operations of
// their own, among them barriers and engines, under random rules and tight memory. Each decode ends with a plan that the judge accepts, or because
// memory does not suffice.
func TestDecoderNeverGetsStuckOnOperations(t *testing.T) {
	plans, tight, limited, barriers := 0, 0, 0, 0
	for seed := range uint64(8000) {
		p := randomOperations(seed)
		if p == nil {
			continue
		}
		d := cssr.NewDecoder(p)
		out, err := d.Decode(context.Background(), randomRule(p, seed), 0)
		var memory *cssr.MemoryError
		if errors.As(err, &memory) {
			tight++
			if memory.Barrier {
				barriers++
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		plans++
		if slices.ContainsFunc(p.Limits, func(b model.Bytes) bool { return b < model.Unlimited }) {
			limited++
		}
		replayed(t, p, out)
	}
	t.Logf("%d plans, %d with limits, %d problems too tight, %d of them behind barriers", plans, limited, tight, barriers)
	if plans < 1500 || limited < 300 || tight < 30 || barriers < 25 {
		t.Error("the test has lost its material")
	}
}

// replayed evaluates the plan of an outcome. It must be complete, run no later than
// the outcome says, and fit the memory.
func replayed(t *testing.T, p *model.Problem, out *cssr.Outcome) *model.Metrics {
	t.Helper()
	tl, err := model.Evaluate(p, &out.Plan)
	if err != nil {
		t.Fatal(err)
	}
	for op, start := range tl.Start {
		told := out.Timeline.Start[op]
		if (start == model.Absent) != (told == model.Absent) || start > told || start == model.Absent {
			t.Fatalf("%s starts at %d, the decoder says %d", p.Name(model.OpID(op)), start, told)
		}
	}
	m := model.Measure(p, &out.Plan, tl)
	if !m.Fits(p) {
		t.Fatal("the plan does not fit the memory")
	}
	return m
}

// randomOperations adds one to four random operations to a random pipeline, nil if
// they wait for themselves.
func randomOperations(seed uint64) *model.Problem {
	r := rand.New(rand.NewPCG(seed, 0x0b5))
	pl := modelgen.RandomPipeline(seed, 5)
	if r.IntN(3) == 0 {
		pl.Devices = append(pl.Devices, model.Device{Name: "copy", Limit: model.Unlimited, Engine: true})
	}
	kinds := []string{"forward", "backward", "backward_input", "x0", "x1"}
	for i := range 1 + r.IntN(4) {
		o := model.Operation{Name: fmt.Sprintf("x%d", i), Letter: string(rune('P' + i)), Stage: r.IntN(len(pl.Stages)+1) - 1,
			Single: r.IntN(2) == 0, Duration: model.Time(r.IntN(4)), Fixed: r.IntN(2) == 0}
		if o.Stage < 0 || r.IntN(4) == 0 {
			o.Devices = r.Perm(len(pl.Devices))[:1+r.IntN(min(2, len(pl.Devices)))]
		}
		if r.IntN(2) == 0 {
			o.Takes = model.Bytes(r.IntN(3))
			o.Gives = o.Takes
			if r.IntN(3) == 0 && !o.Single && o.Stage >= 0 && o.Devices == nil {
				o.Gives = 0
			}
		}
		ref := func() model.Ref {
			w := model.Ref{Kind: kinds[r.IntN(len(kinds))], Stage: r.IntN(len(pl.Stages)), Lag: model.Time(r.IntN(2))}
			if r.IntN(2) == 0 {
				w.Kind = kinds[r.IntN(2)]
			}
			return w
		}
		for range r.IntN(3) {
			o.After = append(o.After, ref())
		}
		for range r.IntN(2) {
			o.Before = append(o.Before, ref())
		}
		pl.Operations = append(pl.Operations, o)
	}
	for s := range pl.Stages {
		if pl.Stages[s].Backward == model.Auto {
			pl.Stages[s].Backward = model.Mode(r.IntN(2))
		}
	}
	for d := range pl.Devices {
		if pl.Devices[d].Limit < model.Unlimited {
			pl.Devices[d].Limit += model.Bytes(r.IntN([]int{2, 25}[r.IntN(2)]))
		}
	}
	p, err := model.Compile(pl)
	if err != nil {
		return nil
	}
	return p
}
