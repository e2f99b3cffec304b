package cpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
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
			pipeline: func(pl *model.Pipeline) { pl.Factors, pl.FactorScale = []int64{2, 2}, 1 },
			want:     "cannot train micro-batches with factors: all have the same number of samples; let micro_batches be a count, or use the emulated backend",
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

// TestOpenRefusesWhatIsTooLarge: a network that memory does not hold is an error before
// anything is allocated, however large its numbers are.
func TestOpenRefusesWhatIsTooLarge(t *testing.T) {
	places := [][]int{{0, 1}}
	open := func(b, sizes *network.Blueprint, memory int64) error {
		p := problemOf(t, b, places, 2, model.Split)
		_, err := Open(&lower.Program{Problem: p, Devices: make([][]lower.Instr, p.NumDevices())}, sizes, Options{Memory: memory})
		return err
	}
	for name, b := range map[string]*network.Blueprint{"gpt": cut(t, gptOf(2), 2), "mlp": cut(t, mlpOf(2), 2)} {
		var need int64
		for s := range b.Stages {
			size, err := Footprint(b, s)
			if err != nil {
				t.Fatal(err)
			}
			need += size.Static + size.Work + size.Activation
		}
		rows := 2 * b.MicroBatchSize * max(1, b.Stacks[0].Sequence) // of two micro-batches
		data := 4 * rows * 2
		if name == "mlp" {
			data *= b.Stacks[0].Hidden
		}
		need += int64(data)
		if err := open(b, b, need); err != nil {
			t.Errorf("%s: %v with all that is needed", name, err)
		}
		var large *SizeError
		if err := open(b, b, need-1); !errors.As(err, &large) || large.Need != float64(need) {
			t.Errorf("%s: %v with a byte too little", name, err)
		}
		// A second route over the same devices the other way round has copies of its own.
		places = [][]int{{0, 1}, {1, 0}}
		if err := open(b, b, 2*need-int64(data)-1); !errors.As(err, &large) || large.Need != float64(2*need-int64(data)) {
			t.Errorf("%s: %v with a byte too little for two routes", name, err)
		}
		places = places[:1]
	}
	for name, change := range map[string]func(s *network.Stack, size *int){
		"hidden":       func(s *network.Stack, _ *int) { s.Hidden = 1 << 20 },
		"vocabulary":   func(s *network.Stack, _ *int) { s.Vocabulary = 1 << 45 },
		"sequence":     func(s *network.Stack, _ *int) { s.Sequence = 1 << 25 },
		"feed forward": func(s *network.Stack, _ *int) { s.FeedForward = 1 << 45 },
		"micro-batch":  func(_ *network.Stack, size *int) { *size = 1 << 36 },
	} {
		b := cut(t, gptOf(2), 2)
		change(&b.Stacks[0], &b.MicroBatchSize)
		var large *SizeError
		if err := open(cut(t, gptOf(2), 2), b, 1<<30); !errors.As(err, &large) || large.Need <= 1<<30 {
			t.Errorf("%s: %v", name, err)
		}
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
					if n := parts[l.Part].Layers[l.Index].Parameters; l.Parameters != n {
						t.Errorf("%s of %s has %d parameters, the model counts %d", l.Name, b.Kind, l.Parameters, n)
					}
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
