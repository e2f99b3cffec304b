package network

import "time"

// An Exchange is what the devices that share a layer send each other within one of its
// operations: collectives of all of them, one after the other.
type Exchange struct {
	// Rounds is the number of collectives.
	Rounds int
	// Bytes is the size of the tensors that they carry, added up.
	Bytes int64
}

// plus returns the exchanges of two layers.
func (e Exchange) plus(f Exchange) Exchange {
	return Exchange{Rounds: e.Rounds + f.Rounds, Bytes: e.Bytes + f.Bytes}
}

// Exchange returns how long an exchange takes among devices 0 to devices-1, 0 for a
// single one. Each collective goes around a ring twice: an all-reduce is a
// reduce-scatter and an all-gather, a broadcast a scatter and an all-gather, a reduce a
// reduce-scatter and a gather. With P devices that is
//
//	Rounds · 2(P-1) · LinkLatency + 2(P-1)/P · Bytes / bandwidth
//
// (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations
// in MPICH", 2005, Section 4; the additions of a reduction are left out). The slowest
// link of the ring counts: NodeBandwidth if there are devices on several nodes. Errors
// are those of [Cluster.Latency].
func (c Cluster) Exchange(e Exchange, devices int) (time.Duration, error) {
	if devices < 2 || e == (Exchange{}) {
		return 0, nil
	}
	steps := 2 * (devices - 1)
	volume := float64(e.Bytes) * float64(steps) / float64(devices)
	field, rate := c.bandwidth(0, devices-1)
	var transfer time.Duration
	if rate > 0 {
		var ok bool
		if transfer, ok = duration(volume, rate); !ok {
			return 0, tooLong(field, rate, e.Bytes)
		}
	}
	start, ok := duration(float64(e.Rounds)*float64(steps)*float64(c.LinkLatency), 1e9)
	if !ok || start > maxDuration-transfer {
		return 0, tooLong(field, rate, e.Bytes)
	}
	return start + transfer, nil
}

// shareOf returns the size of the largest of the shares of n things among devices;
// without devices that is all of them. Frameworks pad a vocabulary so that all shares
// have this size.
func shareOf(n int64, devices int) int64 {
	if devices < 2 {
		return n
	}
	d := int64(devices)
	return (n + d - 1) / d
}

// VocabularyPasses are the passes over the output layer when devices share its vocabulary
// (Yeung, Qi, Lin and Wan, "Balancing Pipeline Parallelism with Vocabulary Parallelism",
// 2024, arXiv:2411.05288, Section 4, Algorithm 1): each device runs S and T on its
// share of the vocabulary, as operations of its own, and collectives run between them.
// All numbers are for one micro-batch on one device; P is the number of devices.
//
//	C0  broadcast of the last block's output
//	S   logits of the share and the local statistics of their softmax
//	C1  all-reduce of the statistics
//	T   gradients of the input and of the weights of the share
//	C2  reduce of the gradient of the input to the device of the last block
type VocabularyPasses struct {
	// S is 2bsh·V/P floating-point operations, T twice as many.
	S, T float64
	// Broadcast, Statistics and Reduce are what C0, C1 and C2 exchange: e·bsh bytes; the
	// maxima, 4bs, then the sums and the logits of the targets, 8bs; e·bsh bytes.
	Broadcast, Statistics, Reduce Exchange
	// Activation is the bytes from the start of S to the end of T: the input of norm
	// and product and the 32-bit logits of the share.
	Activation int64
	// Static is the bytes of training state of the share.
	Static int64
	// Input is the layer that looks tokens up in a share of the embedding, followed by
	// an all-reduce of what was found; its backward starts with a broadcast.
	Input Layer
}

// passes returns the passes of t, whose vocabulary must be shared.
func (t transformer) passes() VocabularyPasses {
	head := t.head()
	hidden := Exchange{Rounds: 1, Bytes: t.hiddenBytes()}
	return VocabularyPasses{
		S: head.Forward, T: head.BackwardInput + head.BackwardWeight,
		Broadcast: hidden, Statistics: t.statistics(), Reduce: hidden,
		Activation: head.Activation,
		Static:     head.Parameters * head.StateBytes,
		Input:      t.embedding(),
	}
}

// statistics returns the exchange of a softmax over a shared vocabulary: the maxima,
// then the sums and the logits of the targets, in 32 bits.
func (t transformer) statistics() Exchange { return Exchange{Rounds: 2, Bytes: 12 * t.bs} }

// Passes returns the passes over the shared vocabulary of g, which Shards devices share,
// at least 1. It returns the error of [GPT.Validate].
func (g GPT) Passes() (VocabularyPasses, error) {
	g.Shards = max(1, g.Shards)
	if err := g.Validate(); err != nil {
		return VocabularyPasses{}, err
	}
	return newTransformer(g).passes(), nil
}
