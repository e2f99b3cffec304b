package cssr_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// On this cluster an operation and the sending of a byte take a nanosecond.
const nanoseconds = `
micro_batches: 2
unit: ns
cluster: {flops: 1e9, link_bandwidth: 1e9, link_latency: 100}
`

// A block of both branches has 2·(h·f) = 32 operations each way, 2·3·16 for the first of
// these branches, and sends 4 bytes or 6; the loss has width d = 2.
const branchesText = nanoseconds + `
model:
  kind: two-branch
  branches: [{kind: mlp, layers: 4, hidden: 2, feed_forward: 8}, {kind: mlp, layers: 2, hidden: 3, feed_forward: 4}]
`

// graph returns the stages that each stage follows.
func graph(pl *model.Pipeline) string {
	var list [][]int
	for _, s := range pl.Stages {
		list = append(list, s.After)
	}
	return fmt.Sprint(list)
}

func TestTwoBranchPipeline(t *testing.T) {
	cfg := decode(t, "devices: 3"+branchesText)
	pl, err := cssr.Pipeline(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := graph(pl), "[[] [0] [] [1 2]]"; got != want {
		t.Errorf("graph %s, want %s", got, want)
	}
	// The loss sits with the second branch.
	if got, want := fmt.Sprint(gangs(pl)), "[[0] [1] [2] [2]]"; got != want {
		t.Errorf("devices %s, want %s", got, want)
	}
	// Blocks of 4·2·8 = 64 and of 4·3·4 = 48 operations. The loss projects 2 and 3 to 2,
	// 2·(4 + 6), and compares one vector of 2: 4.
	for s, want := range []int64{128, 128, 96, 24} {
		checkExact(t, pl.TimeUnit, int64(pl.Stages[s].Replicas[0].Durations.Forward), want)
	}
	if names, err := cssr.Layers(cfg, cssr.Choices{}); err != nil ||
		!slices.Equal(names, []string{"branch 0: 0-1", "branch 0: 2-3", "branch 1: 0-1", "loss"}) {
		t.Errorf("layers %q, %v", names, err)
	}
	// 100 ns and 4 bytes between stages of branch 0, and from there to the loss.
	for _, link := range append(pl.Links, model.Link{Latency: pl.Latency}) {
		checkExact(t, pl.TimeUnit, int64(link.Latency), 104)
	}
}

// A joint part takes its share of the stages; chunks follow the graph.
func TestJointPipeline(t *testing.T) {
	text := "devices: 3" + branchesText + "  joint: {kind: mlp, layers: 2, hidden: 2, feed_forward: 8}"
	for _, c := range []struct {
		choices cssr.Choices
		graph   string
		devices string
		layers  []string
	}{
		{cssr.Choices{}, "[[] [] [0 1]]", "[[0] [1] [2]]", []string{"branch 0: 0-3", "branch 1: 0-1", "joint: join, 0-1"}},
		{cssr.Choices{SplitStages: 2}, "[[] [0] [1] [] [2 3] [4]]", "[[0] [1] [2] [0] [1] [2]]",
			[]string{"branch 0: 0-1", "branch 0: 2", "branch 0: 3", "branch 1: 0-1", "joint: join, 0", "joint: 1"}},
		{cssr.Choices{SplitStages: 2, Partition: []int{1, 1, 1, 1, 2, 3}}, "[[] [0] [1] [2] [] [3 4]]", "[[0] [1] [2] [0] [1] [2]]",
			[]string{"branch 0: 0", "branch 0: 1", "branch 0: 2", "branch 0: 3", "branch 1: 0-1", "joint: join, 0-1"}},
	} {
		cfg := decode(t, text)
		pl, err := cssr.Pipeline(cfg, c.choices)
		if err != nil {
			t.Fatal(err)
		}
		if got := graph(pl); got != c.graph {
			t.Errorf("%+v: graph %s, want %s", c.choices, got, c.graph)
		}
		if got := fmt.Sprint(gangs(pl)); got != c.devices {
			t.Errorf("%+v: devices %s, want %s", c.choices, got, c.devices)
		}
		names, err := cssr.Layers(cfg, c.choices)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("%+v: layers", c.choices), names, c.layers)
	}
}

