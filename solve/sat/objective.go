package sat

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

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

// supports demands that every operation starts as early as it can: at 0, or when
// one that it waits for lets it start, or when another one ends on a device.
func (e *encoding) supports() {
	endings := make([]runs, len(e.sequences))
	ends := make([]runs, len(e.jobs))
	for q := range e.sequences {
		endings[q] = e.endingsOf(int32(q), ends)
	}
	var clause []literal
	for j := range int32(len(e.jobs)) {
		job := &e.jobs[j]
		var rivals []int32
		for _, d := range job.devices {
			rivals = append(rivals, e.on[d]...)
		}
		slices.Sort(rivals)
		rivals = slices.Compact(rivals)
		for t := max(1, e.heads[j]); t <= e.latest[j] && !e.full(); t++ {
			clause = append(clause[:0], -e.by(j, t), e.by(j, t-1))
			if job.fused < 0 {
				clause = append(clause, e.choiceOf(j, true))
			}
			for _, a := range e.waits[j] {
				clause = append(clause, ends[a.from].at(t-a.lag))
			}
			for _, q := range rivals {
				clause = append(clause, endings[q].at(t))
			}
			e.add(clause...)
		}
	}
}

// endingsOf makes literals that are true only at times at which an operation of a
// sequence ends, and in ends the same for each of these.
func (e *encoding) endingsOf(q int32, ends []runs) runs {
	first, end := e.window(q)
	all := e.newRuns(first, end+1)
	e.meanRun(&all, e.like(q)+" ends at")
	for _, j := range e.sequences[q] {
		ends[j] = e.newRuns(e.heads[j]+e.jobs[j].shortest(), min(e.horizon, e.latest[j]+e.jobs[j].longest())+1)
		e.meanRun(&ends[j], e.p.Name(e.jobs[j].op)+" ends at")
		for _, c := range e.cases(j) {
			for t := ends[j].first; ends[j].at(t) != no; t++ {
				if !c.here {
					e.add(c.unless, -ends[j].at(t))
					continue
				}
				e.add(c.unless, -ends[j].at(t), e.endBy(j, c.length, t))
				e.add(c.unless, -ends[j].at(t), -e.endBy(j, c.length, t-1))
			}
		}
	}
	var clause []literal
	for t := first; all.at(t) != no; t++ {
		clause = append(clause[:0], -all.at(t))
		for _, j := range e.sequences[q] {
			clause = append(clause, ends[j].at(t))
		}
		e.add(clause...)
	}
	return all
}
