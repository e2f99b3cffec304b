package sat

import (
	"context"

	"github.com/flexpipe/flexpipe/model"
)

// encoding is the formula of a system: there is a schedule that ends by horizon,
// and each z(v) bounds its objective.
type encoding struct {
	*system
	*formula
	horizon model.Time

	starts  []literal    // by job: y at its head; the later ones follow
	latest  []model.Time // by job: it starts by then
	chosen  literal      // of choice 0; the others follow
	running []runs       // by sequence
	values  literal      // z at from; the others follow
	from    model.Time   // probes are from here up to, not including, upTo
	upTo    model.Time
	stands  map[[2]int32]literal // b by pair of jobs o, a
	links   map[[2]int32]uint8   // which directions of b have been demanded
	lines   []line               // who stands before whom among operations of no length
	levels  levels
	ranges  []meaning
}

// meaning is a range of variables, for WriteDIMACS.
type meaning struct {
	first literal
	count int
	text  string
}

// encode builds the formula for schedules that end by horizon, with z(v) for from
// <= v < upTo, in units. Cost O(clauses).
func (s *system) encode(ctx context.Context, horizon, from, upTo model.Time) *encoding {
	e := &encoding{system: s, formula: newFormula(ctx), horizon: horizon, from: from, upTo: max(from, upTo),
		stands: map[[2]int32]literal{}, links: map[[2]int32]uint8{}}
	e.mean(yes, 1, "true")
	e.variablesOfStarts()
	e.orders()
	e.exclusive()
	e.instants()
	e.memory()
	e.placeLevels()
	if s.p.Pipeline.Objective == model.Span {
		e.spans()
	} else {
		e.makespans()
	}
	return e
}

func (e *encoding) mean(first literal, count int, text string) {
	if count > 0 {
		e.ranges = append(e.ranges, meaning{first, count, text})
	}
}

// variablesOfStarts makes y and the choices.
func (e *encoding) variablesOfStarts() {
	e.chosen = e.fresh(e.choices)
	e.mean(e.chosen, e.choices, "choice: fused, by stage and micro-batch")
	e.starts, e.latest = make([]literal, len(e.jobs)), make([]model.Time, len(e.jobs))
	for j := range e.jobs {
		e.latest[j] = e.horizon - e.tails[j]
		n := int(e.latest[j] - e.heads[j])
		if n < 0 {
			e.add(no)
			continue
		}
		e.starts[j] = e.fresh(n)
		for t := e.heads[j]; t < e.latest[j]; t++ {
			e.add(-e.by(int32(j), t), e.by(int32(j), t+1))
		}
		e.meanStart(int32(j), n)
	}
}

// by returns the literal that says that a job has started by t.
func (e *encoding) by(j int32, t model.Time) literal {
	switch {
	case t >= e.latest[j]:
		return yes
	case t < e.heads[j]:
		return no
	}
	return e.starts[j] + literal(t-e.heads[j])
}

// endBy returns the literal that says that a job of the given length has ended by t.
func (e *encoding) endBy(j int32, length, t model.Time) literal { return e.by(j, t-length) }

// split is one of the cases of a choice: what must be false for it, and the
// length then.
type split struct {
	unless literal
	length model.Time
	here   bool // the operation is one of the device
}

// cases lists the cases of a job: one, or two if the choice makes a difference.
func (e *encoding) cases(j int32) []split {
	job := &e.jobs[j]
	if job.choice < 0 || job.length[0] == job.length[1] && job.fused >= 0 {
		return []split{{no, job.length[0], true}}
	}
	c := e.chosen + literal(job.choice)
	return []split{{c, job.length[0], true}, {-c, job.length[1], job.fused >= 0}}
}

// orders demands that operations wait for their predecessors, for those before
// them in the sequence, and for those that memory puts before them.
func (e *encoding) orders() {
	for j := range int32(len(e.jobs)) {
		for _, a := range e.waits[j] {
			e.after(a.from, j, a.lag)
		}
		if before := e.previous(j); before >= 0 {
			e.after(before, j, 0)
		}
		for _, c := range e.cases(j) {
			e.add(c.unless, e.endBy(j, c.length, e.horizon))
		}
	}
	for _, pair := range e.forced {
		e.after(pair[0], pair[1], 0)
		e.level(pair[0], pair[1], no)
	}
}

// after demands that b starts no earlier than lag units after the end of a,
// unless one of the literals is true.
func (e *encoding) after(a, b int32, lag model.Time, unless ...literal) {
	if e.full() {
		return
	}
	clause := make([]literal, 0, 8)
	for _, c := range e.cases(a) {
		wait := c.length + lag
		first := max(e.heads[b], e.heads[a]+wait-1)
		for t := first; t <= e.latest[b] && t < e.latest[a]+wait; t++ {
			clause = append(append(clause[:0], unless...), c.unless, -e.by(b, t), e.by(a, t-wait))
			e.add(clause...)
		}
		if first > e.latest[b] {
			e.add(append(append(clause[:0], unless...), c.unless)...)
		}
	}
}
