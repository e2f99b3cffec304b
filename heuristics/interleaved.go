package heuristics

import "github.com/flexpipe/flexpipe/cssr"

// interleaved is 1F1B over the chunks of a device: micro-batches pass in rounds,
// each round through all chunks of the device in turn, and the warm-up lasts
// until the last chunk's first gradient can come back (Narayanan et al. 2021,
// Megatron-LM, section 2.2).
func interleaved(c *chain, rank int, o *deviceOrder) {
	interleavedRounds(c, rank, o, cssr.InterleavedRound(c.ranks(), c.micro))
}

// interleavedRounds is interleaved with rounds of the given size.
func interleavedRounds(c *chain, rank int, o *deviceOrder, size int) {
	total := c.micro * c.chunks
	warm := min(2*(c.ranks()-1-rank)+(c.chunks-1)*size, total)
	forward := func(k int) {
		chunk, m := c.turn(k, size)
		o.forward(c.stage(rank, chunk), m)
	}
	for k := range warm {
		forward(k)
	}
	for k := range total {
		if next := warm + k; next < total {
			forward(next)
		}
		chunk, m := c.turn(k, size)
		o.backward(c.stage(rank, c.chunks-1-chunk), m)
	}
}

// turn returns the chunk and the micro-batch of a device's k-th pass in one
// direction, with rounds of the given size, of which the last may be shorter.
func (c *chain) turn(k, size int) (chunk, m int) {
	first := k / (size * c.chunks) * size
	k -= first * c.chunks
	size = min(size, c.micro-first)
	return k / size, first + k%size
}
