package sat

import (
	"cmp"
	"slices"
	"sort"

	"github.com/flexpipe/flexpipe/model"
)

// extract returns the plan of a solution, given as the truth of literals.
func (e *encoding) extract(value func(literal) bool) *model.Plan {
	type entry struct {
		op     model.OpID
		job    int32
		start  model.Time
		length model.Time
		level  int
	}
	var all []entry
	for j := range int32(len(e.jobs)) {
		job := &e.jobs[j]
		x := entry{op: job.op, job: j, start: e.startIn(j, value)}
		x.length = job.length[0]
		if job.choice >= 0 && value(e.choiceOf(j, true)) {
			x.op, x.length = job.fused, job.length[1]
		}
		if i, ok := e.levels.place[j]; ok && x.length == 0 {
			for x.level = e.levels.lowest[i]; !e.holds(e.levels.at(i, x.level), value); x.level++ {
			}
		}
		if x.op >= 0 {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(min(1, a.length), min(1, b.length)), cmp.Compare(a.level, b.level),
			cmp.Compare(e.jobs[a.job].rank, e.jobs[b.job].rank), cmp.Compare(a.job, b.job))
	})
	plan := &model.Plan{Order: make([][]model.OpID, e.p.NumDevices())}
	for _, x := range all {
		for _, d := range e.jobs[x.job].devices {
			plan.Order[d] = append(plan.Order[d], x.op)
		}
	}
	return plan
}

// startIn returns when a job starts in a solution.
func (e *encoding) startIn(j int32, value func(literal) bool) model.Time {
	n := int(e.latest[j] - e.heads[j])
	return e.heads[j] + model.Time(sort.Search(n, func(i int) bool { return value(e.starts[j] + literal(i)) }))
}

// holds is value for literals that may be constants.
func (e *encoding) holds(l literal, value func(literal) bool) bool {
	switch l {
	case yes:
		return true
	case no:
		return false
	}
	return value(l)
}
