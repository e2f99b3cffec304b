package cssr_test

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/network"
)

// layersIn returns the network of a pipeline, and the layers of its stages as part:first-end.
func layersIn(t *testing.T, text string, choices cssr.Choices) (*network.Blueprint, string) {
	t.Helper()
	pl := pipeline(t, text, choices)
	b, err := network.DecodeBlueprint(pl.Network)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Stages) != len(pl.Stages) {
		t.Errorf("layers of %d stages; the pipeline has %d", len(b.Stages), len(pl.Stages))
	}
	list := ""
	for _, s := range b.Stages {
		list += fmt.Sprintf(" %d:%d-%d", s.Part, s.First, s.End)
		if s.Recompute != network.RecomputeNone {
			list += " " + s.Recompute.String()
		}
	}
	return b, list
}

const smallGPT = nanoseconds + `
devices: 2
global_batch: 8
model: {kind: gpt, layers: 6, hidden: 8, heads: 2, sequence: 4, vocabulary: 16, micro_batch_size: 4, dtype: fp32, tied_embedding: true}
`

// TestPipelineNetwork holds the layers of the stages to what was chosen.
func TestPipelineNetwork(t *testing.T) {
	for _, test := range []struct {
		name, text string
		choices    cssr.Choices
		want       string
	}{
		{"listed", smallGPT + "partition: [2, 4]\n", cssr.Choices{}, " 0:0-3 0:3-8"},
		{"chunks", smallGPT + "partition: even\nrecompute: [full, none]\n", cssr.Choices{SplitStages: 2}, " 0:0-3 full 0:3-5 full 0:5-6 0:6-8"},
		{"chosen", smallGPT, cssr.Choices{Partition: []int{5, 3}, Recompute: []network.Recompute{network.RecomputeNone, network.RecomputeSelective}}, " 0:0-5 0:5-8 selective"},
		{"shared", smallGPT + "partition: even\nrecompute: full\n", cssr.Choices{Vocabulary: "stage"}, " 0:0-1 1:0-3 full 1:3-6 full 2:0-1"},
		{"passes", smallGPT + "partition: even\nrecompute: full\n", cssr.Choices{Vocabulary: "passes"}, " 0:0-3 full 0:3-6 full"},
		{"branches", "devices: 3" + branchesText, cssr.Choices{}, " 0:0-2 0:2-4 1:0-2 2:0-1"},
	} {
		if _, got := layersIn(t, test.text, test.choices); got != test.want {
			t.Errorf("%s: stages hold%s, want%s", test.name, got, test.want)
		}
	}
	b, _ := layersIn(t, smallGPT, cssr.Choices{MicroBatchSize: 2, Vocabulary: "passes"})
	if b.Kind != "gpt" || b.MicroBatchSize != 2 || b.DType != network.FP32 || b.Vocabulary != "passes" || b.Shards != 2 ||
		b.Stacks[0] != (network.Stack{Layers: 6, Hidden: 8, Heads: 2, Sequence: 4, FeedForward: 32, Vocabulary: 16, TiedEmbedding: true}) {
		t.Errorf("network %+v", b)
	}
	if pl := pipeline(t, "devices: 1\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n", cssr.Choices{}); pl.Network != "" {
		t.Errorf("costs have the network %s", pl.Network)
	}
}
