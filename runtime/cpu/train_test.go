package cpu

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// cut cuts each part of a blueprint into so many stages of about equal numbers of layers.
func cut(t *testing.T, b *network.Blueprint, stages ...int) *network.Blueprint {
	t.Helper()
	c := *b
	c.Stages = nil
	for p, n := range stages {
		layers := 0
		for _, slice := range b.Stages {
			if slice.Part == p {
				layers = max(layers, slice.End)
			}
		}
		for i := range n {
			c.Stages = append(c.Stages, network.Slice{Part: p, First: i * layers / n, End: (i + 1) * layers / n})
		}
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return &c
}

// recomputing returns the blueprint with a way to recompute for each stage, in turn.
func recomputing(b *network.Blueprint, ways ...network.Recompute) *network.Blueprint {
	c := *b
	c.Stages = slices.Clone(b.Stages)
	for s := range c.Stages {
		c.Stages[s].Recompute = ways[s%len(ways)]
	}
	return &c
}

// problemOf returns the problem of a blueprint with the memory of its stages. places has the
// device of each stage, for each route; micro-batches take the routes in turn.
func problemOf(t *testing.T, b *network.Blueprint, places [][]int, microBatches int, mode model.Mode) *model.Problem {
	t.Helper()
	pl := &model.Pipeline{MicroBatches: microBatches, Latency: 1}
	for range slices.Max(slices.Concat(places...)) + 1 {
		pl.Devices = append(pl.Devices, model.Device{Limit: model.Unlimited})
	}
	l, err := newLayout(b)
	if err != nil {
		t.Fatal(err)
	}
	for s := range b.Stages {
		bytes, err := Footprint(b, s)
		if err != nil {
			t.Fatal(err)
		}
		st := model.Stage{
			After: l.stages[s].before, Backward: mode, Static: model.Bytes(bytes.Static),
			Activation: model.Bytes(bytes.Activation), FreedByInput: model.Bytes(bytes.FreedByBackwardInput),
		}
		for _, place := range places {
			st.Replicas = append(st.Replicas, model.Replica{
				Devices:   []int{place[s]},
				Durations: model.Durations{Forward: 2, BackwardInput: 2, BackwardWeight: 2, BackwardFull: 4, Overlapped: model.Absent},
			})
		}
		pl.Stages = append(pl.Stages, st)
	}
	if len(places) > 1 {
		for m := range microBatches {
			pl.Routes = append(pl.Routes, m%len(places))
		}
	}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// blocking returns the problem with transfers that are operations.
func blocking(t *testing.T, p *model.Problem) *model.Problem {
	t.Helper()
	pl := *p.Pipeline
	pl.Blocking = true
	p, err := model.Compile(&pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A training is a plan under training by the backend and by its replay.
type training struct {
	p       *model.Problem
	plan    *model.Plan
	backend *Backend
	engine  *pipert.Engine
	replay  *Reference
	record  *pipert.Record // of the last iteration
}

func newTraining(t *testing.T, p *model.Problem, plan *model.Plan, b *network.Blueprint, o Options) *training {
	t.Helper()
	tr := &training{p: p, plan: plan}
	program, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if tr.backend, err = Open(program, b, o); err != nil {
		t.Fatal(err)
	}
	if tr.engine, err = pipert.NewEngine(program, tr.backend.Devices(), pipert.Options{}); err != nil {
		t.Fatal(err)
	}
	if tr.replay, err = Replay(p, plan, b, o); err != nil {
		t.Fatal(err)
	}
	return tr
}

// iterate runs an iteration on both, and demands the same loss.
func (tr *training) iterate(t *testing.T, iteration int) pipert.Step {
	t.Helper()
	step := tr.run(t, iteration)
	loss, err := tr.replay.Iterate(context.Background(), iteration)
	if err != nil {
		t.Fatal(err)
	}
	if math.Float64bits(loss) != math.Float64bits(step.Loss) {
		t.Errorf("iteration %d: the loss is %v, that of the replay %v", iteration, step.Loss, loss)
	}
	return step
}

// run runs an iteration on the backend.
func (tr *training) run(t *testing.T, iteration int) pipert.Step {
	t.Helper()
	if err := tr.backend.Begin(iteration); err != nil {
		t.Fatal(err)
	}
	record, err := tr.engine.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tr.record = record
	step, err := tr.backend.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// checkMemory demands that each device held exactly what the problem says, and that the
// engine's count of takes and gives says the same.
func (tr *training) checkMemory(t *testing.T, step pipert.Step) {
	t.Helper()
	timeline, err := model.Evaluate(tr.p, tr.plan)
	if err != nil {
		t.Fatal(err)
	}
	if report := constraints.Check(tr.p, tr.plan, timeline); !report.OK() {
		t.Fatalf("the plan breaks a rule: %v", report.Violations)
	}
	metrics := model.Measure(tr.p, tr.plan, timeline)
	for d, got := range step.Memory {
		if want := int64(metrics.Devices[d].Peak); got.Peak != want || got.Live != 0 || got.Static != int64(tr.p.Statics[d]) {
			t.Errorf("device %d: peak %d, static %d, live %d, want %d, %d and 0", d, got.Peak, got.Static, got.Live, want, tr.p.Statics[d])
		}
		if counted := int64(tr.record.Devices[d].Peak); counted != got.Peak {
			t.Errorf("device %d: the engine counts a peak of %d, the device held %d", d, counted, got.Peak)
		}
	}
}

// checkGradients compares the gradients with those of the replay, bit by bit, and with those
// of the network without a pipeline: bit by bit if the plan adds up in the same order, else
// up to rounding.
func (tr *training) checkGradients(t *testing.T, natural *Reference) {
	t.Helper()
	got, replay, want := tr.backend.Parameters(), tr.replay.Parameters(), natural.Parameters()
	if len(got) != len(want) || len(got) != len(replay) {
		t.Fatalf("%d parameters, the replay has %d, the whole network %d", len(got), len(replay), len(want))
	}
	bound := 1e-6
	if inMicroBatchOrder(tr.p, tr.plan) {
		bound = 0
	}
	for i := range got {
		name := fmt.Sprintf("%s of layer %d of part %d", got[i].Name, got[i].Layer, got[i].Part)
		if other := fmt.Sprintf("%s of layer %d of part %d", want[i].Name, want[i].Layer, want[i].Part); other != name {
			t.Fatalf("parameter %d is %s, in the whole network %s", i, name, other)
		}
		if !sameBits(got[i].Gradient, replay[i].Gradient) {
			t.Errorf("the gradient of %s is not that of the replay", name)
		}
		if e := distance(got[i].Gradient, want[i].Gradient); !(e <= bound) {
			t.Errorf("the gradient of %s is %.3g away from that without a pipeline, want %g at most", name, e, bound)
		}
	}
}

// inMicroBatchOrder reports whether every stage adds up its gradients in the order of the
// micro-batches, in one copy.
func inMicroBatchOrder(p *model.Problem, plan *model.Plan) bool {
	last := map[int]int{}
	for _, c := range copyPlans(p.Pipeline) {
		if len(c.devices) > 1 {
			return false
		}
	}
	for _, order := range plan.Order {
		for _, op := range order {
			row := p.Row(op)
			if row.Kind != model.BackwardWeight && row.Kind != model.BackwardFull {
				continue
			}
			m := p.MicroBatch(op)
			if before, ok := last[row.Stage]; ok && before > m {
				return false
			}
			last[row.Stage] = m
		}
	}
	return true
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// distance returns |a-b| / |b|, 0 for two zero vectors.
func distance(a, b []float32) float64 {
	diff, norm := 0.0, 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		diff += d * d
		norm += float64(b[i]) * float64(b[i])
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff / norm)
}

// natural returns the network without a pipeline after iteration 0.
func natural(t *testing.T, b *network.Blueprint, microBatches int, o Options) *Reference {
	t.Helper()
	r, err := Unpipelined(b, microBatches, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Iterate(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Parameters() {
		if slices.Max(p.Gradient) == 0 && slices.Min(p.Gradient) == 0 {
			t.Fatalf("%s of layer %d of part %d has no gradient at all", p.Name, p.Layer, p.Part)
		}
	}
	return r
}
