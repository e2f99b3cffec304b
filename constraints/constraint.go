package constraints

import (
	"iter"

	"github.com/flexpipe/flexpipe/model"
)

// Precedence is the constraint that an operation of row After starts no earlier
// than Lag ticks after the end of its predecessor in row Before.
//
// It stands for one pair for each index in the rows (rows that precede each
// other serve the same micro-batches), or, if All, for every pair.
type Precedence struct {
	Before, After int32
	Lag           model.Time
	All           bool

	// StandIn is the row that takes the place of Before where the plan holds
	// the other case of a choice, -1 if there is none.
	StandIn int32
}

// Precedences enumerates the precedences of a problem by row After, and within
// it in the order of its predecessors. Cost O(rows + precedences between rows).
func Precedences(p *model.Problem) iter.Seq[Precedence] {
	return func(yield func(Precedence) bool) {
		for after := range p.Rows {
			for _, pred := range p.Rows[after].Preds {
				before := &p.Rows[pred.Row]
				c := Precedence{
					Before: pred.Row, After: int32(after), Lag: pred.Lag,
					All:     before.Single || p.Rows[after].Single,
					StandIn: before.Twin,
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Resource is the constraint that no two operations of Rows overlap in time:
// all of them occupy Device. Rows is ascending and belongs to the problem.
type Resource struct {
	Device int
	Rows   []int32
}

// Resources enumerates the devices that run anything, in ascending order.
func Resources(p *model.Problem) iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for d, rows := range p.RowsOn {
			if len(rows) > 0 && !yield(Resource{d, rows}) {
				return
			}
		}
	}
}

// MemoryLimit is the constraint that Static and what the operations of Device
// hold at any point of its order stay within Limit.
type MemoryLimit struct {
	Device        int
	Limit, Static model.Bytes
	Deltas        []RowDelta // by ascending row; rows without any effect are left out
}

// RowDelta is what each operation of a row takes (positive) or gives back
// (negative) at its start and at its end.
type RowDelta struct {
	Row int32
	model.Delta
}

// MemoryLimits enumerates the devices that have a limit, in ascending order. The
// caller owns the slices. Cost O(rows on devices with limits).
func MemoryLimits(p *model.Problem) iter.Seq[MemoryLimit] {
	return func(yield func(MemoryLimit) bool) {
		for d, limit := range p.Limits {
			if limit >= model.Unlimited {
				continue
			}
			c := MemoryLimit{Device: d, Limit: limit, Static: p.Statics[d]}
			for _, r := range p.RowsOn[d] {
				if delta := p.Rows[r].MemoryOn(d); delta != (model.Delta{}) {
					c.Deltas = append(c.Deltas, RowDelta{r, delta})
				}
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Alternative is the constraint that a plan holds, for each index in the rows
// (all have the same micro-batches), either the operation of Fused or those of
// Split, and not both.
type Alternative struct {
	Stage, Route int
	Fused        int32
	Split        [2]int32 // backward input, backward weight
}

// Alternatives enumerates the choices that a problem leaves to the plan, by
// ascending row Fused. Cost O(rows).
func Alternatives(p *model.Problem) iter.Seq[Alternative] {
	return func(yield func(Alternative) bool) {
		if !p.HasChoice {
			return
		}
		type place struct{ stage, route int }
		weights := map[place]int32{}
		for r := range p.Rows {
			if row := &p.Rows[r]; row.Choice == model.WhenSplit && row.Kind == model.BackwardWeight {
				weights[place{row.Stage, row.Route}] = int32(r)
			}
		}
		for r := range p.Rows {
			row := &p.Rows[r]
			if row.Choice != model.WhenFused {
				continue
			}
			c := Alternative{
				Stage: row.Stage, Route: row.Route,
				Fused: int32(r), Split: [2]int32{row.Twin, weights[place{row.Stage, row.Route}]},
			}
			if !yield(c) {
				return
			}
		}
	}
}
