package sat

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// runs holds one literal for each unit of time in which a sequence may run.
type runs struct {
	first model.Time
	lits  []literal
}

func (r *runs) at(t model.Time) literal {
	if i := t - r.first; i >= 0 && i < model.Time(len(r.lits)) {
		return r.lits[i]
	}
	return no
}

// newRuns makes literals for the times from first up to, not including, end.
func (e *encoding) newRuns(first, end model.Time) runs {
	n := int(max(0, end-first))
	r := runs{first: first, lits: make([]literal, n)}
	l := e.fresh(n)
	for i := range r.lits {
		r.lits[i] = l + literal(i)
	}
	return r
}

// rivals lists the pairs of sequences that share a device, each once.
func (s *system) rivals() [][2]int32 {
	var pairs [][2]int32
	for _, sequences := range s.on {
		for i, a := range sequences {
			for _, b := range sequences[i+1:] {
				pairs = append(pairs, [2]int32{min(a, b), max(a, b)})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(pairs)
}

// window returns the times between which the operations of a sequence run.
func (e *encoding) window(q int32) (first, end model.Time) {
	members := e.sequences[q]
	first = e.horizon
	for _, j := range members {
		first = min(first, e.heads[j])
		end = max(end, min(e.horizon, e.latest[j]+e.jobs[j].longest()))
	}
	return first, end
}

// exclusive demands that the sequences of a device do not run at the same time.
func (e *encoding) exclusive() {
	e.running = make([]runs, len(e.sequences))
	contested := make([]bool, len(e.sequences))
	pairs := e.rivals()
	for _, pair := range pairs {
		contested[pair[0]], contested[pair[1]] = true, true
	}
	for q := range e.sequences {
		if contested[q] && !e.full() {
			e.running[q] = e.newRuns(e.window(int32(q)))
			e.runDuring(&e.running[q], int32(q))
			e.meanRun(&e.running[q], e.like(int32(q))+" runs in unit")
		}
	}
	for _, pair := range pairs {
		a, b := &e.running[pair[0]], &e.running[pair[1]]
		for t := max(a.first, b.first); a.at(t) != no && b.at(t) != no; t++ {
			e.add(-a.at(t), -b.at(t))
		}
	}
}

// runDuring makes the literals of a sequence true while one of its operations
// runs.
func (e *encoding) runDuring(r *runs, q int32) {
	for _, j := range e.sequences[q] {
		for _, c := range e.cases(j) {
			if !c.here {
				continue
			}
			for t := e.heads[j]; t < e.latest[j]+c.length; t++ {
				e.add(c.unless, -e.by(j, t), e.by(j, t-c.length), r.at(t))
			}
		}
	}
}

// instants demands that operations of no length do not start while another
// operation of their device is running.
func (e *encoding) instants() {
	inside := make([]runs, len(e.sequences))
	starts := make([]runs, len(e.sequences))
	for _, pair := range e.rivals() {
		for _, order := range [][2]int32{pair, {pair[1], pair[0]}} {
			short, long := order[0], order[1]
			if !e.any(short, func(l model.Time) bool { return l == 0 }) || !e.any(long, func(l model.Time) bool { return l > 1 }) {
				continue
			}
			if starts[short].lits == nil {
				starts[short] = e.startsAt(short)
			}
			if inside[long].lits == nil {
				inside[long] = e.insideOf(long)
			}
			a, b := &starts[short], &inside[long]
			for t := max(a.first, b.first); a.at(t) != no && b.at(t) != no; t++ {
				e.add(-a.at(t), -b.at(t))
			}
		}
	}
}

// any reports whether an operation of a sequence can have a length with some
// property.
func (e *encoding) any(q int32, is func(model.Time) bool) bool {
	return slices.ContainsFunc(e.sequences[q], func(j int32) bool {
		return slices.ContainsFunc(e.cases(j), func(c split) bool { return c.here && is(c.length) })
	})
}

// startsAt makes literals that are true when an operation of a sequence that has
// no length starts.
func (e *encoding) startsAt(q int32) runs {
	first, end := e.window(q)
	r := e.newRuns(first, end+1)
	for _, j := range e.sequences[q] {
		for _, c := range e.cases(j) {
			if !c.here || c.length > 0 {
				continue
			}
			for t := e.heads[j]; t <= e.latest[j]; t++ {
				e.add(c.unless, -e.by(j, t), e.by(j, t-1), r.at(t))
			}
		}
	}
	e.meanRun(&r, e.like(q)+" without length starts at")
	return r
}

// insideOf makes literals that are true at the times after the start of an
// operation of a sequence and before its end.
func (e *encoding) insideOf(q int32) runs {
	first, end := e.window(q)
	r := e.newRuns(first, end+1)
	for _, j := range e.sequences[q] {
		for _, c := range e.cases(j) {
			if !c.here || c.length < 2 {
				continue
			}
			for t := e.heads[j] + 1; t < e.latest[j]+c.length; t++ {
				e.add(c.unless, -e.by(j, t-1), e.by(j, t-c.length), r.at(t))
			}
		}
	}
	e.meanRun(&r, e.like(q)+" began before and ends after")
	return r
}
