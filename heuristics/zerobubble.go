package heuristics

// zeroBubbleH1 keeps the warm-up of 1F1B, hence its memory, and lets later ranks
// put off their weight gradients (Qi et al. 2024, section 2.1).
func zeroBubbleH1(c *chain, rank int, o *deviceOrder) { zeroBubbleHand(c, rank, o, 1) }

// zeroBubbleH2 fills the first bubble with twice the warm-up of ZB-H1 (Qi et al.
// 2024, section 2.2).
func zeroBubbleH2(c *chain, rank int, o *deviceOrder) { zeroBubbleHand(c, rank, o, 2) }

// zeroBubbleHand warms up with depth forwards for each later rank. Then each
// turn has a forward, a backward input and a weight gradient; the weight
// gradients start once the rank has run as many forwards as the first rank has
// in its warm-up, and those put off come last.
func zeroBubbleHand(c *chain, rank int, o *deviceOrder, depth int) {
	warm := depth * (c.ranks() - 1 - rank)
	for m := range min(warm, c.micro) {
		o.forward(rank, m)
	}
	weights := 0
	for m := range c.micro {
		if next := warm + m; next < c.micro {
			o.forward(rank, next)
		}
		o.input(rank, m)
		if m >= depth*rank {
			o.weight(rank, weights)
			weights++
		}
	}
	for ; weights < c.micro; weights++ {
		o.weight(rank, weights)
	}
}
