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

// TestOpenRefuses lists what cannot be trained, and what the error says about it.
func TestOpenRefuses(t *testing.T) {
	stack := network.Stack{Layers: 1, Hidden: 16, Heads: 2, Sequence: 8}
	tests := []struct {
		name      string
		blueprint func(b *network.Blueprint)
		pipeline  func(pl *model.Pipeline)
		want      string
	}{
		{
			name: "encoder-decoder",
			blueprint: func(b *network.Blueprint) {
				decoder := b.Stacks[0]
				decoder.Layers = 1
				*b = network.Blueprint{
					Kind: "encoder-decoder", Stacks: []network.Stack{decoder, decoder}, MicroBatchSize: 2, DType: network.FP32,
					Stages: []network.Slice{{End: 2}, {Part: 1, End: 3}},
				}
			},
			want: "the cpu backend cannot train kind encoder-decoder: it has no cross attention; use the emulated backend, which waits instead of computing",
		},
		{
			name: "joint stack",
			blueprint: func(b *network.Blueprint) {
				*b = network.Blueprint{
					Kind: "two-branch", Stacks: []network.Stack{stack, stack, stack}, MicroBatchSize: 2, DType: network.FP32,
					Stages: []network.Slice{{End: 1}, {Part: 1, End: 1}, {Part: 2, End: 2}},
				}
			},
			want: "cannot train a joint stack: it has only the contrastive loss on top of two branches; use the emulated backend",
		},
		{
			name:      "tied embedding",
			blueprint: func(b *network.Blueprint) { b.Stacks[0].TiedEmbedding = true },
			want:      "cannot train a tied embedding; set tied_embedding: false, or use the emulated backend",
		},
		{
			name: "shared vocabulary",
			blueprint: func(b *network.Blueprint) {
				b.Vocabulary, b.Shards = "stage", 2
				b.Stages = []network.Slice{{End: 1}, {Part: 1, End: 2}, {Part: 2, End: 1}}
			},
			want: "cannot train a vocabulary that devices share; set vocabulary_sharding: none",
		},
		{
			name:      "small vocabulary",
			blueprint: func(b *network.Blueprint) { b.Stacks[0].Vocabulary = 127 },
			want:      "cannot train a vocabulary of 127; set vocabulary to at least 128: a token is a byte of an ASCII text",
		},
		{
			name:      "a layer left out",
			blueprint: func(b *network.Blueprint) { b.Stages[1].End-- },
			want:      "no stage holds layer 3 of part 0",
		},
		{
			name:      "number of stages",
			blueprint: func(b *network.Blueprint) { b.Stages = []network.Slice{{End: 4}} },
			want:      "the pipeline is not that of its network blueprint: it has 2 stages, the blueprint 1; --split-stages divides the costs",
		},
		{
			name:     "other edges",
			pipeline: func(pl *model.Pipeline) { pl.Stages[1].After = nil },
			want:     "stage 1 reads stages [] in the pipeline, and [0] in the network",
		},
		{
			name:     "gang",
			pipeline: func(pl *model.Pipeline) { pl.Stages[1].Replicas[0].Devices = []int{0, 1} },
			want:     "cannot train stage 1 on the devices [0 1] together: it cannot divide the work of a layer; place the stage on one device",
		},
		{
			name: "no weight gradient",
			pipeline: func(pl *model.Pipeline) {
				pl.Stages[1].Replicas[0].Durations.BackwardWeight = model.Absent
			},
			want: "cannot train stage 1 without a whole backward pass: all parameters are trained; give the stage",
		},
		{
			name: "operation",
			pipeline: func(pl *model.Pipeline) {
				pl.Operations = []model.Operation{{Name: "all_reduce", Letter: "AR", Stage: 0, Single: true, Duration: 1, After: []model.Ref{{Kind: "backward", Stage: 0}}}}
			},
			want: "cannot train with the operation all_reduce: it knows forward and backward operations only; leave operations out",
		},
		{
			name: "engine",
			pipeline: func(pl *model.Pipeline) {
				pl.Devices = append(pl.Devices, model.Device{Engine: true, Limit: model.Unlimited})
			},
			want: "cannot train with engines: it has devices only",
		},
		{
			name:     "factors",
			pipeline: func(pl *model.Pipeline) { pl.Factors, pl.FactorScale = []int64{1, 2}, 1 },
			want:     "cannot train micro-batches of different sizes: all have the same number of samples",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := cut(t, gptOf(2), 2)
			pl := *problemOf(t, b, [][]int{{0, 1}}, 2, model.Split).Pipeline
			if test.pipeline != nil {
				test.pipeline(&pl)
			}
			if test.blueprint != nil {
				test.blueprint(b)
			}
			p, err := model.Compile(&pl)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(&lower.Program{Problem: p, Devices: make([][]lower.Instr, p.NumDevices())}, b, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestFootprint tests that the layers add up to their stage under every recomputation, and
// that recomputation is worth its name.
func TestFootprint(t *testing.T) {
	for _, b := range []*network.Blueprint{gptOf(3), mlpOf(3), twoBranchOf(2, 2)} {
		layers, err := Layers(b)
		if err != nil {
			t.Fatal(err)
		}
		parts, _ := b.StageParts()
		var total [3]int64
		for way := network.RecomputeNone; way <= network.RecomputeFull; way++ {
			c := recomputing(b, way)
			for s, slice := range c.Stages {
				got, err := Footprint(c, s)
				if err != nil {
					t.Fatal(err)
				}
				var want StageBytes
				retained := int64(0)
				for _, l := range layers {
					if l.Part != slice.Part {
						continue
					}
					if name := parts[l.Part].Layers[l.Index].Name; l.Name != name {
						t.Errorf("layer %d of part %d is called %q, want %q", l.Index, l.Part, l.Name, name)
					}
					want.Activation += [...]int64{l.Activation, l.Selective, l.Full}[way]
					want.Static += 16 * l.Parameters
					retained += l.Retained
				}
				want.FreedByBackwardInput, want.Work = want.Activation-retained, got.Work
				if got != want {
					t.Errorf("%s, %v: stage %d has %+v, its layers %+v", b.Kind, way, s, got, want)
				}
				total[way] += got.Activation
			}
		}
		if total[0] < total[1] || total[1] < total[2] || b.Kind == "gpt" && total[0] == total[1] || total[0] == total[2] {
			t.Errorf("%s: activations without, with selective and with full recomputation take %v bytes", b.Kind, total)
		}
	}
	if _, err := Footprint(gptOf(1), 1); err == nil {
		t.Error("a stage that there is not has a footprint")
	}
}

// chainOf is a small gpt on a chain of devices, by a random plan.
func chainOf(t *testing.T, o Options) *training {
	b := cut(t, gptOf(2), 2)
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
	tr := chainOf(t, Options{Seed: 1, Timed: true})
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
	if quiet := chainOf(t, Options{Seed: 1}); quiet.run(t, 0).Loss == 0 || quiet.backend.Times() != nil {
		t.Error("layers are measured without being asked for")
	}
}

// TestSteadyState tests that after the first iterations no memory is allocated for tensors.
func TestSteadyState(t *testing.T) {
	tr := chainOf(t, Options{Seed: 1})
	lists := func() (n int) {
		for _, d := range tr.backend.devices {
			for _, list := range d.home.memory.free {
				n += len(list)
			}
		}
		for _, list := range tr.backend.pool.free {
			n += len(list)
		}
		return n
	}
	tr.run(t, 0)
	tr.run(t, 1)
	before := lists()
	for i := range 5 {
		tr.run(t, 2+i)
	}
	// The devices may meet in another way, so that a tensor more waits between them.
	if after := lists(); after > before+3 {
		t.Errorf("%d tensors after two iterations, %d after seven", before, after)
	}
}

// TestLossFalls trains small networks for a while. A gpt that knew only how often each
// byte comes would reach the entropy of that distribution, so it has to get below: it has
// learned what follows what. The two other losses have to fall to half.
func TestLossFalls(t *testing.T) {
	steps := 60
	tests := []struct {
		b     *network.Blueprint
		limit func(first float64) float64
	}{
		{gptOf(2), func(float64) float64 { return unigramEntropy() }},
		{mlpOf(3), func(first float64) float64 { return first / 2 }},
		{twoBranchOf(1, 1), func(first float64) float64 { return first / 2 }},
	}
	for _, test := range tests {
		b := *test.b
		b.MicroBatchSize = 8
		o := Options{Seed: 1, Optimizer: AdamW{LearningRate: 0.01, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8}}
		r, err := Unpipelined(&b, 4, o)
		if err != nil {
			t.Fatal(err)
		}
		var losses []float64
		for i := range steps {
			loss, err := r.Iterate(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, loss)
		}
		last := mean(losses[steps-5:])
		t.Logf("%s: the loss falls from %.3f to %.3f", b.Kind, losses[0], last)
		if limit := test.limit(losses[0]); last > limit {
			t.Errorf("%s: the loss is %.3f at first and %.3f after %d steps, want at most %.3f", b.Kind, losses[0], last, steps, limit)
		}
	}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// unigramEntropy returns the entropy of the bytes of the text, in nats.
func unigramEntropy() float64 {
	counts := make([]float64, minVocabulary)
	for i := range len(text) {
		counts[text[i]]++
	}
	h := 0.0
	for _, c := range counts {
		if p := c / float64(len(text)); p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}
