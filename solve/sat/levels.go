package sat

// Operations of no length that start at one moment have an order all the same:
// none may wait for itself in a circle. It matters only where memory limits ask
// for such an order; else they stand in line by rank, as they wait for each other.

// line says that a stands before b, unless a literal is true.
type line struct {
	a, b   int32
	unless literal
}

// levels places the operations that can have no length one behind the other.
type levels struct {
	place  map[int32]int // by job: its place in the lists below
	lowest []int
	most   []int     // largest level
	first  []literal // "is at most lowest"; up to most - 1 follow
}

// level notes that a stands before b, unless a literal is true, which matters if
// neither has a length.
func (e *encoding) level(a, b int32, unless literal) {
	if e.timeless(a) && e.timeless(b) {
		e.lines = append(e.lines, line{a, b, unless})
	}
}

// timeless reports whether an operation can have no length.
func (e *encoding) timeless(j int32) bool {
	job := &e.jobs[j]
	return job.length[0] == 0 || job.fused >= 0 && job.length[1] == 0
}

// placeLevels makes the levels, if memory asks for an order anywhere. Cost
// O(n · (n + lines)) clauses for n operations that can have no length.
func (e *encoding) placeLevels() {
	if len(e.lines) == 0 {
		return
	}
	var all []int32
	for j := range int32(len(e.jobs)) {
		if e.timeless(j) {
			all = append(all, j)
		}
	}
	l := levels{place: map[int32]int{}}
	for i, j := range all {
		before, behind := 0, 0
		for _, x := range all {
			if e.closure.before(x, j) {
				before++
			}
			if e.closure.before(j, x) {
				behind++
			}
		}
		most := len(all) - 1 - behind
		l.place[j] = i
		l.lowest, l.most = append(l.lowest, before), append(l.most, most)
		l.first = append(l.first, e.fresh(most-before))
		e.mean(l.first[i], most-before, "place of "+e.p.Name(e.jobs[j].op)+" among operations without length")
	}
	e.levels = l
	for i := range all {
		for k := l.lowest[i]; k < l.most[i]; k++ {
			e.add(-l.at(i, k), l.at(i, k+1))
		}
	}
	for _, j := range all {
		for _, a := range e.waits[j] {
			e.level(a.from, j, no)
		}
		if before := e.previous(j); before >= 0 {
			e.level(before, j, no)
		}
	}
	for _, n := range e.lines {
		if e.full() {
			return
		}
		a, b := l.place[n.a], l.place[n.b]
		for k := l.lowest[b]; k <= l.most[b] && k <= l.most[a]; k++ {
			e.add(n.unless, -l.at(b, k), l.at(a, k-1))
		}
	}
}

// at returns the literal that says that the level of an operation is at most k.
func (l *levels) at(i, k int) literal {
	switch {
	case k >= l.most[i]:
		return yes
	case k < l.lowest[i]:
		return no
	}
	return l.first[i] + literal(k-l.lowest[i])
}
