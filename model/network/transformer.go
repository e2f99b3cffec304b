package network

import "strconv"

// A transformer holds the sizes of a valid [GPT] as its formulas use them.
type transformer struct {
	h, a, s, f, v int64
	bs            int64 // tokens of a micro-batch, b*s
	e             int64 // bytes of an element
	state         int64 // bytes of training state per parameter
	tied          bool
	shards        int // devices that share the vocabulary layers; 0: one has each
}

func newTransformer(g GPT) transformer {
	t := transformer{
		h: int64(g.Hidden), a: int64(g.Heads), s: int64(g.Sequence),
		f: int64(g.FeedForward), v: int64(g.Vocabulary),
		bs: int64(g.MicroBatchSize) * int64(g.Sequence),
		e:  g.DType.Bytes(), state: g.DType.StateBytes(),
		tied: g.TiedEmbedding, shards: g.Shards,
	}
	if t.f == 0 {
		t.f = 4 * t.h
	}
	return t
}

// blocks returns the first n blocks.
func (t transformer) blocks(n int) []Layer {
	layers := make([]Layer, n)
	for i := range layers {
		layers[i] = t.block(i)
	}
	return layers
}

// block returns transformer block number i.
//
// Work (Zero Bubble, arXiv:2401.10241, Table 1; there f = 4h). The products with
// weights are 4h² + 2hf multiply-adds per token in each of the three operations,
// 24bsh² FLOPs for f = 4h. Attention has QKᵀ and PV, 2bs²h FLOPs each, in the
// forward, and two gradients for each of them in backward input:
//
//	forward          bs(8h² + 4hf) + 4bs²h
//	backward input   bs(8h² + 4hf) + 8bs²h
//	backward weight  bs(8h² + 4hf)
//
// The causal mask is not taken to save any of it.
//
// Parameters: matrices 4h² + 2hf, their biases 5h + f, two norms 4h; for f = 4h
// that is 12h² + 13h.
func (t transformer) block(i int) Layer {
	weights := 2 * float64(t.bs) * float64(4*t.h*t.h+2*t.h*t.f)
	attention := 4 * float64(t.bs) * float64(t.s) * float64(t.h)
	forward := weights + attention
	return Layer{
		Kind:           Block,
		Name:           "block " + strconv.Itoa(i),
		Forward:        forward,
		BackwardInput:  weights + 2*attention,
		BackwardWeight: weights,
		Activation:     t.blockLinear() + t.blockScores(),
		Retained:       t.blockRetained(),
		Selective:      Checkpoint{Bytes: t.blockLinear(), FLOPs: attention},
		Full:           Checkpoint{Bytes: t.hiddenBytes(), FLOPs: forward},
		Parameters:     4*t.h*t.h + 2*t.h*t.f + 9*t.h + t.f,
		StateBytes:     t.state,
		Output:         t.hiddenBytes(),
	}
}

// hiddenBytes returns the bytes of one [b, s, h] tensor, e·bsh.
func (t transformer) hiddenBytes() int64 { return t.e * t.bs * t.h }

// blockLinear returns the activation bytes of a block that grow linearly with
// the sequence: 34sbh for e = 2 and f = 4h (Korthikanti et al., arXiv:2205.05198,
// Section 4.1). They are the inputs of the two norms, of the QKV product, of the
// projection and of the feed-forward layer, 5eh, and Q, K and V, 3eh; the inputs
// of the activation function and of the second matrix, 2ef; and the masks of two
// dropouts, a byte per element, 2h.
func (t transformer) blockLinear() int64 {
	return t.bs * (t.e*(8*t.h+2*t.f) + 2*t.h)
}

// blockScores returns the activation bytes of the [b, a, s, s] matrices of
// attention, 5as²b for e = 2 (same source): softmax output and dropout output,
// e each, and the dropout mask, 1.
func (t transformer) blockScores() int64 {
	return t.a * t.bs * t.s * (2*t.e + 1)
}

// blockRetained returns the bytes that backward weight of a block reads: 32sbh
// for e = 2 and f = 4h (Zero Bubble, Table 1). The inputs of the QKV, projection,
// first and second feed-forward products have widths h, h, h, f, and the
// gradients of their outputs 3h, h, f, h.
func (t transformer) blockRetained() int64 {
	return t.e * t.bs * (8*t.h + 2*t.f)
}

// embedding returns the input layer: a look-up in the [V, h] table plus a
// position from the [s, h] table, then dropout.
//
// It has no matrix product and is bound by memory. Yeung et al., "Balancing
// Pipeline Parallelism with Vocabulary Parallelism" (arXiv:2411.05288), count
// 3bsh FLOPs for it; here the forward has bsh and backward weight 2bsh of them.
// Tokens have no gradient, hence there is no work in backward input.
//
// Activations are the 8-byte token numbers and the dropout mask, 8bs + bsh, as
// in Megatron-LM's estimate of memory; backward weight reads the token numbers
// and the gradient of the output.
//
// Devices that share the table look up what they have of it, 1/P of the work on
// average, and add up the results by an all-reduce; backward weight starts with a
// broadcast of the gradient. Each has all positions, and holds activations in full.
func (t transformer) embedding() Layer {
	elements := float64(t.bs) * float64(t.h) / float64(max(1, t.shards))
	l := Layer{
		Kind:           Embedding,
		Name:           "embedding",
		Forward:        elements,
		BackwardWeight: 2 * elements,
		Activation:     8*t.bs + t.bs*t.h,
		Retained:       8*t.bs + t.hiddenBytes(),
		Parameters:     (shareOf(t.v, t.shards) + t.s) * t.h,
		StateBytes:     t.state,
		Output:         t.hiddenBytes(),
	}.keepAll()
	if t.shards > 0 {
		hidden := Exchange{Rounds: 1, Bytes: t.hiddenBytes()}
		l.Output, l.Shards, l.Exchanged = 0, t.shards, [3]Exchange{0: hidden, 2: hidden}
	}
	return l
}

// head returns the final norm, the output layer and the cross entropy.
//
// Each of the three operations is one product of 2bshV FLOPs (arXiv:2411.05288),
// the work of V/(12h + 2s) forwards of a block with f = 4h.
//
// Activations are the inputs of norm and product and the 32-bit logits,
// 4sbh(1 + V/h) for e = 2 (Korthikanti et al., Section 4.3). The gradient of the
// logits takes their place; backward weight reads it, with e bytes an element,
// and the input of the product.
//
// Devices that share the vocabulary have V/P of it each, rounded up, and the norm and
// its input in full. The forward starts with a broadcast of the input and ends with the
// statistics of the softmax; backward input ends with a reduce of the gradient.
func (t transformer) head() Layer {
	v := shareOf(t.v, t.shards)
	product := 2 * float64(t.bs) * float64(t.h) * float64(v)
	l := Layer{
		Kind:           Head,
		Name:           "head",
		Forward:        product,
		BackwardInput:  product,
		BackwardWeight: product,
		Activation:     2*t.hiddenBytes() + 4*t.bs*v,
		Retained:       t.hiddenBytes() + t.e*t.bs*v,
		Parameters:     2 * t.h,
		StateBytes:     t.state,
		Shards:         t.shards,
	}
	switch {
	case !t.tied:
		l.Parameters += v * t.h
	case t.shards > 0: // the same devices have the same shares in the embedding
	default:
		l.Tied = v * t.h
	}
	if t.shards > 0 {
		hidden := Exchange{Rounds: 1, Bytes: t.hiddenBytes()}
		l.Exchanged = [3]Exchange{0: hidden.plus(t.statistics()), 1: hidden}
	}
	return l.keepAll()
}
