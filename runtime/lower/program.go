package lower

import "github.com/flexpipe/flexpipe/model"

// Program is a plan as the devices execute it. It is read-only after [Lower].
type Program struct {
	Problem  *model.Problem
	Plan     *model.Plan
	Devices  [][]Instr // by device, engines included: executed in order
	Messages []Message // numbered as in Instr.Message

	// Order has all operations, each behind everything that it waits for.
	Order []model.OpID
}

// Code is what an instruction does.
type Code uint8

// The codes.
const (
	// Receive waits for a message, and takes what it carries.
	Receive Code = iota
	// Take takes memory before an operation starts.
	Take
	// Compute runs an operation. One of several devices (a gang, a blocking transfer)
	// stands in the program of each of them; it starts when all of them have come to it,
	// and ends for all of them at once.
	Compute
	// Give gives memory back after an operation has ended.
	Give
	// Send hands a message over. It does not wait for the receiver.
	Send
)

// Instr is an instruction of a device.
type Instr struct {
	Code Code
	// Op is the operation that is computed, that takes or gives the memory, that consumes
	// what is received, or that produced what is sent.
	Op      model.OpID
	Message int32       // of Send and Receive, else -1
	Bytes   model.Bytes // of Take and Give: above 0; else 0
}

// Message is what one device tells another: that an operation has ended, and what it put out.
type Message struct {
	Producer, Consumer model.OpID
	From, To           int32 // devices, different ones
	Carries            Carries
}

// Carries says what a message brings.
type Carries uint8

// The cargoes.
const (
	Nothing  Carries = iota // it only says that its producer has ended
	Output                  // the output of the producer's stage, for a forward
	Gradient                // the gradient of the output of the consumer's stage
)
