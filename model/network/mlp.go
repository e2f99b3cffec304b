package network

import "strconv"

// An MLP is a chain of equal blocks on vectors of width h, with a squared-error
// loss on the last output. It has neither embedding nor head: all layers are
// blocks.
//
// A block is act(x·W₁ + c₁)·W₂ + c₂, with matrices h×f and f×h.
type MLP struct {
	// Layers is the number of blocks.
	Layers int
	// Hidden is the width h of what passes between blocks.
	Hidden int
	// FeedForward is the inner width f of a block; 0 means 4h.
	FeedForward int
	// Sequence is the vectors per sample s; 0 means 1.
	Sequence int
	// MicroBatchSize is the samples per micro-batch b.
	MicroBatchSize int
	// DType is the element type of matrix products.
	DType DType
}

// Validate returns a [*FieldError] for the first field that is out of range.
func (m MLP) Validate() error {
	err := checkPositive("mlp",
		dimension{"layers", m.Layers},
		dimension{"hidden", m.Hidden},
		dimension{"micro_batch_size", m.MicroBatchSize},
	)
	if err != nil {
		return err
	}
	if m.FeedForward < 0 {
		return &FieldError{"mlp", "feed_forward", m.FeedForward, "must not be negative; 0 means 4 * hidden"}
	}
	if m.Sequence < 0 {
		return &FieldError{"mlp", "sequence", m.Sequence, "must not be negative; 0 means 1"}
	}
	if err := m.DType.check("mlp"); err != nil {
		return err
	}
	return checkSize("mlp", m.Layers, m.sizeEstimate())
}

// sizeEstimate returns an upper bound of the bytes of parameters and activations
// of the whole network, safe from overflow.
func (m MLP) sizeEstimate() float64 {
	h, f := float64(m.Hidden), 4*float64(m.Hidden)
	if m.FeedForward > 0 {
		f = float64(m.FeedForward)
	}
	tokens := float64(m.MicroBatchSize) * float64(max(1, m.Sequence))
	return float64(m.Layers) * (18*2*(h+1)*(h+f+1) + tokens*8*(h+f))
}

// MicroBatch returns b samples and bs vectors, counted as tokens.
func (m MLP) MicroBatch() (samples, tokens int) {
	return m.MicroBatchSize, m.MicroBatchSize * max(1, m.Sequence)
}

// Chain returns the blocks. The first has no gradient with respect to its
// input, which is data: its backward input is the way through W₂ only. It returns
// the error of [MLP.Validate].
func (m MLP) Chain() ([]Layer, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	layers := m.blocks(true)
	layers[m.Layers-1].Output = 0
	return layers, nil
}

// Parts returns the blocks as one part, or the error of [MLP.Validate].
func (m MLP) Parts() ([]Part, error) {
	layers, err := m.Chain()
	if err != nil {
		return nil, err
	}
	return []Part{{Layers: layers}}, nil
}

// blocks returns the blocks, each with an output for the next. data says that the first
// reads data.
func (m MLP) blocks(data bool) []Layer {
	layers := make([]Layer, m.Layers)
	for i := range layers {
		layers[i] = m.block()
		layers[i].Name = "block " + strconv.Itoa(i)
	}
	if data {
		layers[0].BackwardInput /= 2
	}
	return layers
}

// block returns a block that is neither the first nor the last.
//
// Each of the three operations has 2bs FLOPs per entry of the two matrices. Kept are
// the input of each matrix and that of the activation function; backward weight
// reads the input of each matrix and the gradient of its output:
//
//	parameters  2hf + f + h
//	activation  e·bs·(h + 2f)
//	retained    e·bs·(2h + 2f)
//
// Retained exceeds the activation: it holds the gradient that came from the next
// block. Full recomputation keeps the input, e·bs·h.
func (m MLP) block() Layer {
	_, tokens := m.MicroBatch()
	n, h, f, e := int64(tokens), int64(m.Hidden), int64(m.FeedForward), m.DType.Bytes()
	if f == 0 {
		f = 4 * h
	}
	flops := 2 * float64(n) * float64(2*h*f)
	l := Layer{
		Kind:           Block,
		Forward:        flops,
		BackwardInput:  flops,
		BackwardWeight: flops,
		Activation:     e * n * (h + 2*f),
		Retained:       e * n * (2*h + 2*f),
		Parameters:     2*h*f + f + h,
		StateBytes:     m.DType.StateBytes(),
		Output:         e * n * h,
	}.keepAll()
	l.Full = Checkpoint{Bytes: e * n * h, FLOPs: flops}
	return l
}
