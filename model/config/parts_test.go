package config

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestNetworksOfParts(t *testing.T) {
	config := load(t, "encoder-decoder")
	same(t, 24, config.Model.Layers())
	same(t, Even, config.Partition.Rule)
	same(t, Decoder, config.Model.Parts[1].Role)
	same(t, dec("25e9"), config.Cluster.NodeBandwidth)

	config = load(t, "two-branch")
	same(t, &Model{
		Kind: TwoBranch, MicroBatchSize: 1, DType: BF16, Loss: Contrastive, VocabularySharding: VocabularyNone,
		Parts: []Part{
			{Role: Branch, Kind: GPT, Layers: 12, Hidden: 768, Heads: 12, Sequence: 197, FeedForward: 3072},
			{Role: Branch, Kind: MLP, Layers: 6, Hidden: 512, Sequence: 1, FeedForward: 2048},
			{Role: Joint, Kind: MLP, Layers: 2, Hidden: 512, Sequence: 1, FeedForward: 512},
		},
	}, config.Model)
}

// Each part of a network has a stage, on however few devices.
func TestStagesOfParts(t *testing.T) {
	for _, test := range []struct {
		config, keys  string
		devices, want int
	}{
		{"encoder-decoder", "", 1, 2},
		{"encoder-decoder", "", 6, 6},
		{"two-branch", "", 2, 3},
		{"two-branch", "stages: 5", 2, 5},
		{"two-branch", "partition: [12, 3, 3, 2]", 2, 4},
	} {
		text := strings.Replace(validConfigs[test.config], "devices: 4", "devices: "+strconv.Itoa(test.devices), 1)
		text = strings.Replace(text, "partition: even\n", "", 1) + test.keys
		config, err := Decode([]byte(text), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, config)
		same(t, test.want, config.Stages)
	}
}

// Passes over a vocabulary are for kind gpt, and are refused where they stand.
func TestVocabularyPasses(t *testing.T) {
	const model = "version: 1\ndevices: 2\nmicro_batches: 1\ncluster: {flops: 1e12, link_bandwidth: 1e9}\nmodel:\n  kind: %s\n  vocabulary_sharding: passes\n  %s\n"
	config, err := Decode(fmt.Appendf(nil, model, "gpt", "layers: 2\n  hidden: 8\n  heads: 2\n  sequence: 4\n  vocabulary: 16"), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	same(t, VocabularyPasses, config.Model.VocabularySharding)
	same(t, true, config.Model.VocabularySharding.Shared())
	const part = "{layers: 2, hidden: 8, heads: 2, sequence: 4, vocabulary: 16}"
	_, err = Decode(fmt.Appendf(nil, model, "encoder-decoder", "encoder: "+part+"\n  decoder: "+part), "c.yaml")
	const want = "c.yaml:7:24: model.vocabulary_sharding: passes over the vocabulary are known for kind gpt only; write stage or none"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestVocabularySharding(t *testing.T) {
	text := strings.Replace(validConfigs["gpt"], "[[embedding, 5], 6, 6, 6, [1, head]]", "[6, 6, 6, 5, 1]", 1)
	text = strings.Replace(text, "tied_embedding: false", "vocabulary_sharding: stage", 1)
	config, err := Decode([]byte(text), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	same(t, VocabularyStage, config.Model.VocabularySharding)
	same(t, []StageLayers{{Layers: 6}, {Layers: 6}, {Layers: 6}, {Layers: 5}, {Layers: 1}}, config.Partition.Stages)
	same(t, false, load(t, "mlp").Model.HasVocabulary())
	// A device that has no other stage has those.
	config, err = Decode([]byte(text+"placement: [0, 1, 2, 2, 2]\n"), "c.yaml")
	if err != nil || config.Warnings != nil {
		t.Errorf("%v, warnings %v", err, config.Warnings)
	}
}
