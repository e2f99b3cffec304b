package sat

import (
	"cmp"
	"context"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// relate computes who has to wait for whom, and heads and tails from that. It
// returns false if there is no schedule, or the context has ended.
//
// Cost O(jobs · precedences / 64 + jobs² · log jobs), and the time of force.
func (s *system) relate(ctx context.Context) bool {
	s.closure = newClosure(len(s.jobs))
	for _, j := range slices.Backward(s.inOrder()) {
		for _, a := range s.waits[j] {
			s.closure.inherit(a.from, j)
		}
		if before := s.previous(j); before >= 0 {
			s.closure.inherit(before, j)
		}
	}
	for changed := true; changed && !s.closure.cyclic; {
		if ctx.Err() != nil {
			return false
		}
		changed = s.force(ctx)
	}
	if s.closure.cyclic {
		return false
	}
	s.measure(ctx)
	return ctx.Err() == nil
}

// inOrder lists the jobs so that each stands behind what it waits for; memory
// apart.
func (s *system) inOrder() []int32 {
	order := make([]int32, len(s.jobs))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.jobs[a].rank, s.jobs[b].rank) })
	return order
}

// measure computes heads and tails: the longest ways, and on each device the time
// that what precedes or follows an operation takes there (Jackson 1955).
func (s *system) measure(ctx context.Context) {
	n := len(s.jobs)
	order := s.byClosure()
	s.heads, s.tails = make([]model.Time, n), make([]model.Time, n)
	for j := range s.jobs {
		s.tails[j] = s.jobs[j].shortest()
	}
	peers := s.peers()
	for _, j := range order {
		if ctx.Err() != nil {
			return
		}
		for _, a := range s.waits[j] {
			s.heads[j] = max(s.heads[j], s.heads[a.from]+s.jobs[a.from].shortest()+a.lag)
		}
		s.heads[j] = max(s.heads[j], s.crowd(j, peers, func(x int32) (model.Time, bool) {
			return s.heads[x], s.closure.before(x, j)
		}))
	}
	follows := make([][]arc, n)
	for j := range s.waits {
		for _, a := range s.waits[j] {
			follows[a.from] = append(follows[a.from], arc{int32(j), a.lag})
		}
	}
	for i := n - 1; i >= 0 && ctx.Err() == nil; i-- {
		j := order[i]
		for _, a := range follows[j] {
			s.tails[j] = max(s.tails[j], s.jobs[j].shortest()+a.lag+s.tails[a.from])
		}
		s.tails[j] = max(s.tails[j], s.jobs[j].shortest()+s.crowd(j, peers, func(x int32) (model.Time, bool) {
			return s.tails[x] - s.jobs[x].shortest(), s.closure.before(j, x)
		}))
	}
}

// crowd returns when those jobs that share a device with j, and for which when
// says so, have run one after the other, each no earlier than when says.
func (s *system) crowd(j int32, peers [][]int32, when func(int32) (model.Time, bool)) model.Time {
	type entry struct{ release, length model.Time }
	latest := model.Time(0)
	var all []entry
	for _, d := range s.jobs[j].devices {
		all = all[:0]
		for _, x := range peers[d] {
			if release, ok := when(x); ok {
				all = append(all, entry{release, s.jobs[x].shortest()})
			}
		}
		slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.release, b.release) })
		t := model.Time(0)
		for _, e := range all {
			t = max(t, e.release) + e.length
		}
		latest = max(latest, t)
	}
	return latest
}

// peers lists the jobs of each device.
func (s *system) peers() [][]int32 {
	peers := make([][]int32, len(s.on))
	for d, sequences := range s.on {
		for _, q := range sequences {
			peers[d] = append(peers[d], s.sequences[q]...)
		}
	}
	return peers
}

// byClosure lists the jobs so that each stands behind all that it has to wait
// for: by the number of these.
func (s *system) byClosure() []int32 {
	count := make([]int, len(s.jobs))
	order := make([]int32, len(s.jobs))
	for j := range s.jobs {
		order[j] = int32(j)
		s.closure.each(int32(j), func(x int32) { count[x]++ })
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(count[a], count[b]) })
	return order
}
