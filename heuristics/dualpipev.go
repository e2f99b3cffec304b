package heuristics

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// dualPipeV is the lower half of DualPipe, cut off and folded into a V: forward
// passes of one chunk meet backward passes of the other, of another micro-batch,
// and backward passes are full where such a pair hides the transfers, and split
// where their halves fill bubbles (DeepSeek-AI 2024; DualPipe's dualpipev.py). A
// pair is listed as its forward and then its backward.
func dualPipeV(c *chain) (*model.Plan, error) {
	if least := 2 * c.ranks(); c.micro < least {
		return nil, &ShapeError{
			"dualpipev", fmt.Sprintf("micro_batches: %d at least on %s", least, model.Plural(c.ranks(), "device")),
			fmt.Sprintf("micro_batches: %d", c.micro), fmt.Sprintf("set micro_batches: %d or more", least),
		}
	}
	return c.plan(func(rank int, o *deviceOrder) { dualPipeVRank(c, rank, o) }), nil
}

// down and up are the chunks of a rank of a V.
const (
	down = 0
	up   = 1
)

// dualPipeVRank lists the operations of a rank in the eight steps of the original.
func dualPipeVRank(c *chain, rank int, o *deviceOrder) {
	u, later := newDualCursor(c, rank, o), c.ranks()-1-rank
	for range 2 * later {
		u.forward(down)
	}
	for range rank + 1 {
		u.forward(down)
		u.forward(up)
	}
	for range later {
		u.input(up)
		u.weight()
		u.forward(up)
	}
	for range c.micro - 2*c.ranks() + rank + 1 {
		u.pair(down, up)
		u.pair(up, down)
	}
	for range later {
		u.backward(up)
		u.pair(up, down)
	}
	u.halve(rank)
	for range later {
		u.weight()
		u.input(down)
	}
	for range rank + 1 {
		u.weight()
	}
}

// dualCursor lists passes of one rank. Those of a chunk go in the order of the
// micro-batches, weight gradients that were put off in the order of their inputs.
type dualCursor struct {
	o         *deviceOrder
	stages    [2]int // by chunk
	forwards  [2]int // by chunk: the next micro-batch
	backwards [2]int
	putOff    []struct{ stage, m int }
}

func newDualCursor(c *chain, rank int, o *deviceOrder) *dualCursor {
	return &dualCursor{o: o, stages: [2]int{c.stage(rank, down), c.stage(rank, up)}}
}

func (u *dualCursor) forward(chunk int) {
	u.o.forward(u.stages[chunk], u.forwards[chunk])
	u.forwards[chunk]++
}

// backward lists a full backward.
func (u *dualCursor) backward(chunk int) {
	u.o.backward(u.stages[chunk], u.backwards[chunk])
	u.backwards[chunk]++
}

// pair lists a forward of one chunk and a full backward of the other, which the
// original runs at the same time.
func (u *dualCursor) pair(forward, backward int) {
	u.forward(forward)
	u.backward(backward)
}

// input lists the first half of a backward and puts off the second.
func (u *dualCursor) input(chunk int) {
	u.o.input(u.stages[chunk], u.backwards[chunk])
	u.putOff = append(u.putOff, struct{ stage, m int }{u.stages[chunk], u.backwards[chunk]})
	u.backwards[chunk]++
}

// weight lists the second half of the backward whose first half is the oldest.
func (u *dualCursor) weight() {
	u.o.weight(u.putOff[0].stage, u.putOff[0].m)
	u.putOff = u.putOff[1:]
}

// halve lists the backward passes at the end of the steady state, up and down in
// turn, and begins to split them halfway: on odd ranks with an up, on even ranks
// with a down.
func (u *dualCursor) halve(rank int) {
	half := (rank+1)/2*2 + 1 - rank%2
	for i := range 2 * (rank + 1) {
		if i < half {
			u.backward(up - i%2)
		} else {
			u.input(up - i%2)
		}
	}
}
