package proof

import (
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// prover tells simple proofs: longest paths, and the work of each device.
type prover struct {
	t     *tables
	trace solve.Trace
	lo    []model.Time // by variable
	told  int64
}

func least(x constraints.Variable, v model.Time) solve.Fact {
	return solve.Fact{Variable: x, AtLeast: true, Value: v}
}
func most(x constraints.Variable, v model.Time) solve.Fact { return solve.Fact{Variable: x, Value: v} }

func edgeStep(x, y constraints.Variable, facts ...solve.Fact) solve.Step {
	return solve.Step{Rule: solve.EdgeRule, From: x, To: y, Facts: facts}
}

// prove tells a proof of the bound that it returns. For the span it is about devices.
func prove(t *tables, trace solve.Trace) model.Time {
	pr := &prover{t: t, trace: trace, lo: make([]model.Time, len(t.meanings))}
	for pr.pass() {
	}
	if t.p.Pipeline.Objective == model.Span {
		pr.span()
	} else {
		pr.makespan()
	}
	return max(pr.lo[0], model.Absent)
}

func (pr *prover) learn(facts []solve.Fact, steps ...solve.Step) {
	pr.trace.Learn(facts, steps)
	pr.told++
}

// length is the least of an operation.
func (pr *prover) length(s int) model.Time {
	l := pr.t.sequences[s].length
	return min(l[split], l[fused])
}

// raise tells that y is at least w above x, if that is new.
func (pr *prover) raise(x, y constraints.Variable, w model.Time) bool {
	v := pr.lo[x] + w
	if v <= pr.lo[y] {
		return false
	}
	pr.learn([]solve.Fact{most(y, v-1)}, edgeStep(x, y, least(x, pr.lo[x]), most(y, v-1)))
	pr.trace.Forget(pr.told - 1)
	pr.lo[y] = v
	return true
}

// pass raises starts along waits and sequences.
func (pr *prover) pass() bool {
	changed := false
	for s := range pr.t.sequences {
		own := &pr.t.sequences[s]
		for i, x := range own.starts {
			for _, w := range own.waits {
				from := int(w.sequence)
				starts := pr.t.sequences[from].starts
				k := i
				if w.all {
					k = len(starts) - 1
				}
				changed = pr.raise(starts[k], x, pr.length(from)+w.lag) || changed
			}
			if i > 0 {
				changed = pr.raise(own.starts[i-1], x, pr.length(s)) || changed
			}
		}
	}
	return changed
}

// makespan tells that the objective is behind all ends, and behind all work of a
// device that cannot begin before its first start.
func (pr *prover) makespan() {
	for s := range pr.t.sequences {
		own := &pr.t.sequences[s]
		pr.raise(own.starts[len(own.starts)-1], 0, pr.length(s))
	}
	for d, on := range pr.t.on {
		if len(on) == 0 {
			continue
		}
		head, work := model.Time(1)<<60, model.Time(0)
		for _, s := range on {
			own := &pr.t.sequences[s]
			head = min(head, pr.lo[own.starts[0]])
			work += pr.length(int(s)) * model.Time(len(own.starts))
		}
		if v := head + work; v > pr.lo[0] && work > 0 {
			pr.work(d, on, head, v)
		}
	}
}

// work tells that the objective is at least v.
func (pr *prover) work(d int, on []int32, head, v model.Time) {
	window := solve.Step{Rule: solve.WindowRule, Device: int32(d), Begin: head, End: v - 1}
	var steps []solve.Step
	for _, s := range on {
		own := &pr.t.sequences[s]
		x := own.starts[len(own.starts)-1]
		latest := most(x, v-1-pr.length(int(s)))
		steps = append(steps, edgeStep(x, 0, most(0, v-1), latest.Not()))
		window.Facts = append(window.Facts, latest, least(own.starts[0], pr.lo[own.starts[0]]))
	}
	pr.learn([]solve.Fact{most(0, v-1)}, append(steps, window)...)
	pr.lo[0] = v
}

// span tells that the device of the first operation of all works until its last end.
func (pr *prover) span() {
	x, ok := pr.t.origin()
	if !ok {
		return
	}
	d := int(pr.t.sequences[pr.t.meanings[x].sequence].devices[0])
	first, last := pr.t.vars.First(d), pr.t.vars.Last(d)
	pr.learn([]solve.Fact{least(first, 1)}, edgeStep(first, x, least(first, 1), most(x, 0)))
	for _, s := range pr.t.on[d] {
		own := &pr.t.sequences[s]
		pr.raise(own.starts[len(own.starts)-1], last, pr.length(int(s)))
	}
	if v := pr.lo[last]; v > 0 {
		pr.learn([]solve.Fact{most(0, v-1)}, solve.Step{
			Rule: solve.SpanRule, Device: int32(d),
			Facts: []solve.Fact{most(0, v-1), least(last, v), most(first, 0)},
		})
		pr.lo[0] = v
	}
}
