package cpu

import (
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model/network"
)

// layer builds a layer of a part, without values for its parameters.
func (l *layout) layer(p, i int) layer {
	part, b := &l.parts[p], l.blueprint.MicroBatchSize
	s := part.stack
	switch part.Layers[i].Kind {
	case network.Embedding:
		return newEmbedding(b, s.Sequence, s.Vocabulary, s.Hidden)
	case network.Head:
		return newHead(part.rows, s.Hidden, s.Vocabulary)
	case network.Join:
		return newJoin(b, [2]int{l.parts[0].stack.Hidden, l.parts[1].stack.Hidden})
	}
	first, last, inner := i == 0, i == len(part.Layers)-1, s.FeedForward
	if inner == 0 {
		inner = 4 * s.Hidden
	}
	pooled := last && l.pooled(p)
	if s.Heads > 0 {
		return newBlock(blockShape{
			batch: b, sequence: s.Sequence, hidden: s.Hidden, heads: s.Heads, inner: inner,
			causal: l.blueprint.Kind == "gpt", first: first, pooled: pooled,
		})
	}
	return newMLP(mlpShape{
		batch: b, sequence: max(1, s.Sequence), hidden: s.Hidden, inner: inner,
		first: first, last: last && !pooled, pooled: pooled,
	})
}

// pooled reports whether a part ends with one vector for each sample: a branch does.
func (l *layout) pooled(p int) bool { return l.blueprint.Kind == "two-branch" && p < 2 }

// initialize draws the parameters of a stage. Each layer has random numbers of its own, so
// that they do not depend on the cut.
func (s *stage) initialize(seed uint64) {
	for i, layer := range s.layers {
		stream := streamParameters | uint64(s.slice.Part)<<32 | uint64(s.slice.First+i)
		initialize(layer, rand.New(rand.NewPCG(seed, stream)))
	}
}
