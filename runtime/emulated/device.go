package emulated

import (
	"context"

	"github.com/flexpipe/flexpipe/model"
)

// device waits.
type device struct {
	backend *Backend
	delays  [][]model.Pred // by row; nil if there are none
	ended   []int64        // by operation of this device: when it ended; nil if nobody asks
	_       [64]byte       // each on a cache line of its own
}

// Compute waits for as long as the operation lasts, or until the run ends. It adds, before
// that, what the operation must wait after one on the same device.
func (d *device) Compute(ctx context.Context, op model.OpID) error {
	b := d.backend
	start := b.clock.now()
	if d.delays != nil {
		start = max(start, d.earliest(op))
	}
	end := start + b.ticks(b.program.Problem.Duration(op))
	if b.timeline != nil {
		end = b.predicted(op)
	}
	err := b.clock.waitUntil(ctx, end)
	if d.ended != nil {
		d.ended[op] = b.clock.now()
	}
	return err
}

// earliest is when the delays after operations of this device let one start.
func (d *device) earliest(op model.OpID) int64 {
	p := d.backend.program.Problem
	row, at := p.RowOf(op), int64(0)
	for _, pred := range d.delays[row] {
		first, end := p.PredOps(row, p.Index(op), pred)
		for before := first; before < end; before++ {
			if ended := d.ended[before]; ended > 0 {
				at = max(at, ended+d.backend.ticks(pred.Lag))
			}
		}
	}
	return at
}

// Send says when the message will be there.
func (d *device) Send(message int) (any, error) {
	b := d.backend
	at := b.clock.now() + b.latency[message]
	for _, e := range b.earlier[int32(message)] {
		if ended := d.ended[e.op]; ended > 0 {
			at = max(at, ended+e.lag)
		}
	}
	b.arrives[message] = at
	return &b.arrives[message], nil
}

// Receive waits for what is left of the way of the message. As it has no context it does so
// to the end, which is at most the latency of the link.
func (d *device) Receive(_ int, payload any) error {
	b := d.backend
	at := *payload.(*int64)
	if b.timeline != nil || at <= b.clock.now() {
		return nil
	}
	return b.clock.waitUntil(context.Background(), at)
}

// predicted is when an operation ends on the clock if the iteration runs as predicted. The
// first operation that asks sets the start.
func (b *Backend) predicted(op model.OpID) int64 {
	p := b.program.Problem
	begin := b.clock.now() - b.ticks(b.timeline.Start[op])
	if !b.anchor.CompareAndSwap(0, begin) {
		begin = b.anchor.Load()
	}
	return begin + b.ticks(b.timeline.End(p, op))
}
