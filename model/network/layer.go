package network

import "fmt"

// A LayerKind tells the layers that [Even] and [Listed] count from those that
// follow the first or the last stage.
type LayerKind uint8

// The kinds of layers.
const (
	Block     LayerKind = iota // a repeated layer, counted by Even and Listed
	Embedding                  // input layer: tokens to vectors
	Head                       // output layer and loss
	Join                       // reads both branches, and holds their loss
)

// String returns the kind in lower case.
func (k LayerKind) String() string {
	switch k {
	case Block:
		return "block"
	case Embedding:
		return "embedding"
	case Head:
		return "head"
	case Join:
		return "join"
	}
	return fmt.Sprintf("LayerKind(%d)", uint8(k))
}

// A Layer is the smallest part of a network that a partition moves between
// stages. Work and activations are those of one micro-batch.
type Layer struct {
	Kind LayerKind
	// Name is unique in its part: "embedding", "block 0", "head".
	Name string

	// Forward, BackwardInput and BackwardWeight are floating-point operations,
	// without recomputation. BackwardInput is the gradient with respect to what
	// the layer reads and all that leads there; BackwardWeight the gradient
	// with respect to its parameters.
	Forward, BackwardInput, BackwardWeight float64

	// Activation is the bytes that the forward keeps for the backward when
	// nothing is recomputed.
	Activation int64
	// Retained is the bytes that backward weight reads, and hence what is held
	// between backward input and backward weight: the inputs of the matrix
	// products and the gradients of their outputs. It may exceed Activation.
	Retained int64
	// Selective and Full replace Activation under the recomputation of that
	// name. Where it does not apply they are {Activation, 0}.
	Selective, Full Checkpoint
	// Work is the bytes of scratch that an operation of the layer needs for the moment. It
	// is known from measurements only, see [Measured]; formulas leave it at 0.
	Work int64
	// Context is the bytes of a tensor that all layers of the part read, such as the
	// encoder's output in a decoder. A stage keeps it once, from the forward to the
	// backward weight, whatever is recomputed. It is not part of the above.
	Context int64

	// Parameters counts the parameters that the layer owns; of a shared layer, those
	// on one device.
	Parameters int64
	// Tied counts parameters that the layer shares with the first layer of its
	// part. Stages with one of the two each hold a copy; a stage with both
	// holds one.
	Tied int64
	// StateBytes is the bytes of training state per parameter; see
	// [DType.StateBytes].
	StateBytes int64

	// Output is the bytes that the next layer reads; its gradient has the same
	// size. 0 for the last layer, and where an exchange carries it.
	Output int64

	// Shards is the number of devices that share the layer, all of them at work at
	// once; 0 for a layer on one device. Work and memory are those of one device.
	Shards int
	// Exchanged is what these devices send each other in forward, backward input and
	// backward weight.
	Exchanged [3]Exchange
}

// A Checkpoint is what a layer keeps after its forward to recompute the rest.
type Checkpoint struct {
	// Bytes is what is kept.
	Bytes int64
	// FLOPs is the work of bringing back the rest.
	FLOPs float64
	// Work is the bytes of scratch for it beyond that of the layer, if known; 0 stands for
	// what the layer holds and neither keeps nor retains.
	Work int64
}

// A Cost is the work and memory of one micro-batch on a layer under a certain
// recomputation. Unlike the fields of [Layer] it is additive over layers, except
// for Workspace and Context, of which the largest counts.
type Cost struct {
	// Forward, BackwardInput and BackwardWeight are floating-point operations.
	// Recomputation is part of BackwardInput, since it has to come first.
	Forward, BackwardInput, BackwardWeight float64
	// Activation is the bytes taken when the forward starts.
	Activation int64
	// FreedByBackwardInput is the bytes given back when backward input ends; if
	// negative, minus the bytes taken when it starts. Backward weight gives
	// back the rest, Activation - FreedByBackwardInput.
	FreedByBackwardInput int64
	// Workspace is the bytes held for the moment beyond what the two numbers above
	// account for: by recomputation, and as scratch.
	Workspace int64
	// Context is the bytes taken with Activation, and given back by backward weight,
	// once for all layers of a stage; see [Layer.Context].
	Context int64
}

// FLOPs returns the work of the three operations together.
func (c Cost) FLOPs() float64 { return c.Forward + c.BackwardInput + c.BackwardWeight }

// Cost returns the cost of the layer under r, in O(1).
//
// The backward is taken to go block by block, so that what a block recomputes
// beyond Retained is there only while that block is at work. It is counted in
// Workspace, once for the stage, and not in FreedByBackwardInput.
func (l *Layer) Cost(r Recompute) Cost {
	kept := l.checkpoint(r)
	rebuilt := kept.Work
	if rebuilt == 0 {
		rebuilt = max(0, l.Activation-max(kept.Bytes, l.Retained))
	}
	return Cost{
		Forward:              l.Forward,
		BackwardInput:        l.BackwardInput + kept.FLOPs,
		BackwardWeight:       l.BackwardWeight,
		Activation:           kept.Bytes,
		FreedByBackwardInput: kept.Bytes - l.Retained,
		Workspace:            l.Work + rebuilt,
		Context:              l.Context,
	}
}

func (l *Layer) checkpoint(r Recompute) Checkpoint {
	switch r {
	case RecomputeSelective:
		return l.Selective
	case RecomputeFull:
		return l.Full
	}
	return Checkpoint{Bytes: l.Activation}
}

// keepAll returns l with checkpoints that recompute nothing.
func (l Layer) keepAll() Layer {
	all := Checkpoint{Bytes: l.Activation}
	l.Selective, l.Full = all, all
	return l
}
