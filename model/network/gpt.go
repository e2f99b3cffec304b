package network

// A GPT is a decoder-only transformer as in GPT-2: token and learned position
// embeddings, pre-norm blocks of attention and a two-matrix feed-forward layer,
// a final norm and an output layer with cross entropy. Matrices have biases,
// except the output layer; attention and residual branches have dropout.
type GPT struct {
	// Layers is the number of transformer blocks.
	Layers int
	// Hidden is the width h; Heads, the number of attention heads a, divides it.
	Hidden, Heads int
	// Sequence is the tokens per sample s.
	Sequence int
	// Vocabulary is the number of tokens V.
	Vocabulary int
	// FeedForward is the inner width f of the feed-forward layer; 0 means 4h.
	FeedForward int
	// MicroBatchSize is the samples per micro-batch b.
	MicroBatchSize int
	// DType is the element type of matrix products.
	DType DType
	// TiedEmbedding says that the output layer uses the table of the embedding.
	TiedEmbedding bool
	// Shards is the number of devices that share embedding and head, each of which is
	// then a part of its own, on all devices; 0 leaves them whole, layers like others.
	Shards int
}

// Validate returns a [*FieldError] for the first field that is out of range.
func (g GPT) Validate() error {
	err := checkPositive("gpt",
		dimension{"layers", g.Layers},
		dimension{"hidden", g.Hidden},
		dimension{"heads", g.Heads},
		dimension{"sequence", g.Sequence},
		dimension{"vocabulary", g.Vocabulary},
		dimension{"micro_batch_size", g.MicroBatchSize},
	)
	if err != nil {
		return err
	}
	if g.FeedForward < 0 {
		return &FieldError{"gpt", "feed_forward", g.FeedForward, "must not be negative; 0 means 4 * hidden"}
	}
	if g.Shards < 0 {
		return &FieldError{"gpt", "shards", g.Shards, "must not be negative; 0 leaves embedding and head whole"}
	}
	if g.Hidden%g.Heads != 0 {
		return &FieldError{"gpt", "heads", g.Heads, "must divide hidden"}
	}
	if err := g.DType.check("gpt"); err != nil {
		return err
	}
	return checkSize("gpt", g.Layers, g.sizeEstimate())
}

// sizeEstimate returns an upper bound of the bytes of parameters and activations
// of the whole network, safe from overflow. See transformer for the exact sums:
// a block has at most 8h(h+f) parameters and 64(h+f)+9as bytes per token.
func (g GPT) sizeEstimate() float64 {
	h, s, v := float64(g.Hidden), float64(g.Sequence), float64(g.Vocabulary)
	f := 4 * h
	if g.FeedForward > 0 {
		f = float64(g.FeedForward)
	}
	layers, heads, tokens := float64(g.Layers+1), float64(g.Heads), float64(g.MicroBatchSize)*s
	parameters := layers*8*h*(h+f) + (2*v+s+2)*h
	activations := tokens * (layers*(64*(h+f)+9*heads*s) + 8*v)
	return 18*parameters + activations
}

// MicroBatch returns b samples and bs tokens.
func (g GPT) MicroBatch() (samples, tokens int) {
	return g.MicroBatchSize, g.MicroBatchSize * g.Sequence
}

// Chain returns Layers+2 layers: the embedding, the blocks, and the head,
// which is the final norm, the output layer and the cross entropy. It returns
// the error of [GPT.Validate].
func (g GPT) Chain() ([]Layer, error) {
	parts, err := g.Parts()
	if err != nil {
		return nil, err
	}
	return concatenated(parts), nil
}

// Parts returns the chain as one part or, if devices share the vocabulary, three:
// embedding, blocks, head. It returns the error of [GPT.Validate].
func (g GPT) Parts() ([]Part, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	t := newTransformer(g)
	var parts graph
	parts.addBlocks("", t.blocks(g.Layers), ends{t: t, embedding: true, head: true})
	return parts.parts, nil
}
