package constraints

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// Sequence lists operations of one row that may be assumed to start in this
// order: micro-batches with equal factors are alike, and whatever a schedule does
// with them, it can do in index order (the k-th start of a row is never before
// the k-th end of what it waits for).
//
// Where the plan has a choice, an operation of the backward input also stands for
// the fused one of the same index; rows of fused operations have no sequence of
// their own. A backward weight of a micro-batch that runs fused is taken to be
// there, with no length and no effect on memory.
type Sequence struct {
	Row int32
	Ops []model.OpID // ascending; they share the factor of their micro-batches
}

// Sequences lists the sequences of a problem by ascending row, within a row by
// first operation. Every operation but the fused ones of a choice is in exactly
// one. Cost O(operations).
func Sequences(p *model.Problem) []Sequence {
	var all []Sequence
	for r := range p.Rows {
		if p.Rows[r].Choice == model.WhenFused {
			continue
		}
		first := len(all)
		for k := range p.Count(r) {
			op := p.Base(r) + model.OpID(k)
			factor := factorOf(p, op)
			at := first + slices.IndexFunc(all[first:], func(s Sequence) bool { return factorOf(p, s.Ops[0]) == factor })
			if at < first {
				at = len(all)
				all = append(all, Sequence{Row: int32(r)})
			}
			all[at].Ops = append(all[at].Ops, op)
		}
	}
	return all
}

// factorOf returns the factor of an operation's micro-batch, 0 if it has none.
func factorOf(p *model.Problem, op model.OpID) int64 {
	m := p.MicroBatch(op)
	if p.Identical || m < 0 || p.Pipeline.Factors == nil {
		return 0
	}
	return p.Pipeline.Factors[m]
}
