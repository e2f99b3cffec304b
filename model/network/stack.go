package network

import "errors"

// A Stack is a run of equal blocks in a network of several, such as its encoder.
type Stack struct {
	// Layers is the number of blocks.
	Layers int `json:"layers"`
	// Hidden is the width h.
	Hidden int `json:"hidden"`
	// Heads is the number of attention heads a, which divides Hidden; 0 makes the
	// blocks those of an [MLP].
	Heads int `json:"heads,omitempty"`
	// Sequence is the positions per sample s; 0 means 1 for the blocks of an MLP.
	Sequence int `json:"sequence,omitempty"`
	// FeedForward is the inner width f; 0 means 4h.
	FeedForward int `json:"feed_forward,omitempty"`
	// Vocabulary is the number of tokens V; 0 for a stack without embedding and head.
	Vocabulary int `json:"vocabulary,omitempty"`
	// TiedEmbedding says that the head uses the table of the embedding.
	TiedEmbedding bool `json:"tied_embedding,omitempty"`
}

// A batch is what the stacks of a network have in common.
type batch struct {
	size   int
	dtype  DType
	shards int
}

// gpt returns the transformer with the sizes of s; those of a vocabulary that it lacks
// are not used.
func (s Stack) gpt(b batch) GPT {
	return GPT{
		Layers: s.Layers, Hidden: s.Hidden, Heads: s.Heads, Sequence: s.Sequence,
		Vocabulary: max(1, s.Vocabulary), FeedForward: s.FeedForward, TiedEmbedding: s.TiedEmbedding,
		MicroBatchSize: b.size, DType: b.dtype, Shards: b.shards,
	}
}

// mlp returns the MLP with the sizes of s.
func (s Stack) mlp(b batch) MLP {
	return MLP{
		Layers: s.Layers, Hidden: s.Hidden, FeedForward: s.FeedForward, Sequence: s.Sequence,
		MicroBatchSize: b.size, DType: b.dtype,
	}
}

// attends reports whether the blocks are those of a transformer.
func (s Stack) attends() bool { return s.Heads > 0 }

// positions returns the positions per sample.
func (s Stack) positions() int { return max(1, s.Sequence) }

// check returns a [*FieldError] for the first field that is out of range, in the name of
// owner.
func (s Stack) check(owner string, b batch) error {
	var err error
	switch {
	case s.Heads < 0:
		return &FieldError{owner, "heads", s.Heads, "must not be negative; 0 means the blocks of an mlp"}
	case s.Vocabulary < 0:
		return &FieldError{owner, "vocabulary", s.Vocabulary, "must not be negative; 0 means none"}
	case !s.attends() && s.Vocabulary > 0:
		return &FieldError{owner, "vocabulary", s.Vocabulary, "belongs to a transformer; give heads"}
	case s.attends():
		err = s.gpt(b).Validate()
	default:
		err = s.mlp(b).Validate()
	}
	if field := (*FieldError)(nil); errors.As(err, &field) {
		field.Owner = owner
	}
	return err
}

// blocks returns the blocks, each with an output for the next. data says that the first
// reads data, which needs no gradient; then an MLP saves the work for it, see
// [MLP.Chain]. What comes before the blocks of a transformer, such as the cutting of an
// image into patches, has parameters, and is not modelled.
func (s Stack) blocks(b batch, data bool) []Layer {
	if s.attends() {
		return newTransformer(s.gpt(b)).blocks(s.Layers)
	}
	return s.mlp(b).blocks(data)
}

// ends returns the vocabulary layers of the stack: those of the two that it may have, if
// there is a vocabulary.
func (s Stack) ends(b batch, embedding, head bool) ends {
	if s.Vocabulary == 0 {
		return ends{}
	}
	return ends{t: newTransformer(s.gpt(b)), embedding: embedding, head: head}
}

// output returns the bytes of what the blocks put out, e·bsh.
func (s Stack) output(b batch) int64 {
	return b.dtype.Bytes() * int64(b.size) * int64(s.positions()) * int64(s.Hidden)
}
