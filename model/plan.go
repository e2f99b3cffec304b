package model

import (
	"fmt"
	"math/bits"
)

// Plan is a decision: which device runs which operations in which order. An
// operation of several devices stands in the order of each of them. In a
// problem with a choice the plan holds, for each stage and micro-batch, either
// the two halves of the backward pass or the fused one.
type Plan struct {
	Order [][]OpID // by device
	Waits []Wait   // further precedences, where orders alone do not carry a decision
}

// Wait says that operation After starts no earlier than the end of Before, or
// of what stands in for Before where the plan holds the other case of a choice.
// It says nothing if the plan does not hold After.
type Wait struct{ Before, After OpID }

// NumOps returns the number of entries in all orders.
func (pl *Plan) NumOps() int {
	n := 0
	for _, order := range pl.Order {
		n += len(order)
	}
	return n
}

// Timeline is the consequence of a plan: when each operation starts.
type Timeline struct {
	Start []Time // by OpID; Absent if the plan does not hold the operation
}

// End returns the end of an operation that the timeline holds.
func (tl *Timeline) End(p *Problem, op OpID) Time { return tl.Start[op] + p.Duration(op) }

// OpSet is a set of operations.
type OpSet []uint64

// NewOpSet returns an empty set for operations of p.
func NewOpSet(p *Problem) OpSet { return make(OpSet, (p.NumOps()+63)/64) }

// Add puts an operation into the set.
func (s OpSet) Add(op OpID) { s[op>>6] |= 1 << (op & 63) }

// Has reports whether the set holds an operation.
func (s OpSet) Has(op OpID) bool { return s[op>>6]>>(op&63)&1 != 0 }

// Len counts the operations in the set.
func (s OpSet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// PlanError reports an entry of a plan that no timeline can have.
type PlanError struct {
	Device, Position int // where in the orders
	Op               string
	Problem          string
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("device %d, position %d: %s %s", e.Device, e.Position, e.Op, e.Problem)
}
