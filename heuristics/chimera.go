package heuristics

// chimera sends half of the micro-batches down the ranks and half up, through a
// second copy of each stage, so that one direction fills the bubbles of the other
// (Li and Hoefler 2021, section 3.1). A rank holds one stage of each direction; as
// the ranks are even in number, the slots of the one are odd where those of the
// other are even. Rounds of P micro-batches follow each other without a flush
// ("direct concatenation", section 3.5). Microsoft's nnScaler has the same orders.
func chimera(c *chain, rank int, o *deviceOrder) {
	slotted(c, rank, o, c.ranks()/2)
}
