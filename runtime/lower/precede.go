package lower

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// barrier marks a precedence that needs no message: what a blocking transfer waits for
// runs on a device of the transfer, which starts on none of its devices before that.
const barrier Carries = 1 << 7

// producer is an operation that another one waits for.
type producer struct {
	op      model.OpID
	carries Carries
}

// cargo says for each precedence between rows what a message for it carries.
func cargo(p *model.Problem) [][]Carries {
	all := make([][]Carries, len(p.Rows))
	for r := range p.Rows {
		for _, pred := range p.Rows[r].Preds {
			all[r] = append(all[r], carries(p, &p.Rows[pred.Row], &p.Rows[r]))
		}
	}
	return all
}

// carries compares kinds with the stage graph. An output goes to the forwards of the stages
// that read it; the gradient of a stage's output comes from those, and goes to what starts
// the stage's backward. Everything else only has to have ended.
func carries(p *model.Problem, from, to *model.Row) Carries {
	reads := func(reader, read int) bool {
		return reader >= 0 && slices.Contains(p.Pipeline.Stages[reader].After, read)
	}
	switch {
	case to.Kind.IsTransfer():
		return barrier
	case from.Kind == model.SendForward:
		return Output
	case from.Kind == model.SendBackward:
		return Gradient
	case from.Kind == model.Forward && to.Kind == model.Forward && reads(to.Stage, from.Stage):
		return Output
	case from.Kind.CarriesGradient() && to.Kind <= model.BackwardFull && reads(from.Stage, to.Stage):
		return Gradient
	}
	return Nothing
}

// producers appends what an operation waits for, in the order of its row's predecessors;
// an operation may come twice.
func (l *lowering) producers(dst []producer, op model.OpID) []producer {
	r := l.p.RowOf(op)
	index := int(op - l.p.Base(r))
	for i, pred := range l.p.Rows[r].Preds {
		first, end := l.p.PredOps(r, index, pred)
		for q := first; q < end; q++ {
			if held, ok := l.held(q, int(pred.Row)); ok {
				dst = append(dst, producer{held, l.cargo[r][i]})
			}
		}
	}
	for _, q := range l.waits[op] {
		if held, ok := l.held(q, l.p.RowOf(q)); ok {
			dst = append(dst, producer{held, Nothing})
		}
	}
	return dst
}

// held returns q, of row r, or what stands in for it in the plan. There is neither for the
// weight gradient of a micro-batch that runs fused: nothing waits for that.
func (l *lowering) held(q model.OpID, r int) (model.OpID, bool) {
	row := &l.p.Rows[r]
	if row.Choice == model.Always || l.present.Has(q) {
		return q, true
	}
	if row.Twin < 0 {
		return 0, false
	}
	return q - l.p.Base(r) + l.p.Base(int(row.Twin)), true
}

// same returns an error if two counts differ.
func same(what string, have, want int) error {
	if have != want {
		return fmt.Errorf("%d %s, want %d", have, what, want)
	}
	return nil
}
