package cpu

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// A device runs the stages of one device of the program.
type device struct {
	backend *Backend
	number  int
	home    home
	static  int64       // bytes
	in      [][]float32 // what an operation reads
	din     [][]float32 // the gradients of that
	made    []*tensor   // behind din
}

func newDevice(b *Backend, number int) *device {
	return &device{backend: b, number: number, home: home{memory: newAllocator()}}
}

// measure adds up the training state of the copies on the device.
func (d *device) measure() {
	d.static = 0
	for s := range d.backend.copies {
		for _, c := range d.backend.copies[s] {
			if c.home == &d.home {
				d.static += c.bytes().Static
			}
		}
	}
}

// Compute runs an operation. What it reads has been received, or was left by the device
// itself. A transfer computes nothing: a message carries the tensor past it.
func (d *device) Compute(ctx context.Context, op model.OpID) error {
	p := d.backend.program.Problem
	row, m := p.Row(op), p.MicroBatch(op)
	if row.Kind.IsTransfer() {
		return nil
	}
	s := d.backend.seats[row.Stage][row.Route].stage
	switch row.Kind {
	case model.Forward:
		return d.forward(ctx, op, s, m)
	case model.BackwardInput:
		return d.backwardInput(ctx, op, s, m)
	case model.BackwardWeight:
		return s.backwardWeight(ctx, m)
	case model.BackwardFull:
		if err := d.backwardInput(ctx, op, s, m); err != nil {
			return err
		}
		return s.backwardWeight(ctx, m)
	}
	return fmt.Errorf("%s: the cpu backend knows no operation of kind %s", p.Name(op), p.Kinds[row.Kind].Name)
}

func (d *device) forward(ctx context.Context, op model.OpID, s *stage, m int) error {
	b, place := d.backend, &d.backend.layout.stages[s.number]
	d.in = d.in[:0]
	for _, q := range place.before {
		t, err := d.look(op, &b.outputs, q, m)
		if err != nil {
			return err
		}
		d.in = append(d.in, t.data)
	}
	if place.next < 0 {
		if err := s.forward(ctx, m, d.in, nil); err != nil {
			return err
		}
		d.releaseInputs(place, m)
		return d.checkLoss(op, s, m)
	}
	out := b.pool.take(b.layout.outputOf(s.number))
	if err := s.forward(ctx, m, d.in, out.data); err != nil {
		return err
	}
	d.releaseInputs(place, m)
	d.leave(&b.outputs, s.number, m, place.next, out)
	return d.check(op, s, m, "the output", out.data)
}

func (d *device) backwardInput(ctx context.Context, op model.OpID, s *stage, m int) error {
	b, place := d.backend, &d.backend.layout.stages[s.number]
	d.din, d.made = d.din[:0], d.made[:0]
	for _, q := range place.before {
		t := b.pool.take(b.layout.outputOf(q))
		d.made, d.din = append(d.made, t), append(d.din, t.data)
	}
	var dout []float32
	if place.next >= 0 {
		t, err := d.look(op, &b.gradients, s.number, m)
		if err != nil {
			return err
		}
		dout = t.data
	}
	if err := s.backwardInput(ctx, m, dout, d.din); err != nil {
		return err
	}
	if place.next >= 0 {
		b.pool.give(b.gradients.take(b.gradients.here, s.number, m))
	}
	for i, q := range place.before {
		d.leave(&b.gradients, q, m, q, d.made[i])
		if err := d.check(op, s, m, "the gradient of the input", d.din[i]); err != nil {
			return err
		}
	}
	return nil
}

// look returns a tensor that an operation reads.
func (d *device) look(op model.OpID, l *lane, s, m int) (*tensor, error) {
	if t := l.here[s][m]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: the %s of stage %d has not come", d.backend.program.Problem.Name(op), l.what, s)
}

// releaseInputs gives back the outputs that a stage has read.
func (d *device) releaseInputs(p *place, m int) {
	b := d.backend
	for _, q := range p.before {
		b.pool.give(b.outputs.take(b.outputs.here, q, m))
	}
}

// leave puts a tensor where the stage that reads it looks if that is on this device, else
// where Send does.
func (d *device) leave(l *lane, s, m, reader int, t *tensor) {
	if d.backend.deviceOf(reader, m) == d.number {
		l.here[s][m] = t
	} else {
		l.sent[s][m] = t
	}
}

func (d *device) check(op model.OpID, s *stage, m int, tensor string, data []float32) error {
	if finite(data) {
		return nil
	}
	return &NonFiniteError{d.backend.program.Problem.Name(op), s.number, m, tensor}
}

func (d *device) checkLoss(op model.OpID, s *stage, m int) error {
	if loss := d.backend.loss(m); loss-loss != 0 {
		return &NonFiniteError{d.backend.program.Problem.Name(op), s.number, m, "the loss"}
	}
	return nil
}
