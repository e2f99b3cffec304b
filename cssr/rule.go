package cssr

import "github.com/flexpipe/flexpipe/model"

// Rule ranks operations for the Decoder: an actor prefers the smallest
//
//	Offset[row] + Slope[row] × index + GroupStep × (index / Group)
//
// where index is the place of the micro-batch in its row; ties go to the lower
// row. An operation with offset o and slope s behaves as if it were due at time
// o + s × index, so a rule can express a fixed precedence of kinds as well as a
// periodic pattern. Slices have one entry for each row unless said otherwise; a
// nil slice is all zero.
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

	// Order is the order of micro-batches, where they differ; nil: by index. It
	// is read only in problems with a single route.
	Order []int32

	// Memory lowers the memory limit of actors, by device; nil: as the problem.
	Memory []model.Bytes
}

// NewRule returns a rule for p with all ranks 0.
func NewRule(p *model.Problem) *Rule {
	n := len(p.Rows)
	return &Rule{Offset: make([]int64, n), Slope: make([]int64, n), Cap: make([]int32, n), Patience: make([]uint8, n)}
}

// chosen reports whether the plan of the rule holds the operations of a row.
func (r *Rule) chosen(row *model.Row) bool {
	if row.Choice == model.Always {
		return true
	}
	fused := r.Fuse != nil && r.Fuse[row.Stage]
	return fused == (row.Choice == model.WhenFused)
}

func at[T any](list []T, i int) T {
	if list == nil {
		var zero T
		return zero
	}
	return list[i]
}
