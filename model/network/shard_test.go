package network_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
)

// simple does an operation, and sends a byte, in a nanosecond.
var simple = network.Cluster{FLOPs: 1e9, LinkBandwidth: 1e9, LinkLatency: 100}

func TestExchange(t *testing.T) {
	nodes := simple
	nodes.DevicesPerNode, nodes.NodeBandwidth = 4, 5e8
	free := network.Cluster{FLOPs: 1}
	for _, c := range []struct {
		cluster network.Cluster
		e       network.Exchange
		devices int
		want    time.Duration
	}{
		{simple, network.Exchange{Rounds: 1, Bytes: 1000}, 0, 0},
		{simple, network.Exchange{Rounds: 1, Bytes: 1000}, 1, 0},
		{simple, network.Exchange{}, 4, 0},
		{simple, network.Exchange{Rounds: 1, Bytes: 1000}, 2, 2*100 + 1000},
		{simple, network.Exchange{Rounds: 1, Bytes: 1000}, 4, 6*100 + 1500},
		{simple, network.Exchange{Rounds: 3, Bytes: 1000}, 4, 18*100 + 1500},
		{nodes, network.Exchange{Rounds: 1, Bytes: 1000}, 4, 6*100 + 1500},
		{nodes, network.Exchange{Rounds: 1, Bytes: 1000}, 8, 14*100 + 3500},
		{free, network.Exchange{Rounds: 1, Bytes: 1000}, 8, 0},
	} {
		if got := must[time.Duration](t)(c.cluster.Exchange(c.e, c.devices)); got != c.want {
			t.Errorf("%+v among %d devices takes %v, want %v", c.e, c.devices, got, c.want)
		}
	}
	for _, slow := range []network.Cluster{{FLOPs: 1, LinkBandwidth: 1e-9}, {FLOPs: 1, LinkLatency: math.MaxInt64}} {
		if d, err := slow.Exchange(network.Exchange{Rounds: 1, Bytes: 1 << 40}, 4); err == nil {
			t.Errorf("%+v: 2^40 bytes take %v, want an error", slow, d)
		}
	}
}

// sharded has 2 tokens of h = 8 and shares 10 tokens of vocabulary among 4 devices: 3 for
// each, two of them padding.
var sharded = network.GPT{Layers: 3, Hidden: 8, Heads: 2, Sequence: 2, Vocabulary: 10, MicroBatchSize: 1, Shards: 4}

// TestSharedVocabulary compares the stages of shared layers with numbers worked out by
// hand. A hidden tensor has 32 bytes, which a collective moves in 6·100 + 6/4·32 = 648 ns.
func TestSharedVocabulary(t *testing.T) {
	parts := partsOf(t, sharded)
	if len(parts) != 3 || parts[0].Name != "embedding" || parts[1].Name != "" || parts[2].Name != "head" ||
		parts[0].Seat != network.Everywhere || parts[1].Seat != network.Dealt || parts[2].Seat != network.Everywhere {
		t.Fatalf("got %+v", parts)
	}
	stages := must[[]network.Stage](t)(network.PartStages(parts, simple, network.Partition{2, 1}, nil))
	want := network.Stage{
		First: 0, End: 1, Part: 0,
		Forward: 4 + 648, BackwardInput: 0, BackwardWeight: 8 + 648,
		Activation: 8*2 + 16, FreedByBackwardInput: 16 - 32,
		Static: 18 * (3 + 2) * 8, // its tokens, and all positions
	}
	if stages[0] != want {
		t.Errorf("embedding: got %+v, want %+v", stages[0], want)
	}
	// 2·2·8·3 = 96 FLOPs. Two more rounds bring 12 bytes per token of statistics.
	want = network.Stage{
		First: 0, End: 1, Part: 2,
		Forward: 96 + 648 + 12*100 + 36, BackwardInput: 96 + 648, BackwardWeight: 96,
		Activation: 2*32 + 4*2*3, FreedByBackwardInput: 2*32 + 4*2*3 - (32 + 2*2*3),
		Static: 18 * (2*8 + 3*8),
	}
	if stages[3] != want {
		t.Errorf("head: got %+v, want %+v", stages[3], want)
	}
	if stages[1].Output != 32 || stages[2].Output != 0 {
		t.Errorf("outputs %d, %d; the collectives carry the last", stages[1].Output, stages[2].Output)
	}
	if got := network.StageGraph(parts, stages); !slices.EqualFunc(got, [][]int{nil, {0}, {1}, {2}}, slices.Equal[[]int]) {
		t.Errorf("graph %v", got)
	}
}

// Shared and tied, the head has no table: its device has the share of the embedding.
func TestSharedAndTied(t *testing.T) {
	g := sharded
	g.TiedEmbedding = true
	stages := must[[]network.Stage](t)(network.PartStages(partsOf(t, g), simple, network.Partition{3}, nil))
	if got, want := stages[2].Static, int64(18*2*8); got != want {
		t.Errorf("the head holds %d bytes, want %d", got, want)
	}
}

// The embedding of a decoder waits for nobody when it is a part of its own.
func TestSharedVocabularyOfParts(t *testing.T) {
	m := translator
	m.Shards = 2
	parts := partsOf(t, m)
	stages := must[[]network.Stage](t)(network.PartStages(parts, simple, network.Partition{1, 1, 2, 1}, nil))
	want := [][]int{nil, {0}, {1}, nil, {3, 2}, {4}, {5}}
	if got := network.StageGraph(parts, stages); !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("graph %v, want %v", got, want)
	}
}

func TestVocabularyPasses(t *testing.T) {
	got := must[network.VocabularyPasses](t)(sharded.Passes())
	got.Input = network.Layer{}
	want := network.VocabularyPasses{
		S: 96, T: 192,
		Broadcast:  network.Exchange{Rounds: 1, Bytes: 32},
		Statistics: network.Exchange{Rounds: 2, Bytes: 24},
		Reduce:     network.Exchange{Rounds: 1, Bytes: 32},
		Activation: 88, Static: 18 * 40,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	m := translator
	m.Shards = 4
	passes := must[network.VocabularyPasses](t)(m.Passes())
	if passes.S != 2*8*8*10 || passes.Input.Shards != 4 {
		t.Errorf("decoder: got %+v", passes)
	}
	m.Decoder.Vocabulary = 0
	var field *network.FieldError
	if _, err := m.Passes(); !errors.As(err, &field) || field.Field != "vocabulary" {
		t.Errorf("error is %v, want one for the vocabulary", err)
	}
	if _, err := (network.GPT{}).Passes(); err == nil {
		t.Error("an empty GPT has passes")
	}
}
