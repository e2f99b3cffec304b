package cssr

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// Rule ranks operations for the Decoder: an actor prefers the smallest
//
//	Offset[row] + Slope[row] × index + GroupStep × (index / Group)
//
// where index is the place of the micro-batch in its row; ties go to the lower
// row. An operation with offset o and slope s behaves as if it were due at time
// o + s × index, so a rule can express a fixed precedence of kinds as well as a
// periodic pattern.
//
// Offset, Slope, Cap, Patience and each of Phased have an entry for each row,
// Actor, Backlog and Memory for each device, Fuse for each stage, Order for each
// micro-batch; a nil slice is all zero, but for Phased and Backlog. Neither a rank
// nor a GroupStep may leave ±2^61 / operations, or ranks may wrap.
type Rule struct {
	Offset []int64
	Slope  []int64

	Group     int // micro-batches of a group; 0 or 1: no groups
	GroupStep int64

	// Cap bounds, for a forward row, the micro-batches whose forward has started
	// and whose gradient has not left the stage; 0: no bound.
	Cap []int32

	// Actor bounds, by device, the forwards that have started and whose gradient
	// has not left their stage, over all stages of the device; 0: no bound. The
	// oldest micro-batch on the device is exempt.
	Actor []int32

	// Phased replaces Offset in a phase of the row's first device; nil: Offset holds.
	// The entry of AnyPhase is not used.
	Phased [numPhases][]int64

	// Backlog bounds, by device, the outstanding gradients of weights: those whose
	// stage has started the gradient of its input. While there are more, gradients of
	// weights rank before all else. nil: no bound.
	Backlog []int32

	// Patience lets an actor wait: it does not start an operation if a better
	// ranked one becomes ready within Patience/8 of that operation's duration. 0
	// never waits, 8 never lets a worse operation delay a better one that is known
	// to come.
	Patience []uint8

	// Frugal lets an actor wait only while its idle time since its first operation
	// stays within the larger of Allowance (ticks) and that of the idlest actor so
	// far. The second part follows Qi et al., Zero Bubble Pipeline Parallelism,
	// 2024, section 3.1.
	Frugal    bool
	Allowance model.Time

	// Fuse chooses the fused backward by stage where the problem leaves the
	// choice; nil: separated everywhere.
	Fuse []bool

	// Order is the order of micro-batches, a permutation, where they differ; nil:
	// by index. Only a problem with a single route may have one.
	Order []int32

	// Memory lowers the memory limit of actors, by device; nil: as the problem.
	Memory []model.Bytes
}

// NewRule returns a rule for p with all ranks 0.
func NewRule(p *model.Problem) *Rule {
	n := len(p.Rows)
	return &Rule{Offset: make([]int64, n), Slope: make([]int64, n), Cap: make([]int32, n), Patience: make([]uint8, n)}
}

// RuleError reports a rule that does not fit its problem.
type RuleError struct{ Field, Problem string }

func (e *RuleError) Error() string { return fmt.Sprintf("rule: %s %s", e.Field, e.Problem) }

// check tests that the rule fits a problem. Cost O(micro-batches of Order).
func (r *Rule) check(p *model.Problem) error {
	for _, list := range []struct {
		field     string
		have, all int
	}{
		{"Offset", len(r.Offset), len(p.Rows)},
		{"Slope", len(r.Slope), len(p.Rows)},
		{"Cap", len(r.Cap), len(p.Rows)},
		{"Patience", len(r.Patience), len(p.Rows)},
		{"Actor", len(r.Actor), p.NumDevices()},
		{"Backlog", len(r.Backlog), p.NumDevices()},
		{"Phased", len(r.Phased[WarmUp]), len(p.Rows)},
		{"Phased", len(r.Phased[Steady]), len(p.Rows)},
		{"Phased", len(r.Phased[CoolDown]), len(p.Rows)},
		{"Memory", len(r.Memory), p.NumDevices()},
		{"Fuse", len(r.Fuse), len(p.Pipeline.Stages)},
		{"Order", len(r.Order), p.MicroBatches()},
	} {
		if list.have != 0 && list.have != list.all {
			return &RuleError{list.field, fmt.Sprintf("has %d entries, %d are needed", list.have, list.all)}
		}
	}
	for row := range p.Rows {
		if at(r.Patience, row) > maxPatience {
			return &RuleError{"Patience", fmt.Sprintf("of row %d is %d, at most %d is sensible", row, r.Patience[row], maxPatience)}
		}
	}
	return r.checkOrder(p)
}

// maxPatience is eight times the duration of an operation.
const maxPatience = 64

func (r *Rule) checkOrder(p *model.Problem) error {
	if len(r.Order) > 0 && p.Pipeline.NumRoutes() > 1 {
		return &RuleError{"Order", "is for problems with a single route"}
	}
	seen := make([]bool, len(r.Order))
	for _, m := range r.Order {
		if m < 0 || int(m) >= len(seen) || seen[m] {
			return &RuleError{"Order", fmt.Sprintf("is no permutation: micro-batch %d is out of range or stands twice", m)}
		}
		seen[m] = true
	}
	return nil
}

// chosen reports whether the plan of the rule holds the operations of a row.
func (r *Rule) chosen(row *model.Row) bool {
	if row.Choice == model.Always {
		return true
	}
	fused := len(r.Fuse) > 0 && r.Fuse[row.Stage]
	return fused == (row.Choice == model.WhenFused)
}

// phased reports whether ranks differ by phase.
func (r *Rule) phased() bool {
	return r.Phased[WarmUp] != nil || r.Phased[Steady] != nil || r.Phased[CoolDown] != nil
}

func at[T any](list []T, i int) T {
	if len(list) == 0 {
		var zero T
		return zero
	}
	return list[i]
}
