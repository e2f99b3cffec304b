package network

import (
	"encoding/json"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// A Blueprint says which layers of which network each stage of a pipeline holds: what a
// runtime needs to build the stages and train them. It travels with the pipeline, in
// [model.Pipeline.Network], as text.
type Blueprint struct {
	// Kind is gpt, mlp, encoder-decoder or two-branch.
	Kind string `json:"kind"`
	// Stacks are the runs of equal layers: one of a gpt or an mlp; encoder, decoder; the
	// two branches, then the joint stack if there is one.
	Stacks []Stack `json:"stacks"`
	// MicroBatchSize is the samples per micro-batch b.
	MicroBatchSize int `json:"micro_batch_size"`
	// DType is the element type of matrix products that costs were estimated for.
	DType DType `json:"dtype"`
	// Vocabulary says how devices share vocabulary layers: "none", which "" means as
	// well, "stage" or "passes".
	Vocabulary string `json:"vocabulary_sharding,omitempty"`
	// Shards is the number of devices that share vocabulary layers; 0 if none do.
	Shards int `json:"shards,omitempty"`
	// Stages has an entry for each stage of the pipeline.
	Stages []Slice `json:"stages"`
}

// A Slice is the layers of a stage: those from First to End, half-open, of a [Part].
type Slice struct {
	Part      int       `json:"part"`
	First     int       `json:"first"`
	End       int       `json:"end"`
	Recompute Recompute `json:"recompute,omitempty"`
}

// The kinds of networks that a [Blueprint] can have.
const (
	gptKind            = "gpt"
	mlpKind            = "mlp"
	encoderDecoderKind = "encoder-decoder"
	twoBranchKind      = "two-branch"
)

// The ways in which devices share vocabulary layers.
const (
	sharedByNone   = "none"
	sharedByStage  = "stage"
	sharedInPasses = "passes"
)

// Network returns the network of the blueprint, whatever its stages. The error is a
// [*FieldError] for what the kind of network cannot have; sizes are checked where layers
// are listed, see [Network].
func (b *Blueprint) Network() (Network, error) {
	if err := b.checkSharing(); err != nil {
		return nil, err
	}
	batch := batch{b.MicroBatchSize, b.DType, b.Shards}
	switch b.Kind {
	case gptKind:
		if err := b.checkStacks(1, 1); err != nil {
			return nil, err
		}
		g := b.Stacks[0].gpt(batch)
		g.Vocabulary = b.Stacks[0].Vocabulary // a gpt needs one
		return g, nil
	case mlpKind:
		if err := b.checkStacks(1, 1); err != nil {
			return nil, err
		}
		return b.mlp(batch)
	case encoderDecoderKind:
		if err := b.checkStacks(2, 2); err != nil {
			return nil, err
		}
		return EncoderDecoder{
			Encoder: b.Stacks[0], Decoder: b.Stacks[1],
			MicroBatchSize: b.MicroBatchSize, DType: b.DType, Shards: b.Shards,
		}, nil
	case twoBranchKind:
		if err := b.checkStacks(2, 3); err != nil {
			return nil, err
		}
		net := TwoBranch{
			Branches:       [2]Stack(b.Stacks[:2]),
			MicroBatchSize: b.MicroBatchSize, DType: b.DType, Shards: b.Shards,
		}
		if len(b.Stacks) > 2 {
			joint := b.Stacks[2]
			net.Joint = &joint
		}
		return net, nil
	}
	return nil, b.fail("kind", fmt.Sprintf("%.60q", b.Kind), "known are gpt, mlp, encoder-decoder, two-branch")
}

// mlp returns the MLP of the only stack, which has neither attention nor vocabulary.
func (b *Blueprint) mlp(batch batch) (Network, error) {
	switch s := &b.Stacks[0]; {
	case s.Heads != 0:
		return nil, &FieldError{mlpKind, "heads", s.Heads, "an mlp has no attention; leave it out"}
	case s.Vocabulary != 0:
		return nil, &FieldError{mlpKind, "vocabulary", s.Vocabulary, "an mlp has none; leave it out"}
	case s.TiedEmbedding:
		return nil, &FieldError{mlpKind, "tied_embedding", true, "an mlp has no embedding; leave it out"}
	}
	return b.Stacks[0].mlp(batch), nil
}

func (b *Blueprint) fail(field string, value any, problem string) error {
	return &FieldError{Owner: "blueprint", Field: field, Value: value, Problem: problem}
}

// mostStackLayers bounds the layers of a stack, so that a short text cannot ask for
// layers that memory does not hold.
const mostStackLayers = 1 << 16

// checkStacks tests the number of stacks, and of layers in each.
func (b *Blueprint) checkStacks(low, high int) error {
	n := len(b.Stacks)
	for i := range b.Stacks {
		if layers := b.Stacks[i].Layers; layers > mostStackLayers {
			return b.fail(fmt.Sprintf("stacks[%d].layers", i), layers, fmt.Sprintf("must be at most %d", mostStackLayers))
		}
	}
	if low <= n && n <= high {
		return nil
	}
	want := fmt.Sprint(low)
	if high > low {
		want = fmt.Sprintf("%d or %d", low, high)
	}
	return b.fail("stacks", fmt.Sprintf("a list of %d", n), "kind "+b.Kind+" has "+want)
}

// checkSharing tests that the number of devices goes with the way in which they share
// vocabulary layers.
func (b *Blueprint) checkSharing() error {
	switch b.Vocabulary {
	case "", sharedByNone:
		if b.Shards != 0 {
			return b.fail("shards", b.Shards, "must be 0 where no vocabulary is shared")
		}
		return nil
	case sharedByStage, sharedInPasses:
		if b.Vocabulary == sharedInPasses && b.Kind != gptKind {
			return b.fail("vocabulary_sharding", b.Vocabulary, "passes over the vocabulary are known for kind gpt only")
		}
		if b.Shards < 1 {
			return b.fail("shards", b.Shards, "must be the number of devices that share the vocabulary, at least 1")
		}
		return nil
	}
	return b.fail("vocabulary_sharding", fmt.Sprintf("%.60q", b.Vocabulary), "known are none, stage, passes")
}

// StageParts returns the parts whose layers are those of stages: all [Network.Parts], or
// the dealt ones where devices share a vocabulary in passes, which are operations beside
// the stages. Slices count these. Errors are those of [Blueprint.Network] and of
// [Network.Parts].
func (b *Blueprint) StageParts() ([]Part, error) {
	net, err := b.Network()
	if err != nil {
		return nil, err
	}
	parts, err := net.Parts()
	if err != nil || b.Vocabulary != sharedInPasses {
		return parts, err
	}
	parts = dealt(parts)
	parts[0].After = nil // the embedding; a gpt has no other part before its blocks
	return parts, nil
}

// Validate tests that there is such a network, and that the stages hold each of its
// layers once: in the order of the parts, and within a part layer by layer. A part that
// is not [Dealt] is one stage. The error is a [*FieldError].
func (b *Blueprint) Validate() error {
	parts, err := b.StageParts()
	if err != nil {
		return err
	}
	part, first := 0, 0 // where the next stage starts
	for s, slice := range b.Stages {
		field := fmt.Sprintf("stages[%d]", s)
		switch {
		case part == len(parts):
			return b.fail(field, slice, "the stages before it hold all layers")
		case slice.Part != part || slice.First != first:
			return b.fail(field, slice, fmt.Sprintf("must start with layer %d of part %d", first, part))
		case slice.End <= first || slice.End > len(parts[part].Layers):
			return b.fail(field, slice, fmt.Sprintf("must end between %d and %d", first+1, len(parts[part].Layers)))
		case parts[part].Seat != Dealt && slice.End < len(parts[part].Layers):
			return b.fail(field, slice, fmt.Sprintf("must hold all %d layers: the %s is one stage", len(parts[part].Layers), parts[part].Name))
		case !slice.Recompute.valid():
			return b.fail(field, slice, "known ways to recompute are none, selective, full")
		}
		if first = slice.End; first == len(parts[part].Layers) {
			part, first = part+1, 0
		}
	}
	if part < len(parts) {
		return b.fail("stages", fmt.Sprintf("a list of %d", len(b.Stages)), fmt.Sprintf("no stage holds layer %d of part %d", first, part))
	}
	return nil
}

// String returns the range and its part.
func (s Slice) String() string {
	return fmt.Sprintf("layers %d to %d of part %d", s.First, s.End, s.Part)
}

// Encode returns the blueprint as JSON on one line, the same for equal blueprints. The
// error is that of [Blueprint.Validate].
func (b *Blueprint) Encode() (string, error) {
	if err := b.Validate(); err != nil {
		return "", err
	}
	text, err := json.Marshal(b)
	return string(text), err
}

// DecodeBlueprint reads what [Blueprint.Encode] wrote. Unknown keys, keys given twice,
// wrong types and trailing data are errors of type [*model.FileError], with the place;
// what is wrong with the content is that of [Blueprint.Validate].
func DecodeBlueprint(text string) (*Blueprint, error) {
	b := &Blueprint{}
	if err := model.DecodeJSON("network", text, b); err != nil {
		return nil, err
	}
	if err := b.Validate(); err != nil {
		return nil, err
	}
	return b, nil
}
