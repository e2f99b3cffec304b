package model

import (
	"fmt"
	"slices"
)

// impliedWait is a wait that no operation names: it follows from the memory of
// operation i, see compiler.borrow.
type impliedWait struct {
	i                  int
	producer, consumer int32
}

// checkCycles tests that the operations of a pipeline do not wait for each other. A
// cycle that is closed only by what follows from the memory of an operation is told as
// that, since nobody wrote the wait that closes it. Cost O(rows + precedences), for each
// implied wait of a pipeline that is refused.
func (c *compiler) checkCycles() error {
	p := c.p
	if len(c.pl.Operations) == 0 || len(p.RowOrder(nil)) == len(p.Rows) {
		return nil
	}
	written := Problem{Rows: p.Rows, Succs: c.writtenSuccs()}
	if order := written.RowOrder(nil); len(order) < len(p.Rows) {
		return c.refuseCycle(order)
	}
	for _, w := range c.implied {
		if p.reaches(w.consumer, w.producer) {
			return c.refuseBorrowing(w.i)
		}
	}
	return fmt.Errorf("the operations wait for each other")
}

// writtenSuccs returns the successors of the rows without the implied waits.
func (c *compiler) writtenSuccs() [][]Succ {
	succs := slices.Clone(c.p.Succs)
	for _, w := range c.implied {
		succs[w.producer] = slices.DeleteFunc(slices.Clone(succs[w.producer]), func(s Succ) bool { return s.Row == w.consumer })
	}
	return succs
}

// refuseCycle reports an operation that is not among the rows that can be ordered.
func (c *compiler) refuseCycle(order []int32) error {
	ordered := make([]bool, len(c.p.Rows))
	for _, r := range order {
		ordered[r] = true
	}
	for i := range c.pl.Operations {
		o := &c.pl.Operations[i]
		for _, rows := range c.operations[i] {
			if !ordered[rows.row] {
				return &OperationError{i, o.Name, o.label() + " waits for itself, by way of what it waits for", "take one of the waits out"}
			}
		}
	}
	return fmt.Errorf("the operations wait for each other")
}

// refuseBorrowing reports an operation that cannot run where its memory makes it run.
func (c *compiler) refuseBorrowing(i int) error {
	o := &c.pl.Operations[i]
	compared := "more"
	if o.Takes < o.Gives {
		compared = "less"
	}
	return &OperationError{i, o.Name,
		fmt.Sprintf("%s takes %s than it gives, so it runs after the forward of its stage and before its last backward, but by the waits it cannot", o.label(), compared),
		"make both equal, or let it run in between"}
}

// reaches reports whether row to follows row from.
func (p *Problem) reaches(from, to int32) bool {
	seen := make([]bool, len(p.Rows))
	next := []int32{from}
	for len(next) > 0 {
		r := next[len(next)-1]
		next = next[:len(next)-1]
		if r == to {
			return true
		}
		for _, s := range p.Succs[r] {
			if !seen[s.Row] {
				seen[s.Row] = true
				next = append(next, s.Row)
			}
		}
	}
	return false
}
