package runtime

import (
	"context"

	"github.com/flexpipe/flexpipe/model"
)

// A Device executes the operations of one device of a program. The engine calls its methods
// from one goroutine, in the order of the program: for each operation Receive for what it
// consumes, Compute, Send for what it produced. What stays on the device, such as the output
// of a stage whose successor sits on the same one, is the device's own affair.
//
// An error ends the run with a [Fault] that names the operation.
type Device interface {
	// Compute runs an operation. ctx ends when the run does; an operation that may take
	// longer than a moment looks at it now and then, and returns its cause.
	Compute(ctx context.Context, op model.OpID) error
	// Send returns what a message carries, nil where it carries nothing. From then on it
	// belongs to the receiver.
	Send(message int) (any, error)
	// Receive takes what Send returned on the other side.
	Receive(message int, payload any) error
}

// A Backend has the devices of one program and what they train.
type Backend interface {
	// Name says what it is, such as "cpu" or "emulated".
	Name() string
	// Devices returns one device for each of the program, engines included.
	Devices() []Device
	// Begin prepares an iteration, numbered from 0: its data, zero gradients.
	Begin(iteration int) error
	// Finish ends an iteration whose operations have all run: loss and optimizer step.
	Finish() (Step, error)
	// Close gives back what the backend holds. It may be called once only.
	Close() error
}

// Step is what an iteration achieved.
type Step struct {
	// Loss is the mean over the micro-batches; NaN for a backend that trains nothing.
	Loss float64
	// Memory is what each device really held, by device; nil if the backend holds nothing
	// that could be counted.
	Memory []Memory
}

// Memory is what the tensors of a device took, in bytes.
type Memory struct {
	Static int64 // parameters, gradients, optimizer state
	Work   int64 // space that every operation uses anew
	Peak   int64 // the largest sum of Static and activations at any moment of the iteration
	Live   int64 // activations that were left after it; 0 if nothing leaks
}
