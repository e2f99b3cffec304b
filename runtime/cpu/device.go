package cpu

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// A device runs the stages of one device of the program.
type device struct {
	*Backend
	number int
	home   home
	static int64       // bytes
	in     [][]float32 // what an operation reads
	grads  [][]float32 // what it puts out backwards
	taken  []*tensor   // behind grads
}

func newDevice(b *Backend, number int) *device {
	return &device{Backend: b, number: number, home: home{memory: newAllocator()}}
}

// measure adds up the training state of the copies on the device.
func (d *device) measure() {
	d.static = 0
	for s := range d.copies {
		for _, c := range d.copies[s] {
			if c.home == &d.home {
				d.static += c.bytes().Static
			}
		}
	}
}

// Compute runs an operation. What it reads has been received, or was left by the device
// itself. A transfer computes nothing: the message behind it carries the tensor.
func (d *device) Compute(ctx context.Context, op model.OpID) error {
	p := d.program.Problem
	row, m := p.Row(op), p.MicroBatch(op)
	if row.Kind.IsTransfer() {
		return nil
	}
	at := d.seats[row.Stage][row.Route]
	switch row.Kind {
	case model.Forward:
		return d.forward(ctx, op, at.stage, m)
	case model.BackwardInput:
		return d.backwardInput(ctx, op, at.stage, m)
	case model.BackwardWeight:
		return at.stage.backwardWeight(ctx, m)
	case model.BackwardFull:
		if err := d.backwardInput(ctx, op, at.stage, m); err != nil {
			return err
		}
		return at.stage.backwardWeight(ctx, m)
	}
	return fmt.Errorf("%s: the cpu backend knows no operation of kind %s", p.Name(op), p.Kinds[row.Kind].Name)
}

func (d *device) forward(ctx context.Context, op model.OpID, s *stage, m int) error {
	at := &d.layout.stages[s.number]
	d.in = d.in[:0]
	for _, q := range at.before {
		t := d.board.outputs[q][m]
		if t == nil {
			return fmt.Errorf("%s: the output of stage %d has not come", d.program.Problem.Name(op), q)
		}
		d.in = append(d.in, t.data)
	}
	var out *tensor
	var data []float32
	if at.next >= 0 {
		out = d.pool.take(s.between)
		data = out.data
	}
	if err := s.forward(ctx, m, d.in, data); err != nil {
		return err
	}
	for _, q := range at.before {
		d.release(d.board.outputs, q, m)
	}
	if out == nil {
		return d.checkLoss(op, s, m)
	}
	d.put(d.board.outputs, d.board.sentOutputs, s.number, m, at.next, out)
	return d.check(op, s, m, "the output", data)
}

func (d *device) backwardInput(ctx context.Context, op model.OpID, s *stage, m int) error {
	at := &d.layout.stages[s.number]
	var dout []float32
	if at.next >= 0 {
		t := d.board.gradients[s.number][m]
		if t == nil {
			return fmt.Errorf("%s: the gradient of the output of stage %d has not come", d.program.Problem.Name(op), s.number)
		}
		dout = t.data
	}
	d.grads, d.taken = d.grads[:0], d.taken[:0]
	for _, q := range at.before {
		t := d.pool.take(d.layout.between(q))
		d.taken, d.grads = append(d.taken, t), append(d.grads, t.data)
	}
	if err := s.backwardInput(ctx, m, dout, d.grads); err != nil {
		return err
	}
	if at.next >= 0 {
		d.release(d.board.gradients, s.number, m)
	}
	for i, q := range at.before {
		d.put(d.board.gradients, d.board.sentGradients, q, m, q, d.taken[i])
		if err := d.check(op, s, m, "the gradient of the input", d.grads[i]); err != nil {
			return err
		}
	}
	return nil
}

// put leaves a tensor for the stage that reads it: in here if that is on this device, else in
// sent, where Send finds it.
func (d *device) put(here, sent [][]*tensor, row, m, reader int, t *tensor) {
	if d.deviceOf(reader, m) != d.number {
		here = sent
	}
	here[row][m] = t
}

// deviceOf returns the device on which a stage runs a micro-batch.
func (b *Backend) deviceOf(s, m int) int {
	route := 0
	if routes := b.program.Problem.Pipeline.Routes; routes != nil {
		route = routes[m]
	}
	return b.seats[s][route].device
}

// release gives back a tensor that has been read.
func (d *device) release(grid [][]*tensor, s, m int) {
	d.pool.give(grid[s][m])
	grid[s][m] = nil
}

func (d *device) check(op model.OpID, s *stage, m int, tensor string, data []float32) error {
	if finite(data) {
		return nil
	}
	return &NonFiniteError{d.program.Problem.Name(op), s.number, m, tensor}
}

func (d *device) checkLoss(op model.OpID, s *stage, m int) error {
	if loss := d.loss(m); loss-loss != 0 {
		return &NonFiniteError{d.program.Problem.Name(op), s.number, m, "the loss"}
	}
	return nil
}

// Send returns the tensor that a message carries, which is of no use here any more.
func (d *device) Send(message int) (any, error) {
	grid, s, m := d.cargo(message, d.board.sentOutputs, d.board.sentGradients)
	if grid == nil {
		return nil, nil
	}
	t := grid[s][m]
	if t == nil {
		return nil, fmt.Errorf("message %d: there is nothing of stage %d to send for micro-batch %d", message, s, m)
	}
	grid[s][m] = nil
	return t, nil
}

// Receive puts the tensor of a message where the operation that reads it looks.
func (d *device) Receive(message int, payload any) error {
	grid, s, m := d.cargo(message, d.board.outputs, d.board.gradients)
	if grid == nil {
		return nil
	}
	t, ok := payload.(*tensor)
	if !ok || t == nil {
		return fmt.Errorf("message %d carries %T, not a tensor", message, payload)
	}
	grid[s][m] = t
	return nil
}

// cargo returns where the cargo of a message has its place: one of the two grids, nil for
// none, the stage whose output it is or whose output's gradient, and the micro-batch.
func (d *device) cargo(message int, outputs, gradients [][]*tensor) (grid [][]*tensor, s, m int) {
	msg, p := &d.program.Messages[message], d.program.Problem
	switch msg.Carries {
	case lower.Output:
		return outputs, p.Row(msg.Producer).Stage, p.MicroBatch(msg.Producer)
	case lower.Gradient:
		row := p.Row(msg.Consumer)
		s := row.Stage
		if row.Kind.IsTransfer() {
			s = row.To
		}
		return gradients, s, p.MicroBatch(msg.Consumer)
	}
	return nil, 0, 0
}
