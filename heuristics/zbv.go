package heuristics

import "github.com/flexpipe/flexpipe/model"

// zeroBubbleV is ZB-V: the hand-made order of forward and backward input passes,
// for which there is no bubble if F = I = W, and the weight gradients where the
// costs want them (Qi et al. 2024, section 6). A device holds at most 2P live
// stage activations.
func zeroBubbleV(c *chain) (*model.Plan, error) {
	return placeWeights(c, c.plan(func(rank int, o *deviceOrder) { zeroBubbleVRank(c, rank, o) }), 2*c.ranks())
}

// vCursor lists passes of one rank, each in the order of the micro-batches.
type vCursor struct {
	o    *deviceOrder
	rank int
	next [numVPasses]int
}

// run lists the next micro-batch of each pass, if there is one.
func (v *vCursor) run(passes ...vPass) {
	for _, pass := range passes {
		if m := v.next[pass]; m < v.o.c.micro {
			v.o.pass(v.rank, pass, m)
		}
		v.next[pass]++
	}
}

// zeroBubbleVRank lists the hand-made order of a rank. It is made for at least
// 2P-1 micro-batches; with fewer, those that do not exist are passed over.
func zeroBubbleVRank(c *chain, rank int, o *deviceOrder) {
	v, ranks := vCursor{o: o, rank: rank}, c.ranks()
	for range 2*(ranks-rank) - 1 {
		v.run(firstForward)
	}
	for range rank {
		v.run(secondForward, firstForward)
	}
	for range ranks - rank {
		v.run(secondForward, secondInput, secondWeight)
	}
	for total := max(c.micro, 2*ranks-1); v.next[secondForward] < total; {
		if v.next[firstForward] < total {
			v.run(firstForward)
		}
		v.run(firstInput, firstWeight, secondForward, secondInput, secondWeight)
	}
	for range rank {
		v.run(firstInput, secondInput)
	}
	for range ranks - rank {
		v.run(firstInput, firstWeight)
	}
	for range rank {
		v.run(secondWeight)
	}
	for range rank {
		v.run(firstWeight)
	}
}
