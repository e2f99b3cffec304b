package sat

import "github.com/flexpipe/flexpipe/model"

// atMost returns the literal that says that the objective is at most v.
func (e *encoding) atMost(v model.Time) literal {
	if v >= e.upTo {
		return yes
	}
	return e.values + literal(v-e.from)
}

// claimed returns the value that a solution under atMost(v) respects: the span of
// a formula without such literals is any.
func (e *encoding) claimed(v model.Time) model.Time {
	if v >= e.upTo && e.p.Pipeline.Objective == model.Span {
		return e.horizon
	}
	return v
}

// newValues makes z.
func (e *encoding) newValues() {
	e.values = e.fresh(int(e.upTo - e.from))
	for v := e.from; v < e.upTo; v++ {
		e.add(-e.atMost(v), e.atMost(v+1))
	}
	e.meanValues()
}

// makespans makes z(v) say that all operations end by v.
func (e *encoding) makespans() {
	e.newValues()
	for v := e.from; v < e.upTo && !e.full(); v++ {
		for j := range int32(len(e.jobs)) {
			e.add(-e.atMost(v), e.by(j, v-e.tails[j]))
			for _, c := range e.cases(j) {
				if c.length > e.tails[j] {
					e.add(c.unless, -e.atMost(v), e.endBy(j, c.length, v))
				}
			}
		}
	}
}

// spans makes z(v) say that on each device all operations end no later than v
// after any start.
func (e *encoding) spans() {
	e.newValues()
	for d, sequences := range e.on {
		if len(sequences) == 0 || e.full() {
			continue
		}
		started := e.newRuns(0, e.horizon+1)
		ended := e.newRuns(0, e.horizon+1)
		e.meanDevice(d, &started, &ended)
		for _, q := range sequences {
			members := e.sequences[q]
			first, last := members[0], members[len(members)-1]
			for t := e.heads[first]; t <= e.horizon; t++ {
				e.add(-e.by(first, t), started.at(t))
			}
			for _, c := range e.cases(last) {
				for t := model.Time(0); t <= e.horizon; t++ {
					e.add(c.unless, -ended.at(t), e.endBy(last, c.length, t))
				}
			}
		}
		for v := e.from; v < e.upTo && !e.full(); v++ {
			for t := model.Time(0); t+v < e.horizon; t++ {
				e.add(-e.atMost(v), -started.at(t), ended.at(t+v))
			}
		}
	}
}
