package cssr

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// Point is a schedule of the space in the terms of its designer: what an actor
// prefers among the operations that are ready, and how much it may have in
// flight. The Decoder turns it into a plan by way of Rule.
type Point struct {
	// Types ranks the computation types, the most urgent first. Types that are
	// not listed follow in the order of the kind table.
	Types []model.Kind

	// Traversal ranks the stages of an actor among operations of one type.
	Traversal Traversal

	// Group is the number of micro-batches that an actor takes through all its
	// stages, type by type, before the next ones; 0 puts all in one group.
	Group int

	// InFlight bounds, for each actor, the forwards that have started and whose
	// gradient has not left their stage, over all its stages; nil or 0: no bound.
	// The oldest micro-batch is exempt, so that a bound delays but never blocks.
	InFlight []int

	// Patience lets an actor wait for a more urgent operation that is known to
	// become ready within Patience/8 of the duration of what it would start; 0: an
	// actor never waits.
	Patience int

	// Memory lowers the memory limit of each actor; nil: as the problem.
	Memory []model.Bytes

	// Fuse chooses the fused backward by stage where the problem leaves the choice.
	Fuse []bool
}

// Traversal is the order in which an actor visits its stages.
type Traversal uint8

const (
	// InOrder follows the data: forwards from early stages to late ones, gradients
	// from late stages to early ones.
	InOrder Traversal = iota
	// DepthFirst prefers what is furthest along: late stages first in forwards,
	// early stages first in gradients.
	DepthFirst
	// Oldest ignores the stage and prefers the micro-batch with the lowest index.
	Oldest
)

// Rule translates the point for a problem.
func (pt *Point) Rule(p *model.Problem) *Rule {
	rule := NewRule(p)
	micro, stages := int64(p.MicroBatches()), int64(len(p.Pipeline.Stages))
	group := int64(pt.Group)
	if group <= 0 || group > micro {
		group = micro
	}
	// Weights of a mixed-radix number: type, group, stage, micro-batch; with
	// Oldest: type, micro-batch, stage.
	perStage := group
	perGroup := perStage * stages
	perType := perGroup * (micro/group + 2)
	for r := range p.Rows {
		row := &p.Rows[r]
		place := pt.place(row, stages)
		rule.Patience[r] = uint8(min(max(0, pt.Patience), maxPatience))
		switch pt.Traversal {
		case Oldest:
			rule.Offset[r] = pt.rank(p, row.Kind)*micro*stages + place
			rule.Slope[r] = stages
		default:
			rule.Offset[r] = pt.rank(p, row.Kind)*perType + place*perStage
			rule.Slope[r] = 1
		}
	}
	if pt.Traversal != Oldest && group < micro {
		// Each group starts over with its first micro-batch.
		rule.Group, rule.GroupStep = int(group), perGroup-group
	}
	rule.Actor, rule.Memory, rule.Fuse = actorCaps(pt.InFlight), pt.Memory, pt.Fuse
	return rule
}

// rank returns the place of a kind in the computation-type priority.
func (pt *Point) rank(p *model.Problem, k model.Kind) int64 {
	if i := slices.Index(pt.Types, k); i >= 0 {
		return int64(i)
	}
	rank := len(pt.Types)
	for other := range p.Kinds {
		if other := model.Kind(other); other < k && !slices.Contains(pt.Types, other) {
			rank++
		}
	}
	return int64(rank)
}

// place returns the place of a row's stage in the stage-traversal priority.
func (pt *Point) place(row *model.Row, stages int64) int64 {
	place := int64(max(row.Stage, 0))
	gradient := row.Kind.CarriesGradient() || row.Kind == model.BackwardWeight
	if gradient != (pt.Traversal == DepthFirst) {
		return stages - 1 - place
	}
	return place
}

func actorCaps(limits []int) []int32 {
	if limits == nil {
		return nil
	}
	caps := make([]int32, len(limits))
	for d, n := range limits {
		caps[d] = int32(min(max(0, n), 1<<30))
	}
	return caps
}
