package network_test

import (
	"errors"
	"math"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// translator has a decoder of h = 8, f = 32, two heads and bs = 8 tokens, which attends to
// bt = 12 positions of width g = 16.
var translator = network.EncoderDecoder{
	Encoder:        network.Stack{Layers: 2, Hidden: 16, Heads: 4, Sequence: 6, Vocabulary: 50},
	Decoder:        network.Stack{Layers: 3, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 40},
	MicroBatchSize: 2,
}

// partsOf returns the parts of n.
func partsOf(t testing.TB, n network.Network) []network.Part {
	t.Helper()
	return must[[]network.Part](t)(n.Parts())
}

// TestDecoderBlock compares with numbers worked out by hand. Products with weights, two
// operations per multiply-add and token: self attention and feed-forward
// 2·8·(4·64 + 2·8·32) = 12288, queries and projection 2·8·2·64 = 2048, keys and
// values 2·12·2·128 = 6144; matrices of attention 2·(2·8·4·8) = 1024 over the decoder,
// 2·(2·8·6·8) = 1536 over the encoder.
func TestDecoderBlock(t *testing.T) {
	block := partsOf(t, translator)[1].Layers[1]
	want := network.Layer{
		Kind: network.Block, Name: "block 0",
		Forward:        12288 + 1024 + 2048 + 6144 + 1536,
		BackwardInput:  12288 + 2*1024 + 2048 + 6144 + 2*1536,
		BackwardWeight: 12288 + 2048 + 6144,
		// 34sbh + 5as²b = 2176 + 320; four bf16 tensors and a mask of 64 elements, keys
		// and values of 96, 5 bytes for each of the 2·8·6 weights of attention.
		Activation: 2176 + 320 + 4*128 + 64 + 2*192 + 480,
		Retained:   2048 + 4*128 + 2*192,
		Selective:  network.Checkpoint{Bytes: 2176 + 4*128 + 64 + 2*192, FLOPs: 1024 + 1536},
		Full:       network.Checkpoint{Bytes: 128, FLOPs: 23040},
		Context:    2 * 12 * 16,
		// 12h² + 13h, two matrices of 8×8, two of 16×8, four biases, one norm.
		Parameters: 872 + 2*64 + 2*128 + 4*8 + 2*8,
		StateBytes: 18,
		Output:     128 + 384, // its own tensor, and the encoder's
	}
	if block != want {
		t.Errorf("got  %+v\nwant %+v", block, want)
	}
}

// The encoder's output goes from stage to stage up to the last decoder block, and a
// stage keeps it once.
func TestEncoderOutputTravels(t *testing.T) {
	parts := partsOf(t, translator)
	decoder := parts[1].Layers
	if got := parts[0].Layers[2].Output; got != 384 {
		t.Errorf("the encoder puts out %d bytes, want 384", got)
	}
	for i, want := range []int64{512, 512, 512, 128, 0} {
		if decoder[i].Output != want {
			t.Errorf("%s puts out %d bytes, want %d", decoder[i].Name, decoder[i].Output, want)
		}
	}
	stages := must[[]network.Stage](t)(network.PartStages(parts, a100, network.Partition{3, 1, 3, 1}, nil))
	one, three := decoder[1].Activation, stages[2].Activation
	if want := 3*one + 384; three != want {
		t.Errorf("three decoder blocks keep %d bytes, want the encoder's output once: %d", three, want)
	}
	if stages[1].Activation != decoder[0].Activation || stages[3].Activation != decoder[4].Activation {
		t.Error("embedding and head keep more than their own")
	}
	freed := stages[2].FreedByBackwardInput
	if want := 3 * (one - decoder[1].Retained); freed != want {
		t.Errorf("backward input gives back %d bytes, want %d: the encoder's output is still needed", freed, want)
	}
}

// TestEncoderDecoderParameters compares the blocks with those of a published checkpoint:
// BART base (Lewis et al., arXiv:1910.13461) has 139,420,416 parameters. Of these
// 50265·768 are its table of tokens, 2·1026·768 those of positions, and 2·2·768 the
// norms after the embeddings.
func TestEncoderDecoderParameters(t *testing.T) {
	stack := network.Stack{Layers: 6, Hidden: 768, Heads: 12, Sequence: 1024}
	var blocks int64
	for _, l := range chain(t, network.EncoderDecoder{Encoder: stack, Decoder: stack, MicroBatchSize: 1}) {
		blocks += l.Parameters
	}
	if want := int64(139_420_416 - 50265*768 - 2*1026*768 - 2*2*768); blocks != want {
		t.Errorf("the blocks have %d parameters, want %d", blocks, want)
	}
}

func TestEncoderDecoderValidate(t *testing.T) {
	for _, c := range []struct {
		owner, field string
		change       func(*network.EncoderDecoder)
	}{
		{"encoder", "layers", func(m *network.EncoderDecoder) { m.Encoder.Layers = 0 }},
		{"encoder", "heads", func(m *network.EncoderDecoder) { m.Encoder.Heads = -1 }},
		{"encoder", "vocabulary", func(m *network.EncoderDecoder) { m.Encoder.Heads = 0 }},
		{"encoder", "vocabulary", func(m *network.EncoderDecoder) { m.Encoder.Vocabulary = -1 }},
		{"encoder", "tied_embedding", func(m *network.EncoderDecoder) { m.Encoder.TiedEmbedding = true }},
		{"encoder", "micro_batch_size", func(m *network.EncoderDecoder) { m.MicroBatchSize = 0 }},
		{"encoder", "shards", func(m *network.EncoderDecoder) { m.Shards = -1 }},
		{"decoder", "heads", func(m *network.EncoderDecoder) { m.Decoder.Heads = 0 }},
		{"decoder", "heads", func(m *network.EncoderDecoder) { m.Decoder.Heads = 3 }},
		{"decoder", "size", func(m *network.EncoderDecoder) {
			m.Decoder.Hidden, m.Decoder.Layers, m.Encoder.Hidden, m.Encoder.Heads = 1<<20, 1<<14, 1<<20, 1
		}},
		{"encoder", "size", func(m *network.EncoderDecoder) { m.Encoder.Sequence = math.MaxInt }},
	} {
		m := translator
		c.change(&m)
		_, err := m.Parts()
		var field *network.FieldError
		if !errors.As(err, &field) || field.Owner != c.owner || field.Field != c.field {
			t.Errorf("error is %v, want one for %s: %s", err, c.owner, c.field)
		}
	}
}
