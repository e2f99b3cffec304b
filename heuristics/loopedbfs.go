package heuristics

// loopedBreadthFirst runs all micro-batches through a chunk before the next chunk,
// and takes chunks and micro-batches back in reverse (Lamy-Poirier 2023; PyTorch's
// ScheduleLoopedBFS has the same orders). So each stage's gradients are complete,
// and can be reduced, as early as possible.
func loopedBreadthFirst(c *chain, rank int, o *deviceOrder) {
	for chunk := range c.chunks {
		for m := range c.micro {
			o.forward(c.stage(rank, chunk), m)
		}
	}
	for chunk := c.chunks - 1; chunk >= 0; chunk-- {
		for m := c.micro - 1; m >= 0; m-- {
			o.backward(c.stage(rank, chunk), m)
		}
	}
}
