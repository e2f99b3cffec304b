package heuristics

import "github.com/flexpipe/flexpipe/model"

// vBlock is the building block of a rank: when the first micro-batch starts its
// firstForward, secondForward, secondInput and firstInput, in slots of one pass.
// The next micro-batch follows a period later. The slots of a block differ modulo
// the period, so that blocks do not collide, and leave two slots of a period to
// weight gradients (Qi et al.: Pipeline Parallelism with Controllable Memory).
type vBlock [4]int

// vPeriod is the number of slots from one micro-batch to the next: as many as a
// micro-batch has passes on a device.
const vPeriod = int(numVPasses)

// vHalf is V-Half: at most ⌊(P+2)/2⌋ micro-batches' activations on a device.
func vHalf(c *chain) (*model.Plan, error) {
	return controllable(c, halfBlock, 2*((c.ranks()+2)/2))
}

// vMin is V-Min: at most ⌊(P+4)/3⌋ micro-batches' activations on a device.
func vMin(c *chain) (*model.Plan, error) {
	return controllable(c, minBlock, 2*((c.ranks()+4)/3))
}

// halfBlock goes down at half speed and up at full speed in both directions.
func halfBlock(ranks, rank int) vBlock {
	pause := 0
	if ranks%2 == 0 {
		pause = 3
	}
	return vBlock{2 * rank, 3*ranks - 2 - rank, 3*ranks - 1 + pause + 2*rank, 6*ranks - 2 + pause - rank}
}

// minBlock goes down and up at full speed, so that activations live as short as
// they can.
func minBlock(ranks, rank int) vBlock {
	pause := 0
	if ranks%3 == 0 {
		pause = 2
	}
	return vBlock{rank, 2*ranks - 1 - rank, 2*ranks + pause + rank, 4*ranks - 1 + pause - rank}
}

// controllable repeats the building block for all micro-batches, squeezes the
// result, and then places the weight gradients by the costs.
func controllable(c *chain, blockOf func(ranks, rank int) vBlock, limit int) (*model.Plan, error) {
	s := newSqueezer(c.ranks(), c.micro)
	s.squeeze(s.repeat(blockOf))
	s.packCoolDown()
	hand := c.plan(func(rank int, o *deviceOrder) {
		for _, t := range s.table[rank] {
			if t != noTask {
				pass, m := s.split(t)
				o.pass(rank, pass, m)
			}
		}
	})
	return placeWeights(c, hand, limit)
}
