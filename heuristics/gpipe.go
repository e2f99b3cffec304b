package heuristics

// gpipe runs all forward passes, then all backward passes, both in the order of
// the micro-batches (Huang et al. 2019, section 2.2).
func gpipe(c *chain, rank int, o *deviceOrder) {
	for m := range c.micro {
		o.forward(rank, m)
	}
	for m := range c.micro {
		o.backward(rank, m)
	}
}
