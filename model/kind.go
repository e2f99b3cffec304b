package model

import "fmt"

// Kind is an index into the kind table of a problem.
type Kind uint8

// The kinds that every problem knows. Further kinds of a problem follow them
// in its table.
const (
	Forward        Kind = iota // computes the output of a stage
	BackwardInput              // computes the gradient of the stage's input
	BackwardWeight             // computes the gradient of the stage's weights
	BackwardFull               // both backward passes in one
	SendForward                // blocking transfer of an output
	SendBackward               // blocking transfer of a gradient
	numStandardKinds
)

// KindInfo is a row of the kind table.
type KindInfo struct {
	Name   string // spelled out, as in files and profiles
	Letter string // as in text forms: F, I, W, B of PyTorch's schedule format
	Busy   bool   // counts as work of the device (a transfer does not)
}

// StandardKinds returns the table of the kinds that every problem knows. The
// caller owns the slice.
func StandardKinds() []KindInfo {
	return []KindInfo{
		Forward:        {"forward", "F", true},
		BackwardInput:  {"backward_input", "I", true},
		BackwardWeight: {"backward_weight", "W", true},
		BackwardFull:   {"backward_full", "B", true},
		SendForward:    {"send_forward", "SEND_F", false},
		SendBackward:   {"send_backward", "SEND_B", false},
	}
}

// String returns the spelled-out name of a standard kind.
func (k Kind) String() string {
	if k < numStandardKinds {
		return StandardKinds()[k].Name
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// IsTransfer reports whether the kind is a blocking transfer.
func (k Kind) IsTransfer() bool { return k == SendForward || k == SendBackward }

// CarriesGradient reports whether the end of the operation is the moment when
// the gradient of the stage's input exists.
func (k Kind) CarriesGradient() bool { return k == BackwardInput || k == BackwardFull }
