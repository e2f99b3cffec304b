package network_test

import (
	"errors"
	"math"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// gpts are shapes for which closed forms must hold; all have f = 4h.
var gpts = []network.GPT{
	gpt1b,
	{Layers: 32, Hidden: 4096, Heads: 32, Sequence: 1024, Vocabulary: 50304, MicroBatchSize: 3, DType: network.FP16},
	{Layers: 1, Hidden: 8, Heads: 2, Sequence: 5, Vocabulary: 7, MicroBatchSize: 2},
}

// TestBlockWork checks the sums of Table 1 of the Zero Bubble paper.
func TestBlockWork(t *testing.T) {
	for _, g := range gpts {
		b, s, h := float64(g.MicroBatchSize), float64(g.Sequence), float64(g.Hidden)
		block := chain(t, g)[1]
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"forward", block.Forward, 24*b*s*h*h + 4*b*s*s*h},
			{"backward input", block.BackwardInput, 24*b*s*h*h + 8*b*s*s*h},
			{"backward weight", block.BackwardWeight, 24 * b * s * h * h},
			{"sum", block.Cost(network.RecomputeNone).FLOPs(), b * s * h * (72*h + 12*s)},
		} {
			if c.got != c.want {
				t.Errorf("h=%g s=%g: %s is %g FLOPs, want %g", h, s, c.name, c.got, c.want)
			}
		}
	}
}

// TestBlockMemory checks sbh(34 + 5as/h) and its recomputed forms (Korthikanti et
// al., Table 2) and the memory of the Zero Bubble paper: forward +(34h + 5as),
// backward weight -32h, backward input the rest, each times bs.
func TestBlockMemory(t *testing.T) {
	for _, g := range gpts {
		bs := int64(g.MicroBatchSize) * int64(g.Sequence)
		h, as := int64(g.Hidden), int64(g.Heads)*int64(g.Sequence)
		block := chain(t, g)[1]
		for _, c := range []struct {
			recompute                         network.Recompute
			activation, freedByI, recomputing int64
		}{
			{network.RecomputeNone, 34*h + 5*as, 2*h + 5*as, 0},
			{network.RecomputeSelective, 34 * h, 2 * h, 5 * as},
			{network.RecomputeFull, 2 * h, -30 * h, 2*h + 5*as},
		} {
			got := block.Cost(c.recompute)
			if got.Activation != bs*c.activation || got.FreedByBackwardInput != bs*c.freedByI || got.Workspace != bs*c.recomputing {
				t.Errorf("h=%d recompute %v: got %+v, want bs times %+v", h, c.recompute, got, c)
			}
			if rest := got.Activation - got.FreedByBackwardInput; rest != bs*32*h {
				t.Errorf("h=%d recompute %v: backward weight gives back %d, want 32sbh = %d", h, c.recompute, rest, bs*32*h)
			}
		}
	}
}

// TestBlockRecomputeWork: full recomputation adds one forward, selective the two
// products of attention, both to backward input.
func TestBlockRecomputeWork(t *testing.T) {
	for _, g := range gpts {
		b, s, h := float64(g.MicroBatchSize), float64(g.Sequence), float64(g.Hidden)
		block := chain(t, g)[1]
		none := block.Cost(network.RecomputeNone)
		for r, extra := range map[network.Recompute]float64{
			network.RecomputeSelective: 4 * b * s * s * h,
			network.RecomputeFull:      none.Forward,
		} {
			got := block.Cost(r)
			if got.BackwardInput != none.BackwardInput+extra || got.Forward != none.Forward || got.BackwardWeight != none.BackwardWeight {
				t.Errorf("h=%g recompute %v: got %+v, want %+v with %g more in backward input", h, r, got, none, extra)
			}
		}
	}
}

// TestHeadWork checks that the head does the work of V/(12h + 2s) blocks in the
// forward, for two published shapes: 9.8 and 13.2 blocks. (The second is the GPT
// with a vocabulary of a million of Lin et al., "Tessel", arXiv:2311.15269.)
func TestHeadWork(t *testing.T) {
	for _, c := range []struct {
		h, s, v int
		want    float64
	}{
		{2048, 1024, 262144, 262144.0 / (12*2048 + 2*1024)},
		{6144, 2048, 1024000, 1024000.0 / (12*6144 + 2*2048)},
	} {
		g := network.GPT{Layers: 1, Hidden: c.h, Heads: 16, Sequence: c.s, Vocabulary: c.v, MicroBatchSize: 1}
		layers := chain(t, g)
		head := layers[2]
		if got := head.Forward / layers[1].Forward; !near(got, c.want) {
			t.Errorf("h=%d V=%d: head is %.3f blocks, want %.3f", c.h, c.v, got, c.want)
		}
		want := 2 * float64(c.s) * float64(c.h) * float64(c.v)
		if head.Forward != want || head.BackwardInput != want || head.BackwardWeight != want {
			t.Errorf("h=%d V=%d: head works %g %g %g, want 2bshV = %g each",
				c.h, c.v, head.Forward, head.BackwardInput, head.BackwardWeight, want)
		}
		// 4sbh(1 + V/h): Korthikanti et al., Section 4.3.
		if want := 4 * int64(c.s) * int64(c.h+c.v); head.Activation != want {
			t.Errorf("h=%d V=%d: head keeps %d bytes, want %d", c.h, c.v, head.Activation, want)
		}
	}
}

func near(got, want float64) bool {
	d := got - want
	return d <= 1e-12*want && -d <= 1e-12*want
}

