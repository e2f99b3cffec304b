package network

// An EncoderDecoder is a transformer whose decoder attends to what its encoder puts out,
// as in Vaswani et al., "Attention Is All You Need" (2017, arXiv:1706.03762), T5 and BART.
// With a vocabulary a stack has an embedding, and the decoder a head with cross entropy.
//
// The encoder's output travels with the decoder's own tensor from stage to stage, and its
// gradient comes back the same way, each stage adding its share, as in Megatron-LM. Sent
// from the encoder to every decoder stage instead, it would be as many bytes, all from
// one device, and the stages would not be a chain, which most schedules need.
//
// A table that embeddings share is counted for each of them: their devices hold a copy
// each, except where encoder and decoder lie on the same one.
type EncoderDecoder struct {
	// Encoder and Decoder are the two stacks; the decoder must have heads. The encoder
	// has no head to tie to its embedding.
	Encoder, Decoder Stack
	// MicroBatchSize is the samples per micro-batch b.
	MicroBatchSize int
	// DType is the element type of matrix products.
	DType DType
	// Shards is the number of devices that share each embedding and the head, as in
	// [GPT].
	Shards int
}

func (m EncoderDecoder) batch() batch { return batch{m.MicroBatchSize, m.DType, m.Shards} }

// Validate returns a [*FieldError] for the first field that is out of range.
func (m EncoderDecoder) Validate() error {
	b := m.batch()
	if err := m.Encoder.check("encoder", b); err != nil {
		return err
	}
	switch {
	case m.Encoder.TiedEmbedding:
		return &FieldError{"encoder", "tied_embedding", true, "an encoder has no head"}
	case !m.Decoder.attends():
		return &FieldError{"decoder", "heads", m.Decoder.Heads, "must be at least 1: a decoder attends to the encoder"}
	}
	if err := m.Decoder.check("decoder", b); err != nil {
		return err
	}
	return checkSize("decoder", m.Decoder.Layers, m.sizeEstimate())
}

// sizeEstimate returns an upper bound of the bytes of the network, safe from overflow:
// attention over other positions adds less to a block than twice what it has, and the
// terms with the encoder's positions.
func (m EncoderDecoder) sizeEstimate() float64 {
	b := m.batch()
	d, e := m.Decoder.gpt(b), m.Encoder
	source := float64(b.size) * float64(e.positions())
	h, g, a, s := float64(d.Hidden), float64(e.Hidden), float64(d.Heads), float64(d.Sequence)
	cross := float64(d.Layers+1) * (18*4*h*(g+1) + source*(16*h+9*a*s+8*g))
	sum := 2*d.sizeEstimate() + cross
	if e.attends() {
		return sum + e.gpt(b).sizeEstimate()
	}
	return sum + e.mlp(b).sizeEstimate()
}

// MicroBatch returns b samples, and as tokens the positions of both stacks.
func (m EncoderDecoder) MicroBatch() (samples, tokens int) {
	return m.MicroBatchSize, m.MicroBatchSize * (m.Encoder.positions() + m.Decoder.positions())
}

// Parts returns encoder and decoder, and the vocabulary layers as further parts if devices
// share them. It returns the error of [EncoderDecoder.Validate].
func (m EncoderDecoder) Parts() ([]Part, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	b := m.batch()
	var g graph
	encoder := g.addBlocks("encoder", m.Encoder.blocks(b, m.Encoder.Vocabulary == 0), m.Encoder.ends(b, true, false))
	t := newTransformer(m.Decoder.gpt(b))
	from := source{
		width: int64(m.Encoder.Hidden), positions: int64(m.Encoder.positions()),
		tokens: int64(b.size) * int64(m.Encoder.positions()),
	}
	blocks := make([]Layer, m.Decoder.Layers)
	for i := range blocks {
		blocks[i] = t.crossBlock(i, from)
	}
	last := &blocks[len(blocks)-1]
	last.Output = t.hiddenBytes()
	if m.Decoder.Vocabulary == 0 {
		last.Output = 0
	}
	g.addBlocks("decoder", blocks, m.Decoder.ends(b, true, true), encoder)
	return g.parts, nil
}

// Passes returns the passes over the shared vocabulary of the decoder, which must have
// one. It returns a [*FieldError] otherwise, or that of [EncoderDecoder.Validate].
func (m EncoderDecoder) Passes() (VocabularyPasses, error) {
	if err := m.Validate(); err != nil {
		return VocabularyPasses{}, err
	}
	if m.Decoder.Vocabulary == 0 {
		return VocabularyPasses{}, &FieldError{"decoder", "vocabulary", 0, "must be at least 1 for passes over it"}
	}
	return m.Decoder.gpt(m.batch()).Passes()
}

// A source is what a decoder attends to: tokens = b·positions vectors of a width.
type source struct{ width, positions, tokens int64 }

// crossBlock returns decoder block number i: a block, and between its two halves attention
// over the encoder's output, with a norm and a residual branch with dropout of its own.
//
// With g the width of that output and t its positions per sample, the cross attention
// has two products with h×h weights per token of the decoder (queries, projection) and
// two with g×h weights per position of the encoder (keys, values); QKᵀ and PV are
// [s, t] matrices per head. Counted as in a block:
//
//	forward          4bsh² + 4btgh + 4bsth
//	backward input   4bsh² + 4btgh + 8bsth
//	backward weight  4bsh² + 4btgh
//	parameters       2h² + 2gh, biases 4h, norm 2h; for g = h that is 4h² + 6h
//
// Activations follow the count of Korthikanti et al. (arXiv:2205.05198, Section 4.1)
// for attention: the inputs of norm, query product and projection and the queries,
// 4e·bsh; keys and values, 2e·bth; the mask of dropout after the projection, bsh; and
// softmax output, dropout output and mask, (2e + 1)·abst. The encoder's output, e·btg,
// is kept once per stage as [Layer.Context]. Backward weight reads the inputs of query
// product and projection and the gradients of their outputs, 4e·bsh, and the gradients
// of keys and values, 2e·bth.
func (t transformer) crossBlock(i int, from source) Layer {
	l := t.block(i)
	weights := 4*float64(t.bs)*float64(t.h)*float64(t.h) + 4*float64(from.tokens)*float64(from.width)*float64(t.h)
	attention := 4 * float64(t.bs) * float64(from.positions) * float64(t.h)
	linear := t.bs*(4*t.e*t.h+t.h) + 2*t.e*from.tokens*t.h
	scores := t.a * t.bs * from.positions * (2*t.e + 1)

	l.Forward += weights + attention
	l.BackwardInput += weights + 2*attention
	l.BackwardWeight += weights
	l.Activation += linear + scores
	l.Retained += 4*t.hiddenBytes() + 2*t.e*from.tokens*t.h
	l.Selective.Bytes += linear
	l.Selective.FLOPs += attention
	l.Full.FLOPs = l.Forward
	l.Context = t.e * from.tokens * from.width
	l.Parameters += 2*t.h*t.h + 2*from.width*t.h + 6*t.h
	l.Output += l.Context
	return l
}
