package heuristics

// oneForwardOneBackward runs forward passes until the first gradient can come
// back, then one forward and one backward in turn, then the remaining backward
// passes (Narayanan et al. 2021, PipeDream-Flush; Fan et al.: DAPPLE, PPoPP 2021,
// arXiv:2007.01045).
func oneForwardOneBackward(c *chain, rank int, o *deviceOrder) {
	warm := min(c.ranks()-1-rank, c.micro)
	for m := range warm {
		o.forward(rank, m)
	}
	for m := range c.micro {
		if next := warm + m; next < c.micro {
			o.forward(rank, next)
		}
		o.backward(rank, m)
	}
}
