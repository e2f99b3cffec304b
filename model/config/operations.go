package config

import (
	"fmt"
	"slices"
)

// stageDurations are the durations of one stage's operations as written.
type stageDurations struct {
	stage                                    int
	mode                                     Backward
	forward, input, weight, full, overlapped cell[Decimal]
	leftOut                                  bool // backward_input or backward_weight is left out, rather than none
	defaultFull                              bool // a backward_full that is not written is the sum of the other two
	// These say that the stage has an entry of its own, so that one which it has no
	// use for is a mistake. One value for all stages means all that can use it.
	ownFull, ownOverlapped bool
}

// costs returns what the durations amount to. It fails where they contradict each
// other or the way of the stage's backward.
func (t stageDurations) costs() (costs StageCosts, ok bool) {
	if t.forward.value == nil {
		t.forward.failAbsent("every stage has a forward: write its duration, 0 if it takes no time")
		return StageCosts{}, false
	}
	costs.Forward = *t.forward.value
	switch {
	case t.leftOut:
		ok = t.fuseOnly(&costs)
	case t.input.value != nil && t.weight.value != nil:
		ok = t.splitOrFuse(&costs)
	default:
		costs.BackwardInput, costs.BackwardWeight = t.input.value, t.weight.value
		ok = t.refuseFull()
	}
	return costs, ok && t.overlap(&costs)
}

// fuseOnly settles a stage whose backward_input or backward_weight is left out.
func (t stageDurations) fuseOnly(costs *StageCosts) bool {
	left := t.input.at
	if !left.missing {
		left = t.weight.at
	}
	if t.mode != Fused || t.full.value == nil {
		left.failMissing("write its duration or none, or set backward: fused and give backward_full for every stage")
		return false
	}
	costs.BackwardFull = t.full.value
	return true
}

// splitOrFuse settles a stage that has both backward_input and backward_weight.
func (t stageDurations) splitOrFuse(costs *StageCosts) bool {
	costs.BackwardInput, costs.BackwardWeight, costs.BackwardFull = t.input.value, t.weight.value, t.full.value
	if t.defaultFull {
		sum := t.input.value.Add(*t.weight.value)
		costs.BackwardFull = &sum
	}
	if t.mode == Fused && costs.BackwardFull == nil {
		t.full.at.fail(fmt.Sprintf("stage %d is fused, but has no backward_full", t.stage), "write its duration, or set backward: split")
		return false
	}
	return true
}

// refuseFull fails when a stage that lacks backward_input or backward_weight has a
// backward_full of its own.
func (t stageDurations) refuseFull() bool {
	if t.full.value == nil || !t.ownFull {
		return true
	}
	t.full.at.fail(fmt.Sprintf("stage %d has a backward_full, but not both backward_input and backward_weight", t.stage), "write none")
	return false
}

// checkShared fails when a backward_full or an overlapped that holds for all stages is
// of use to none of them.
func checkShared(shared stageDurations, costs []StageCosts) bool {
	if slices.ContainsFunc(costs, func(c StageCosts) bool { return c.BackwardFull != nil }) {
		return true
	}
	switch {
	case shared.full.value != nil && !shared.ownFull:
		shared.full.at.fail("no stage has both backward_input and backward_weight, so none can use it",
			"give both, leave both out where backward is fused, or write none here")
	case shared.overlapped.value != nil && !shared.ownOverlapped:
		shared.overlapped.at.fail("no stage has a backward_full to overlap with", "write none")
	default:
		return true
	}
	return false
}

// overlap settles the pair of a forward and a full backward.
func (t stageDurations) overlap(costs *StageCosts) bool {
	if costs.BackwardFull != nil {
		costs.Overlapped = t.overlapped.value
		return true
	}
	if t.overlapped.value == nil || !t.ownOverlapped {
		return true
	}
	t.overlapped.at.fail(fmt.Sprintf("stage %d has no backward_full to overlap with", t.stage), "write none")
	return false
}
