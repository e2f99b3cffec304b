package heuristics

import (
	"cmp"
	"slices"
)

// slotPass is a pass of a micro-batch over a stage in the slot in which it is
// thought to run.
type slotPass struct {
	slot, stage, m int
	backward       bool
}

// slotted lists the operations of a rank by slots, all of one length. The passes
// of a micro-batch, forward over all stages and backward again, take one slot
// after the other. On each route a micro-batch begins two slots after the one
// before it, and a round of that many micro-batches as many slots after the round
// before it as a micro-batch has passes.
//
// Slots grow along all that an operation waits for, so that such orders cannot
// contradict each other, whatever the costs. Cost O(n log n) for n operations.
func slotted(c *chain, rank int, o *deviceOrder, round int) {
	length := 2 * len(c.p.Pipeline.Stages)
	passes := make([]slotPass, 0, 2*c.chunks*c.micro)
	seen := make([]int, len(c.rows)) // by route: its micro-batches so far
	for m := range c.micro {
		route := c.route(m)
		start := seen[route]/round*length + 2*(seen[route]%round)
		seen[route]++
		for chunk := range c.chunks {
			stage := c.stage(c.along(route, rank), chunk)
			passes = append(passes,
				slotPass{start + stage, stage, m, false},
				slotPass{start + length - 1 - stage, stage, m, true})
		}
	}
	slices.SortFunc(passes, func(a, b slotPass) int { return cmp.Compare(a.slot, b.slot) })
	for _, pass := range passes {
		if pass.backward {
			o.backward(pass.stage, pass.m)
		} else {
			o.forward(pass.stage, pass.m)
		}
	}
}
