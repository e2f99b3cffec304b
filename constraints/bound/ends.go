package bound

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// Effort is counted in visits: one operation seen by one row of its device, some
// 0.1 µs.
const (
	windowVisits = 1 << 20 // of one computation of heads: decides the window
	headVisits   = 1 << 22 // of all computations of heads
	refutable    = 1 << 16 // of one computation of heads, for values to be refuted
	refuteVisits = 1 << 20 // of all refutations, at refuteFactor visits for each
	refuteFactor = 2
	surveyVisits = 1 << 23 // of the survey of devices for the span, by paths alone
	maxRounds    = 64
)

// ends holds a problem seen from its start and from its end: the same rows in
// both, in opposite orders.
type ends struct {
	p           *model.Problem
	front, back *heads
	cost        int // visits of one round
	visits      int // left for heads
	refutes     int // left for refutations
	windows     windows
}

func newEnds(p *model.Problem, withMemory bool) *ends {
	perIndex := 0
	for _, rows := range p.RowsOn {
		perIndex += len(rows) * min(len(rows), maxLocal)
	}
	e := newWindow(p, withMemory, max(1, windowVisits/max(1, perIndex)))
	e.cost = max(1, perIndex*e.front.g.longest)
	return e
}

// newWindow is newEnds with a given number of micro-batches at either end, and
// the cost 1.
func newWindow(p *model.Problem, withMemory bool, window int) *ends {
	pick := lightest(p)
	return &ends{p: p, cost: 1, visits: headVisits, refutes: refuteVisits,
		front: newHeads(newGraph(p, window, false, pick), withMemory),
		back:  newHeads(newGraph(p, window, true, pick), withMemory)}
}

// settle computes heads and tails by compute, for each side with a number of
// rounds that the visits left allow, one at least.
func (e *ends) settle(compute func(h *heads, most int) int) {
	for _, h := range []*heads{e.front, e.back} {
		most := min(max(e.visits/e.cost/2, 1), maxRounds)
		e.visits -= compute(h, most) * e.cost
	}
}

// mirror returns the row of the other graph for a row of either.
func (e *ends) mirror(q int32) int32 { return int32(len(e.front.g.rows)-1) - q }

// makespan bounds the makespan.
func makespan(p *model.Problem, withMemory, refuting bool) finding {
	best := finding{device: -1}
	e := newEnds(p, withMemory)
	e.settle((*heads).fromZero)
	for d := range p.Limits {
		e.bound(d, &best)
	}
	if refuting {
		e.destroy(&best)
	}
	return best
}

// span bounds the span, device by device, those first that paths alone bound
// best.
func span(p *model.Problem, withMemory, refuting bool) finding {
	best := finding{device: -1}
	e := newEnds(p, withMemory)
	for i, d := range e.survey() {
		if i > 0 && e.visits <= 0 {
			break
		}
		e.settle(func(h *heads, most int) int { return h.fromDevice(d, most) })
		e.bound(d, &best)
		if refuting {
			e.destroy(&best)
		}
	}
	return best
}

// survey sorts the devices by the bound that paths alone give, the largest
// first, ties by number. Beyond a fixed effort, it leaves out the least busy.
func (e *ends) survey() []int {
	devices := busiest(e.p)
	most := surveyVisits / (2 * max(1, e.front.g.numOps()))
	devices = devices[:min(len(devices), max(most, 1))]
	value := make([]model.Time, e.p.NumDevices())
	for _, d := range devices {
		found := finding{device: -1}
		e.front.fromDevice(d, 0)
		e.back.fromDevice(d, 0)
		e.bound(d, &found)
		value[d] = found.value
	}
	slices.SortStableFunc(devices, func(a, b int) int {
		return cmp.Or(cmp.Compare(value[b], value[a]), cmp.Compare(a, b))
	})
	return devices
}

// busiest returns the devices, those with most work first, ties by number.
func busiest(p *model.Problem) []int {
	devices := make([]int, p.NumDevices())
	work := make([]model.Time, p.NumDevices())
	for d := range devices {
		devices[d] = d
		for _, r := range p.RowsOn[d] {
			if p.Rows[r].Choice != model.WhenFused {
				work[d] += total(p, int(r))
			}
		}
	}
	slices.SortStableFunc(devices, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
	return devices
}

// bound improves a finding by the one-machine problem of a device.
func (e *ends) bound(d int, best *finding) {
	best.improve(jackson(e.jobs(d)), d)
	if !e.p.Identical {
		best.improve(jackson(e.rowJobs(d)), d)
	}
}

// jobs returns the operations of a device with heads and tails; those between
// the windows as one job for each row.
func (e *ends) jobs(d int) []job {
	g := e.front.g
	var jobs []job
	for _, q := range g.on[d] {
		n := &g.rows[q]
		middle := n.total - 2*n.count
		if middle <= 0 {
			for k := range n.total {
				jobs = append(jobs, job{e.head(q, k), n.length, e.tail(q, k)})
			}
			continue
		}
		for k := range n.count {
			last := n.total - 1 - k
			jobs = append(jobs,
				job{e.head(q, k), n.length, e.tail(q, k)},
				job{e.head(q, last), n.length, e.tail(q, last)})
		}
		jobs = append(jobs, job{e.head(q, n.count), n.length * model.Time(middle), e.tail(q, n.total-1-n.count)})
	}
	return jobs
}

// rowJobs returns the rows of a device as one job each, of the full work of
// micro-batches that differ.
func (e *ends) rowJobs(d int) []job {
	g := e.front.g
	var jobs []job
	for _, q := range g.on[d] {
		if n := &g.rows[q]; n.total > 0 {
			jobs = append(jobs, job{e.head(q, 0), total(e.p, n.row), e.tail(q, n.total-1)})
		}
	}
	return jobs
}

// head returns the head of operation k of a row of the front graph.
func (e *ends) head(q int32, k int) model.Time { return e.front.at(q, k) }

// tail returns the tail of operation k of a row of the front graph.
func (e *ends) tail(q int32, k int) model.Time {
	return e.back.at(e.mirror(q), e.front.g.rows[q].total-1-k)
}

// at returns the head of an operation. Beyond the window, the row still runs one
// operation after the other.
func (h *heads) at(q int32, k int) model.Time {
	n := &h.g.rows[q]
	last := min(k, n.count-1)
	return h.start[h.g.base[q]+last] + model.Time(k-last)*n.length
}
