package lower

import "fmt"

// Channels is a model of how messages travel between two devices: what a Send and a Receive
// wait for. In all of them an operation of several devices starts when all have come to it.
type Channels uint8

// The models, from the most to the least forgiving.
const (
	// Buffered: a message waits in a mailbox of its own until it is received. Only
	// receivers wait. The engine of package runtime works so.
	Buffered Channels = iota
	// InOrder: there is a queue for each directed pair of devices. A sender never waits; a
	// receiver gets what is at the head, whatever it expects. PyTorch over NCCL works so
	// when sends are waited for at the end of the iteration only.
	InOrder
	// Rendezvous: a sender waits until the receiver stands at the matching Receive, as with
	// MPI's synchronous sends. Many good plans cannot run like that, 1F1B among them, in
	// which neighbours send to each other at the same time; frameworks whose transfers
	// block pair such sends with receives.
	Rendezvous
)

// AllChannels lists the models.
func AllChannels() []Channels { return []Channels{Buffered, InOrder, Rendezvous} }

// Required reports whether programs of Lower always run under a model, so that a failure
// is a mistake and not a property of the plan.
func (c Channels) Required() bool { return c != Rendezvous }

// String returns "buffered", "in order" or "rendezvous".
func (c Channels) String() string {
	switch c {
	case Buffered:
		return "buffered"
	case InOrder:
		return "in order"
	case Rendezvous:
		return "rendezvous"
	}
	return fmt.Sprintf("channels %d", c)
}
