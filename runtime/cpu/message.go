package cpu

import (
	"fmt"

	"github.com/flexpipe/flexpipe/runtime/lower"
)

// A lane has the tensors that go one way between stages, by stage and micro-batch: outputs,
// or the gradients of outputs, in both cases by the stage whose output it is.
//
// An entry of sent belongs to the device that made the tensor, until it is sent; one of here
// to the device that reads it. So no lock is needed.
type lane struct {
	what       string
	here, sent [][]*tensor
}

func newLane(what string, stages, microBatches int) lane {
	l := lane{what: what}
	for range stages {
		l.here = append(l.here, make([]*tensor, microBatches))
		l.sent = append(l.sent, make([]*tensor, microBatches))
	}
	return l
}

// take returns an entry of one of the two sides, and clears it.
func (l *lane) take(side [][]*tensor, s, m int) *tensor {
	t := side[s][m]
	side[s][m] = nil
	return t
}

// restart forgets all tensors.
func (l *lane) restart() {
	for s := range l.here {
		clear(l.here[s])
		clear(l.sent[s])
	}
}

// Send returns the tensor that a message carries, which is of no use here any more.
func (d *device) Send(message int) (any, error) {
	l, s, m := d.backend.cargo(message)
	if l == nil {
		return nil, nil
	}
	t := l.take(l.sent, s, m)
	if t == nil {
		return nil, fmt.Errorf("message %d: there is no %s of stage %d to send for micro-batch %d", message, l.what, s, m)
	}
	return t, nil
}

// Receive puts the tensor of a message where the operation that reads it looks.
func (d *device) Receive(message int, payload any) error {
	l, s, m := d.backend.cargo(message)
	if l == nil {
		return nil
	}
	t, ok := payload.(*tensor)
	if !ok || t == nil {
		return fmt.Errorf("message %d carries %T, not a tensor", message, payload)
	}
	l.here[s][m] = t
	return nil
}

// cargo returns the lane of what a message carries, nil if it carries nothing, and its stage
// and micro-batch in the lane.
func (b *Backend) cargo(message int) (l *lane, s, m int) {
	msg, p := &b.program.Messages[message], b.program.Problem
	switch msg.Carries {
	case lower.Output:
		return &b.outputs, p.Row(msg.Producer).Stage, p.MicroBatch(msg.Producer)
	case lower.Gradient:
		return &b.gradients, p.Row(msg.Consumer).Stage, p.MicroBatch(msg.Consumer)
	}
	return nil, 0, 0
}
