package heuristics

import "slices"

// slotPass is a pass of a micro-batch over a stage.
type slotPass struct {
	stage, m int // m is noTask in an empty slot
	backward bool
}

// slotted lists the operations of a rank by slots, all of one length. The passes
// of a micro-batch, forward over all stages and backward again, take one slot
// after the other. On each route a micro-batch begins two slots after the one
// before it, and a round of that many micro-batches as many slots after the round
// before it as a micro-batch has passes. No two passes of the rank may share a slot.
//
// Slots grow along all that an operation waits for, so that such orders cannot
// contradict each other, whatever the costs. Cost O(operations + stages) for each
// rank.
func slotted(c *chain, rank int, o *deviceOrder, round int) {
	length := 2 * len(c.p.Pipeline.Stages)
	slots := slices.Repeat([]slotPass{{m: noTask}}, (c.micro/round+2)*length)
	seen := make([]int, len(c.rows)) // by route: its micro-batches so far
	for m := range c.micro {
		route := c.route(m)
		start := seen[route]/round*length + 2*(seen[route]%round)
		seen[route]++
		for chunk := range c.chunks {
			stage := c.stage(c.along(route, rank), chunk)
			slots[start+stage] = slotPass{stage, m, false}
			slots[start+length-1-stage] = slotPass{stage, m, true}
		}
	}
	for _, pass := range slots {
		switch {
		case pass.m == noTask:
		case pass.backward:
			o.backward(pass.stage, pass.m)
		default:
			o.forward(pass.stage, pass.m)
		}
	}
}