const translatorText = nanoseconds + `
model:
  kind: encoder-decoder
  encoder: {layers: 4, hidden: 8, heads: 2, sequence: 6, vocabulary: 20}
  decoder: {layers: 4, hidden: 8, heads: 2, sequence: 4, vocabulary: 20, tied_embedding: true}
`

func TestEncoderDecoderPipeline(t *testing.T) {
	for _, c := range []struct {
		keys    string
		choices cssr.Choices
		graph   string
		layers  []string
	}{
		{"partition: even", cssr.Choices{}, "[[] [0] [1] [2]]",
			[]string{"encoder: embedding, 0-1", "encoder: 2-3", "decoder: embedding, 0-1", "decoder: 2-3, head"}},
		{"partition: [3, 1, 1, 3]", cssr.Choices{}, "[[] [0] [1] [2]]",
			[]string{"encoder: embedding, 0-2", "encoder: 3", "decoder: embedding, 0", "decoder: 1-3, head"}},
		{"partition: [4, 4]", cssr.Choices{SplitStages: 2}, "[[] [0] [1] [2]]",
			[]string{"encoder: embedding, 0-1", "encoder: 2-3", "decoder: embedding, 0-1", "decoder: 2-3, head"}},
		{"partition: even", cssr.Choices{Vocabulary: "stage"}, "[[] [0] [1] [] [3 2] [4] [5]]",
			[]string{"encoder embedding", "encoder: 0-1", "encoder: 2-3", "decoder embedding", "decoder: 0-1", "decoder: 2-3", "decoder head"}},
		{"", cssr.Choices{Partition: []int{1, 4, 5, 1}}, "[[] [0] [1] [2]]",
			[]string{"encoder: embedding", "encoder: 0-3", "decoder: embedding, 0-3", "decoder: head"}},
	} {
		cfg := decode(t, "devices: 4\n"+c.keys+translatorText)
		pl, err := cssr.Pipeline(cfg, c.choices)
		if err != nil {
			t.Fatal(err)
		}
		if got := graph(pl); got != c.graph {
			t.Errorf("%s, %+v: graph %s, want %s", c.keys, c.choices, got, c.graph)
		}
		names, err := cssr.Layers(cfg, c.choices)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("%s, %+v: layers", c.keys, c.choices), names, c.layers)
	}
}

// Shared vocabulary layers occupy all devices, and take the collectives with the start-up
// of the cluster: the numbers of package network.
func TestVocabularyStages(t *testing.T) {
	const gpt = nanoseconds + "model: {kind: gpt, layers: 3, hidden: 8, heads: 2, sequence: 2, vocabulary: 10%s}\n"
	configured := pipeline(t, "devices: 4\nstages: 2\nrecompute: [full, none]"+fmt.Sprintf(gpt, ", vocabulary_sharding: stage"), cssr.Choices{})
	chosen := pipeline(t, "devices: 4\nstages: 2\nrecompute: [full, none]"+fmt.Sprintf(gpt, ""), cssr.Choices{Vocabulary: "stage"})
	for _, pl := range []*model.Pipeline{configured, chosen} {
		if got, want := fmt.Sprint(gangs(pl)), "[[0 1 2 3] [0] [1] [0 1 2 3]]"; got != want {
			t.Fatalf("devices %s, want %s", got, want)
		}
		head := pl.Stages[3].Replicas[0].Durations
		checkExact(t, pl.TimeUnit, int64(pl.Stages[0].Replicas[0].Durations.Forward), 4+600+48)
		checkExact(t, pl.TimeUnit, int64(head.Forward), 96+18*100+48+36)
		checkExact(t, pl.TimeUnit, int64(head.BackwardInput), 96+600+48)
		checkExact(t, pl.TimeUnit, int64(head.BackwardWeight), 96)
		// The collectives carry what goes to and from shared layers: 100 ns there, and 32
		// bytes more from device 0 to device 1.
		links := map[[2]int]model.Time{}
		for _, link := range pl.Links {
			links[[2]int{link.From, link.To}] = link.Latency
		}
		checkExact(t, pl.TimeUnit, int64(links[[2]int{0, 2}]), 100)
		checkExact(t, pl.TimeUnit, int64(pl.Latency), 132)
	}
	// Chosen partitions count the blocks alone.
	uneven := pipeline(t, "devices: 4\nstages: 2"+fmt.Sprintf(gpt, ""), cssr.Choices{Vocabulary: "stage", Partition: []int{2, 1}})
	if first, second := uneven.Stages[1].Activation, uneven.Stages[2].Activation; first != 2*second {
		t.Errorf("two blocks keep %d, one keeps %d", first, second)
	}
	whole := pipeline(t, "devices: 4\nstages: 2"+fmt.Sprintf(gpt, ", vocabulary_sharding: stage"), cssr.Choices{Vocabulary: "none"})
	if len(whole.Stages) != 2 {
		t.Errorf("%d stages with vocabulary none, want 2", len(whole.Stages))
	}
}

