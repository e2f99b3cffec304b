package bound

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// job is work of one device that cannot begin before head, and after whose end
// at least tail must follow. A job may stand for several operations.
type job struct{ head, work, tail model.Time }

// relaxation is the optimum of a preemptive one-machine problem and the set of
// jobs that forces it: value = head + work + tail, where head and tail are the
// smallest in the set and work is the sum over its jobs.
type relaxation struct {
	value            model.Time
	head, work, tail model.Time
	jobs             int // the size of the set
}

// jackson returns the optimum of the preemptive one-machine problem with heads
// and tails: whenever the machine is free or a job arrives, work on the arrived
// job with the largest tail (Jackson 1955; Carlier 1982; Carlier and Pinson
// 1989). It equals the maximum over all sets of jobs of their smallest head,
// their work and their smallest tail, hence no schedule of the device beats it.
//
// It sorts jobs by head, in place. Cost O(n log n).
func jackson(jobs []job) relaxation {
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(a.head, b.head) })
	var ready queue
	value, tail, now := never, model.Time(0), never
	for i := 0; i < len(jobs) || len(ready) > 0; {
		if len(ready) == 0 {
			now = max(now, jobs[i].head)
		}
		for ; i < len(jobs) && jobs[i].head <= now; i++ {
			ready.push(jobs[i])
		}
		top := &ready[0]
		if i < len(jobs) && now+top.work > jobs[i].head {
			top.work -= jobs[i].head - now
			now = jobs[i].head
			continue
		}
		now += top.work
		if v := now + top.tail; v > value || v == value && top.tail < tail {
			value, tail = v, top.tail
		}
		ready.pop()
	}
	if len(jobs) == 0 {
		return relaxation{}
	}
	return critical(jobs, value, tail)
}

// critical finds the set of jobs behind a value, given its smallest tail. jobs
// are sorted by head. Cost O(n).
func critical(jobs []job, value, tail model.Time) relaxation {
	r := relaxation{value: value, tail: tail}
	work, count := model.Time(0), 0
	for i := len(jobs) - 1; i >= 0; i-- {
		if jobs[i].tail < tail {
			continue
		}
		work += jobs[i].work
		count++
		if jobs[i].head+work+tail == value {
			r.head, r.work, r.jobs = jobs[i].head, work, count
		}
	}
	return r
}

// queue is a heap of jobs, the one with the largest tail on top.
type queue []job

func (q *queue) push(j job) {
	h := append(*q, j)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].tail >= j.tail {
			break
		}
		h[i], i = h[up], up
	}
	h[i] = j
	*q = h
}

func (q *queue) pop() {
	h := *q
	last := len(h) - 1
	j := h[last]
	h = h[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && h[child+1].tail > h[child].tail {
			child++
		}
		if child >= last || h[child].tail <= j.tail {
			h[i] = j
			break
		}
		h[i], i = h[child], child
	}
	*q = h
}
