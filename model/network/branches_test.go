package network_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// clip is CLIP ViT-B/32 (arXiv:2103.00020, Table 20): an image of 49 patches and a class
// token, a text of 77 tokens.
var clip = network.TwoBranch{
	Branches: [2]network.Stack{
		{Layers: 12, Hidden: 768, Heads: 12, Sequence: 50},
		{Layers: 12, Hidden: 512, Heads: 8, Sequence: 77, Vocabulary: 49408},
	},
	MicroBatchSize: 4,
}

// TestTwoBranchParameters compares with the published checkpoint, which has 151,277,313
// parameters: all but the stem of the image branch (patches 768·3·32·32, class token 768,
// positions 50·768, norm 2·768), which is not modelled.
func TestTwoBranchParameters(t *testing.T) {
	sum := must[network.Summary](t)(network.Summarize(clip))
	if want := int64(151_277_313 - 768*3*32*32 - 768 - 50*768 - 2*768); sum.Parameters != want {
		t.Errorf("CLIP has %d parameters without its stem, want %d", sum.Parameters, want)
	}
	if sum.Layers != 26 || sum.Samples != 4 || sum.Tokens != 4*(50+77) {
		t.Errorf("got %+v", sum)
	}
}

// TestJoin compares the loss with numbers worked out by hand: 4 samples, widths 768 and
// 512, vectors of 512.
func TestJoin(t *testing.T) {
	parts := partsOf(t, clip)
	loss := parts[2]
	if len(parts) != 3 || loss.Seat != network.Beside || !slices.Equal(loss.After, []int{0, 1}) || loss.Name != "loss" {
		t.Fatalf("got %d parts, the last %+v", len(parts), loss)
	}
	const projections, similarities = 2 * 4 * (768 + 512) * 512, 2 * 4 * 4 * 512
	join := loss.Layers[0]
	if join.Forward != projections+similarities || join.BackwardInput != projections+2*similarities || join.BackwardWeight != projections {
		t.Errorf("work %g, %g, %g", join.Forward, join.BackwardInput, join.BackwardWeight)
	}
	// Per sample two tensors of each width and four vectors of 512; 4×4 similarities.
	if want := int64(2*4*(2*768+2*512+4*512) + 4*16); join.Activation != want {
		t.Errorf("activation %d, want %d", join.Activation, want)
	}
	if want := int64(2 * 4 * (768 + 512 + 2*512)); join.Retained != want || join.Output != 0 {
		t.Errorf("retained %d, want %d; output %d", join.Retained, want, join.Output)
	}
	// One vector per sample leaves each branch.
	for i, want := range []int64{2 * 4 * 768, 2 * 4 * 512} {
		if last := parts[i].Layers[len(parts[i].Layers)-1]; last.Output != want {
			t.Errorf("branch %d puts out %d bytes, want %d", i, last.Output, want)
		}
	}
}

// A joint stack reads both branches in full, and the loss is its first layer.
func TestJoint(t *testing.T) {
	m := clip
	m.Joint = &network.Stack{Layers: 2, Hidden: 256, Heads: 4, Sequence: 128, Vocabulary: 1000}
	parts := partsOf(t, m)
	joint := parts[2]
	if len(parts) != 3 || joint.Seat != network.Dealt || !slices.Equal(joint.After, []int{0, 1}) || len(joint.Layers) != 4 {
		t.Fatalf("got %d parts, the last %+v", len(parts), joint)
	}
	join := joint.Layers[0]
	const projections = 2*4*(768+512)*512 + 2*4*(50*768+77*512)*256
	if join.Kind != network.Join || join.BackwardWeight != projections || join.Output != 2*4*128*256 {
		t.Errorf("got %+v, want %d FLOPs of backward weight", join, projections)
	}
	if want := int64(2*4*(2*50*768+2*77*512+4*512) + 4*16); join.Activation != want {
		t.Errorf("activation %d, want %d", join.Activation, want)
	}
	if want := int64(2 * 4 * (50*768 + 77*512 + 2*512 + 127*256)); join.Retained != want {
		t.Errorf("retained %d, want %d", join.Retained, want)
	}
	if want := int64(1 + 2*(768+512) + (768+512)*(512+256) + 2*256); join.Parameters != want {
		t.Errorf("%d parameters, want %d", join.Parameters, want)
	}
	if last := parts[0].Layers[11]; last.Output != 2*4*50*768 {
		t.Errorf("branch 0 puts out %d bytes", last.Output)
	}
	if head := joint.Layers[3]; head.Kind != network.Head || head.Forward != 2*4*128*256*1000 {
		t.Errorf("the last layer is %+v", head)
	}
}

// A branch of an MLP reads data, a joint MLP does not.
func TestBranchesOfMLPs(t *testing.T) {
	branch := network.Stack{Layers: 2, Hidden: 8}
	m := network.TwoBranch{Branches: [2]network.Stack{branch, branch}, Joint: &branch, MicroBatchSize: 3}
	parts := partsOf(t, m)
	const flops = 2 * 3 * 2 * 8 * 32
	if first := parts[1].Layers[0]; first.BackwardInput != flops/2 {
		t.Errorf("the first block of a branch has %g FLOPs of backward input, want %d", first.BackwardInput, flops/2)
	}
	if first := parts[2].Layers[1]; first.BackwardInput != flops {
		t.Errorf("the first joint block has %g FLOPs of backward input, want %d", first.BackwardInput, flops)
	}
	if samples, tokens := m.MicroBatch(); samples != 3 || tokens != 6 {
		t.Errorf("a micro-batch is %d samples, %d tokens", samples, tokens)
	}
}

func TestTwoBranchValidate(t *testing.T) {
	for _, c := range []struct {
		owner, field string
		change       func(*network.TwoBranch)
	}{
		{"branches[0]", "hidden", func(m *network.TwoBranch) { m.Branches[0].Hidden = 0 }},
		{"branches[1]", "heads", func(m *network.TwoBranch) { m.Branches[1].Heads = 7 }},
		{"branches[1]", "tied_embedding", func(m *network.TwoBranch) { m.Branches[1].TiedEmbedding = true }},
		{"joint", "sequence", func(m *network.TwoBranch) { m.Joint = &network.Stack{Layers: 1, Hidden: 8, Heads: 1} }},
		{"joint", "tied_embedding", func(m *network.TwoBranch) {
			m.Joint = &network.Stack{Layers: 1, Hidden: 8, Heads: 1, Sequence: 1, TiedEmbedding: true}
		}},
		{"branches[0]", "dtype", func(m *network.TwoBranch) { m.DType = 9 }},
		{"branches[0]", "size", func(m *network.TwoBranch) { m.MicroBatchSize = math.MaxInt32 }},
	} {
		m := clip
		c.change(&m)
		_, err := m.Parts()
		var field *network.FieldError
		if !errors.As(err, &field) || field.Owner != c.owner || field.Field != c.field {
			t.Errorf("error is %v, want one for %s: %s", err, c.owner, c.field)
		}
	}
}