func TestRecomputeChoice(t *testing.T) {
	const text = "devices: 2" + gptText
	want := pipeline(t, "devices: 2\nrecompute: [full, none]\npartition: [2, 2]"+gptText, cssr.Choices{})
	got := pipeline(t, "devices: 2\nrecompute: [selective, full]\npartition: [2, 2]"+gptText,
		cssr.Choices{Recompute: []network.Recompute{network.RecomputeFull, network.RecomputeNone}})
	for s := range want.Stages {
		if got.Stages[s].Activation != want.Stages[s].Activation {
			t.Errorf("stage %d keeps %d, want %d", s, got.Stages[s].Activation, want.Stages[s].Activation)
		}
	}
	one := pipeline(t, text, cssr.Choices{Recompute: []network.Recompute{network.RecomputeFull}})
	all := pipeline(t, text, cssr.Choices{Recompute: []network.Recompute{network.RecomputeFull, network.RecomputeFull}})
	if diff := cmp.Diff(all, one); diff != "" {
		t.Errorf("one entry for all stages: %s", diff)
	}
	refused(t, text, cssr.Choices{Recompute: []network.Recompute{0, 0, 0}}, "test.yaml:2:10: devices: recompute [none none none]: it has 3 entries for 2 stages")
}

func TestMicroBatchSizeChoice(t *testing.T) {
	const text = "devices: 2\nglobal_batch: 12\nmodel: {kind: mlp, layers: 2, hidden: 10, feed_forward: 10%s}\ncluster: {flops: 1e9, link_bandwidth: 1e9}\n"
	got := pipeline(t, fmt.Sprintf(text, ""), cssr.Choices{MicroBatchSize: 4})
	want := pipeline(t, fmt.Sprintf(text, ", micro_batch_size: 4"), cssr.Choices{})
	if got.MicroBatches != 3 || want.MicroBatches != 3 {
		t.Errorf("%d micro-batches, want 3", got.MicroBatches)
	}
	equal(t, "forwards", forwards(got), forwards(want))
	cfg := decode(t, fmt.Sprintf(text, ""))
	if _, err := cssr.Build(cfg, cssr.Choices{MicroBatchSize: 4}); err != nil || cfg.MicroBatches != 12 || cfg.Model.MicroBatchSize != 1 {
		t.Errorf("the configuration is changed: %d micro-batches of %d, %v", cfg.MicroBatches, cfg.Model.MicroBatchSize, err)
	}
}

