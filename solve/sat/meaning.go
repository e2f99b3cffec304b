package sat

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// The texts of variables, for WriteDIMACS. Times in them are in units.

// times returns the text of n times from first.
func times(first model.Time, n int) string {
	if n == 1 {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d ... %d", first, first+model.Time(n)-1)
}

func (e *encoding) meanStart(j int32, n int) {
	text := e.p.Name(e.jobs[j].op)
	if fused := e.jobs[j].fused; fused >= 0 && fused != e.jobs[j].op {
		text += " or " + e.p.Name(fused)
	}
	e.mean(e.starts[j], n, text+" has started by "+times(e.heads[j], n))
}

// meanRun names what is so at the times of r.
func (e *encoding) meanRun(r *runs, text string) {
	if n := len(r.lits); n > 0 {
		e.mean(r.lits[0], n, text+" "+times(r.first, n))
	}
}

// like names the operations of a sequence.
func (e *encoding) like(q int32) string {
	members := e.sequences[q]
	first, last := e.p.Name(e.jobs[members[0]].op), e.p.Name(e.jobs[members[len(members)-1]].op)
	if first == last {
		return first
	}
	return "one of " + first + " ... " + last
}

func (e *encoding) meanStands(l literal, o, a int32) {
	e.mean(l, 1, fmt.Sprintf("%s stands before %s", e.p.Name(e.jobs[a].op), e.p.Name(e.jobs[o].op)))
}

func (e *encoding) meanValues() {
	n := int(e.upTo - e.from)
	e.mean(e.values, n, "the objective is at most "+times(e.from, n))
}

func (e *encoding) meanDevice(d int, started, ended *runs) {
	e.meanRun(started, e.p.DeviceName(d)+" has started by")
	e.meanRun(ended, e.p.DeviceName(d)+" has ended by")
}
