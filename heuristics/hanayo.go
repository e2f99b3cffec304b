package heuristics

// hanayo sends every micro-batch in waves over the ranks: down and up once for
// each wave, then back the same way (Liu et al. 2023, section 3). A wave is a V
// with two stages on each rank.
//
// The order is our reading of the paper, of which there is no public generator:
// forward and backward passes are drawn with the same length, micro-batches
// enter every second slot, and a round of P micro-batches follows the one before
// without a flush, as in Chimera, from which the paper derives its waves. The slots
// of the stages of a rank are even on the way down where they are odd on the way
// up, and the micro-batches of a round leave room for the next wave, so that no
// two passes share a slot, and no rank has an empty one between rounds. A rank
// holds no more activations than P micro-batches leave on it, like the first one
// of 1F1B.
func hanayo(c *chain, rank int, o *deviceOrder) {
	slotted(c, rank, o, c.ranks())
}