// TestEmbedding: memory-bound work of 3bsh, none of it in backward input.
func TestEmbedding(t *testing.T) {
	for _, g := range gpts {
		e := chain(t, g)[0]
		want := 3 * float64(g.MicroBatchSize) * float64(g.Sequence) * float64(g.Hidden)
		if e.BackwardInput != 0 || e.Forward+e.BackwardWeight != want {
			t.Errorf("h=%d: got %+v, want 3bsh = %g without backward input", g.Hidden, e, want)
		}
	}
}

// TestParameters compares with the published checkpoints of GPT-2 (Radford et
// al., 2019), whose exact counts are those of the released weights, and with the
// nominal size of the Zero Bubble paper's smallest model.
func TestParameters(t *testing.T) {
	gpt2 := func(layers, hidden, heads int) network.GPT {
		return network.GPT{
			Layers: layers, Hidden: hidden, Heads: heads, Sequence: 1024, Vocabulary: 50257,
			MicroBatchSize: 1, TiedEmbedding: true,
		}
	}
	for _, c := range []struct {
		name string
		gpt  network.GPT
		want int64
	}{
		{"small", gpt2(12, 768, 12), 124_439_808},
		{"medium", gpt2(24, 1024, 16), 354_823_168},
		{"large", gpt2(36, 1280, 20), 774_030_080},
		{"xl", gpt2(48, 1600, 25), 1_557_611_200},
	} {
		sum := must[network.Summary](t)(network.Summarize(c.gpt))
		if sum.Parameters != c.want {
			t.Errorf("GPT-2 %s has %d parameters, want %d", c.name, sum.Parameters, c.want)
		}
	}
	var blocks int64
	for _, l := range chain(t, gpt1b)[1:25] {
		blocks += l.Parameters
	}
	h := int64(gpt1b.Hidden)
	if want := 24 * (12*h*h + 13*h); blocks != want || blocks < 1_500_000_000 || blocks > 1_600_000_000 {
		t.Errorf("the blocks of the 1.5B model have %d parameters, want %d", blocks, want)
	}
}

// TestFeedForward: an explicit width of 4h changes nothing, and each unit of
// width adds its two columns everywhere.
func TestFeedForward(t *testing.T) {
	g := gpt1b
	base := chain(t, g)[1]
	g.FeedForward = 4 * g.Hidden
	if got := chain(t, g)[1]; got != base {
		t.Errorf("feed_forward = 4h: got %+v, want %+v", got, base)
	}
	g.FeedForward++
	got := chain(t, g)[1]
	bs, h := int64(g.Sequence), int64(g.Hidden)
	if d := got.Forward - base.Forward; d != float64(4*bs*h) {
		t.Errorf("one more unit of width adds %g FLOPs, want 4bsh", d)
	}
	if d := got.Activation - base.Activation; d != 4*bs {
		t.Errorf("one more unit of width adds %d bytes, want 4bs", d)
	}
	if d := got.Parameters - base.Parameters; d != 2*h+1 {
		t.Errorf("one more unit of width adds %d parameters, want 2h + 1", d)
	}
}

// TestFP32 checks that elements double and the one-byte masks do not.
func TestFP32(t *testing.T) {
	g := gpt1b
	g.DType = network.FP32
	block := chain(t, g)[1]
	bs, h, as := int64(g.Sequence), int64(g.Hidden), int64(g.Heads)*int64(g.Sequence)
	if want := bs * (66*h + 9*as); block.Activation != want {
		t.Errorf("a block keeps %d bytes, want bs(66h + 9as) = %d", block.Activation, want)
	}
	if block.Retained != bs*64*h || block.Output != bs*4*h || block.StateBytes != 16 {
		t.Errorf("got %+v, want 64bsh retained, 4bsh output, 16 bytes of state", block)
	}
}

func TestSummarize(t *testing.T) {
	g := gpt1b
	g.MicroBatchSize = 4
	sum := must[network.Summary](t)(network.Summarize(g))
	if sum.Layers != 26 || sum.Samples != 4 || sum.Tokens != 4096 {
		t.Errorf("got %+v, want 26 layers, 4 samples, 4096 tokens", sum)
	}
	s, h, v := float64(g.Sequence), float64(g.Hidden), float64(g.Vocabulary)
	// Narayanan et al., arXiv:2104.04473, Section 5.1, without recomputation and
	// with the embedding's 3h added: 72lh(h + s/6) + 6hV per token.
	if want := 24*h*(72*h+12*s) + 6*h*v + 3*h; sum.FLOPs != 4*s*want {
		t.Errorf("%g FLOPs, want %g per token", sum.FLOPs, want)
	}
}

func TestGPTValidate(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*network.GPT)
	}{
		{"layers", func(g *network.GPT) { g.Layers = 0 }},
		{"layers", func(g *network.GPT) { g.Layers = 1 << 21 }},
		{"hidden", func(g *network.GPT) { g.Hidden = -1 }},
		{"heads", func(g *network.GPT) { g.Heads = 0 }},
		{"heads", func(g *network.GPT) { g.Heads = 5 }},
		{"sequence", func(g *network.GPT) { g.Sequence = 0 }},
		{"vocabulary", func(g *network.GPT) { g.Vocabulary = 0 }},
		{"micro_batch_size", func(g *network.GPT) { g.MicroBatchSize = 0 }},
		{"feed_forward", func(g *network.GPT) { g.FeedForward = -1 }},
		{"dtype", func(g *network.GPT) { g.DType = 9 }},
		{"size", func(g *network.GPT) { g.Sequence = math.MaxInt }},
		{"size", func(g *network.GPT) { g.Hidden = 24 << 26 }},
	} {
		g := gpt1b
		c.change(&g)
		_, err := g.Chain()
		var field *network.FieldError
		if !errors.As(err, &field) || field.Owner != "gpt" || field.Field != c.field {
			t.Errorf("error is %v, want one for gpt: %s", err, c.field)
		}
	}
}
