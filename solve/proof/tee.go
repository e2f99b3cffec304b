package proof

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Tee returns a Trace that passes everything on to each of several. Its bound is the
// largest of theirs.
func Tee(traces ...solve.Trace) solve.Trace { return tee(traces) }

type tee []solve.Trace

func (t tee) Learn(facts []solve.Fact, steps []solve.Step) {
	for _, trace := range t {
		trace.Learn(facts, steps)
	}
}

func (t tee) Forget(nogood int64) {
	for _, trace := range t {
		trace.Forget(nogood)
	}
}

func (t tee) Lower() model.Time {
	bound := model.Absent
	for _, trace := range t {
		bound = max(bound, trace.Lower())
	}
	return bound
}
