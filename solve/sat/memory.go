package sat

import "github.com/flexpipe/flexpipe/model"

// memory demands that no operation takes more than the limit of a device leaves.
func (e *encoding) memory() {
	peers := e.peers()
	for d, limit := range e.p.Limits {
		if limit >= model.Unlimited {
			continue
		}
		if e.p.Statics[d] > limit {
			e.add(no)
		}
		for _, o := range peers[d] {
			if e.full() {
				return
			}
			e.taker(d, o)
		}
	}
}

// taker demands that what is held when o runs is within the limit: with all
// others as they harm most, the others must not reach the excess.
func (e *encoding) taker(d int, o int32) {
	m := e.memoryOn(o, d)
	most := max(peak(m[0]), peak(m[1]))
	if most <= 0 {
		return
	}
	excess := e.p.Statics[d] + most - e.p.Limits[d]
	var counts []count
	if relief := peak(m[0]) - peak(m[1]); relief != 0 {
		counts = append(counts, newCount(max(relief, -relief), []literal{e.choiceOf(o, relief > 0)}))
	}
	for _, q := range e.on[d] {
		worst, relief := e.effects(d, o, q)
		excess += worst
		counts = append(counts, relief...)
	}
	if excess > 0 {
		e.demand(counts, excess)
	}
}

// choiceOf returns the literal that says that a job runs fused, or split.
func (e *encoding) choiceOf(j int32, fused bool) literal {
	c := e.chosen + literal(e.jobs[j].choice)
	if fused {
		return c
	}
	return -c
}

// effects returns the most that the operations of a sequence can hold when o
// starts, and the counts by which it can be less.
func (e *encoding) effects(d int, o, q int32) (worst model.Bytes, relief []count) {
	var gone []literal // first those that are gone most surely
	members := e.sequences[q]
	base := net(e.memoryOn(members[0], d)[0])
	for i := range members {
		j := members[i]
		if base > 0 {
			j = members[len(members)-1-i]
		}
		if j == o {
			continue
		}
		m, fused := e.memoryOn(j, d), no
		more := net(m[1]) - net(m[0])
		if more != 0 {
			fused = e.choiceOf(j, true)
		}
		switch {
		case more != 0 && e.jobs[j].fused < 0: // it is there only if it runs apart
			more, fused = base, -fused
		case base > 0:
			worst += base
			gone = append(gone, -e.standsBefore(o, j, false))
		case base < 0:
			gone = append(gone, e.standsBefore(o, j, true))
		}
		if more != 0 {
			worst += max(0, more)
			relief = append(relief, newCount(max(more, -more), []literal{e.bothOrNot(o, j, fused, more < 0)}))
		}
	}
	if len(gone) > 0 {
		relief = append(relief, newCount(max(base, -base), gone))
	}
	return worst, relief
}

// bothOrNot returns a literal that is true only if j stands before o and fused is
// true; or, if not both, only if that is not so.
func (e *encoding) bothOrNot(o, j int32, fused literal, both bool) literal {
	before := e.standsBefore(o, j, both)
	switch {
	case before == no && both:
		return no
	case before == no:
		return yes
	case before == yes && both:
		return fused
	case before == yes:
		return -fused
	}
	l := e.fresh(1)
	e.mean(l, 1, "memory that depends on a choice")
	if both {
		e.add(-l, before)
		e.add(-l, fused)
	} else {
		e.add(-l, -before, -fused)
	}
	return l
}

// standsBefore returns the literal that says that a stands before o on a device
// that both occupy, if holds: true only then; else false only if it does not.
func (e *encoding) standsBefore(o, a int32, holds bool) literal {
	switch {
	case e.closure.before(a, o), e.heads[o] > e.latest[a]:
		return yes
	case e.closure.before(o, a), e.heads[a]+e.jobs[a].shortest() > e.latest[o]:
		return no
	}
	key := [2]int32{o, a}
	l, ok := e.stands[key]
	if !ok {
		l = e.fresh(1)
		e.stands[key] = l
		e.meanStands(l, o, a)
	}
	direction := uint8(1)
	if !holds {
		direction = 2
	}
	if e.links[key]&direction == 0 {
		e.links[key] |= direction
		if holds {
			e.after(a, o, 0, -l)
			e.level(a, o, -l)
		} else {
			e.after(o, a, 0, l)
			e.level(o, a, l)
		}
	}
	return l
}