func TestRefusedNetworkChoices(t *testing.T) {
	const costs = "devices: 2\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"
	full := []network.Recompute{network.RecomputeFull, network.RecomputeFull}
	batch := func(keys string) string {
		return "devices: 2\n" + keys + "\nmodel: {kind: mlp, layers: 2, hidden: 10}\ncluster: {flops: 1e9, link_bandwidth: 1e9}\n"
	}
	for _, c := range []struct {
		text    string
		choices cssr.Choices
		words   []string
	}{
		{costs, cssr.Choices{MicroBatchSize: 2}, []string{"test.yaml:4:8: costs: micro-batch-size 2: "}},
		{costs, cssr.Choices{Vocabulary: "stage"}, []string{"test.yaml:4:8: costs: vocabulary stage: "}},
		{costs, cssr.Choices{Partition: []int{1, 1}}, []string{"test.yaml:4:8: costs: partition [1 1]: "}},
		{costs, cssr.Choices{Recompute: full}, []string{"test.yaml:4:8: costs: recompute [full full]: "}},
		{batch("global_batch: 12"), cssr.Choices{MicroBatchSize: 5}, []string{"test.yaml:3:15: global_batch: micro-batch-size 5: 12 samples do not divide"}},
		{batch("global_batch: 12"), cssr.Choices{MicroBatchSize: -1}, []string{"micro-batch-size -1: ", "from 1 up"}},
		{batch("micro_batches: 12"), cssr.Choices{MicroBatchSize: 4}, []string{"global_batch: micro-batch-size 4: ", "not known"}},
		{batch("micro_batches: [1, 2]\nglobal_batch: 2"), cssr.Choices{MicroBatchSize: 1}, []string{"test.yaml:3:16: micro_batches: micro-batch-size 1: ", "factors"}},
		{batch("micro_batches: 1"), cssr.Choices{Vocabulary: "stage"}, []string{"test.yaml:4:8: model: vocabulary stage: ", "no part"}},
		{batch("micro_batches: 1"), cssr.Choices{Vocabulary: "rows"}, []string{"vocabulary rows: it is not known"}},
		{batch("micro_batches: 1"), cssr.Choices{Partition: []int{2}}, []string{"test.yaml:2:10: devices: partition [2]: it has 1 entries for 2 stages"}},
		{batch("micro_batches: 1"), cssr.Choices{Partition: []int{1, 2}}, []string{"test.yaml:4:28: model.layers: partition [1 2]: "}},
		{"devices: 2" + translatorText, cssr.Choices{Partition: []int{6, 5}}, []string{"partition [6 5]: ", "stage 0 would hold layers of the encoder and of the part after it"}},
		{"devices: 3\npartition: [embedding, 4, head]" + gptText, cssr.Choices{Vocabulary: "stage"}, []string{"test.yaml:3:13: partition[0]: vocabulary stage: stage 0 has no other layer"}},
	} {
		err := refused(t, c.text, c.choices, c.words...)
		if choice := (*cssr.ChoiceError)(nil); !errors.As(err, &choice) {
			t.Errorf("%v is no ChoiceError", err)
		}
	}
}

// Numbers of a part that cannot be are refused where the part stands.
func TestRefusedParts(t *testing.T) {
	text := "devices: 2\nmicro_batches: 1\nmodel:\n  kind: encoder-decoder\n  encoder: {layers: 65536, hidden: 268435456, heads: 1, sequence: 8}\n" +
		"  decoder: {layers: 1, hidden: 8, heads: 1, sequence: 8}\ncluster: {flops: 1e9, link_bandwidth: 1e9}\n"
	err := refused(t, text, cssr.Choices{}, "test.yaml:6:12: model.encoder: ")
	if field := (*network.FieldError)(nil); !errors.As(err, &field) {
		t.Errorf("%v is no FieldError", err)
	}
	refused(t, "devices: 4\npartition: even"+branchesText, cssr.Choices{SplitStages: 2}, "test.yaml:3:12: partition: ", "into 8 stages")
}

// Network describes what the configuration does.
func TestNetwork(t *testing.T) {
	cfg := decode(t, "devices: 2"+translatorText)
	net, err := cssr.Network(cfg.Model, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := network.EncoderDecoder{
		Encoder:        network.Stack{Layers: 4, Hidden: 8, Heads: 2, Sequence: 6, Vocabulary: 20, FeedForward: 32},
		Decoder:        network.Stack{Layers: 4, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 20, FeedForward: 32, TiedEmbedding: true},
		MicroBatchSize: 1,
	}
	if net != want {
		t.Errorf("got %+v, want %+v", net, want)
	}
	cfg.Model.VocabularySharding = config.VocabularyStage
	if net, _ = cssr.Network(cfg.Model, 2); net.(network.EncoderDecoder).Shards != 2 {
		t.Errorf("got %+v, want it shared by 2 devices", net)
	}
}
