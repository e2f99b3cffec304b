package benchmarks

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/cpu"
	"github.com/flexpipe/flexpipe/runtime/lower"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// trainedNetwork is a small gpt in four stages of one block, with its ends.
func trainedNetwork() *network.Blueprint {
	return &network.Blueprint{
		Kind: "gpt", Stacks: []network.Stack{{Layers: 4, Hidden: 16, Heads: 2, Sequence: 8, Vocabulary: 128}},
		MicroBatchSize: 2, DType: network.FP32,
		Stages: []network.Slice{{End: 2}, {First: 2, End: 3, Recompute: network.RecomputeFull}, {First: 3, End: 4}, {First: 4, End: 6}},
	}
}

// trainedProblem places the network on devices, with random costs, the memory that its
// stages really need, and limits for half of the micro-batches.
func trainedProblem(t *testing.T, b *network.Blueprint, place []int, mode model.Mode, seed uint64) *model.Problem {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0x7a19))
	cost := func() model.Time { return model.Time(5 + r.IntN(8)) }
	const microBatches = 6
	pl := &model.Pipeline{MicroBatches: microBatches, Latency: 1, Devices: make([]model.Device, slices.Max(place)+1)}
	for s, d := range place {
		bytes, err := cpu.Footprint(b, s)
		if err != nil {
			t.Fatal(err)
		}
		input, weight := cost(), cost()
		pl.Stages = append(pl.Stages, model.Stage{
			Backward: mode, Static: model.Bytes(bytes.Static),
			Activation: model.Bytes(bytes.Activation), FreedByInput: model.Bytes(bytes.FreedByBackwardInput),
			Replicas: []model.Replica{{
				Devices: []int{d},
				Durations: model.Durations{
					Forward: cost(), BackwardInput: input, BackwardWeight: weight, BackwardFull: input + weight - 1, Overlapped: model.Absent,
				},
			}},
		})
		held := max(bytes.Activation, bytes.Activation-bytes.FreedByBackwardInput)
		pl.Devices[d].Limit += model.Bytes(bytes.Static + microBatches/2*held)
	}
	model.Chain(pl.Stages)
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSolvedPlansTrain solves problems of a network and trains it by the plans: gradients are
// those of the operations one by one, bit by bit, and memory peaks are those that the plan
// promises.
func TestSolvedPlansTrain(t *testing.T) {
	seeds := 5
	if testing.Short() {
		seeds = 1
	}
	for seed := range uint64(seeds) {
		for i, place := range [][]int{{0, 1, 2, 3}, {0, 1, 1, 0}, {0, 1, 0, 1}} {
			mode := model.Mode((int(seed) + i) % 3)
			t.Run(fmt.Sprint(seed, place, mode), func(t *testing.T) {
				b := trainedNetwork()
				p := trainedProblem(t, b, place, mode, seed)
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
				defer cancel()
				r, err := portfolio.Solve(ctx, p, portfolio.Options{Seed: 1, Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				if r.Plan == nil {
					t.Fatalf("no plan: %v", r.Status)
				}
				trainByPlan(t, p, r.Plan, b)
			})
		}
	}
}

// trainByPlan runs an iteration by a plan on the cpu backend and compares it with a replay.
func trainByPlan(t *testing.T, p *model.Problem, plan *model.Plan, b *network.Blueprint) {
	t.Helper()
	o := cpu.Options{Seed: 9}
	program, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := cpu.Open(program, b, o)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	engine, err := pipert.NewEngine(program, backend.Devices(), pipert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	replay, err := cpu.Replay(p, plan, b, o)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := replay.Iterate(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := backend.Begin(0); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	step, err := backend.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if math.Float64bits(step.Loss) != math.Float64bits(loss) {
		t.Errorf("the loss is %v, that of the replay %v", step.Loss, loss)
	}
	want := replay.Parameters()
	for i, got := range backend.Parameters() {
		same := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
		if !slices.EqualFunc(got.Gradient, want[i].Gradient, same) {
			t.Errorf("the gradient of %s of layer %d is not that of the replay", got.Name, got.Layer)
		}
	}
	timeline, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	metrics := model.Measure(p, plan, timeline)
	for d, m := range step.Memory {
		if m.Peak != int64(metrics.Devices[d].Peak) || m.Live != 0 {
			t.Errorf("device %d: peak %d, %d live at the end, want %d and 0", d, m.Peak, m.Live, metrics.Devices[d].Peak)
		}
	}
}
