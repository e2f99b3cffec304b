package lcg

import "slices"

// nogood is a set of literals that cannot all hold. The first two are watched:
// as long as neither holds, the others do not matter (Moskewicz et al. 2001).
type nogood struct {
	lits     []lit
	activity float32
	levels   int32 // distinct levels when it was learned (Audemard and Simon 2009)
	number   int64 // in the proof
	dead     bool
}

// watch wakes a nogood when the bound of a side falls to b.
type watch struct {
	b  int64
	id int32
}

// addNogood stores a nogood whose first two literals are to be watched.
func (s *search) addNogood(n nogood) int32 {
	id := int32(len(s.nogoods))
	if k := len(s.free); k > 0 {
		id = s.free[k-1]
		s.free = s.free[:k-1]
		s.nogoods[id] = n
	} else {
		s.nogoods = append(s.nogoods, n)
	}
	for _, l := range n.lits[:2] {
		s.watches[l.s] = append(s.watches[l.s], watch{l.b, id})
	}
	return id
}

// wakeNogoods propagates the nogoods that watch a literal which the bound of a
// side has made true. It returns false on a conflict.
func (s *search) wakeNogoods(sd side) bool {
	list := s.watches[sd]
	now := s.ub[sd]
	kept := 0
	for i := 0; i < len(list); i++ {
		w := list[i]
		if w.b < now {
			list[kept] = w
			kept++
			continue
		}
		n := &s.nogoods[w.id]
		if n.lits[0].s == sd && n.lits[0].b == w.b {
			n.lits[0], n.lits[1] = n.lits[1], n.lits[0]
		}
		other := n.lits[0]
		if s.fails(other) {
			list[kept] = w
			kept++
			continue
		}
		if s.rewatch(w.id, n) {
			continue
		}
		list[kept] = w
		kept++
		if !s.set(other.not(), reason{kind: byNogood, x: w.id}) {
			kept += copy(list[kept:], list[i+1:])
			s.watches[sd] = list[:kept]
			return false
		}
	}
	s.watches[sd] = list[:kept]
	return true
}

// rewatch looks for a literal that does not hold to watch instead of the second.
func (s *search) rewatch(id int32, n *nogood) bool {
	for k := 2; k < len(n.lits); k++ {
		if l := n.lits[k]; !s.holds(l) {
			n.lits[1], n.lits[k] = l, n.lits[1]
			s.watches[l.s] = append(s.watches[l.s], watch{l.b, id})
			return true
		}
	}
	return false
}

// locked reports whether a nogood is the reason of a bound.
func (s *search) locked(id int32) bool {
	n := &s.nogoods[id]
	for _, l := range n.lits[:2] {
		for at := s.last[l.s^1]; at >= 0; at = s.events[at].prev {
			if w := s.events[at].why; w.kind == byNogood && w.x == id {
				return true
			}
		}
	}
	return false
}

// bumpNogood makes a nogood matter more.
func (s *search) bumpNogood(id int32) {
	n := &s.nogoods[id]
	n.activity += s.nogoodStep
	if max(n.activity, s.nogoodStep) > 1e20 {
		for i := range s.nogoods {
			s.nogoods[i].activity *= 1e-20
		}
		s.nogoodStep *= 1e-20
	}
}

// reduce forgets the half of the nogoods that mattered least. Those over two
// levels stay.
func (s *search) reduce() {
	var old []int32
	for id := range s.nogoods {
		n := &s.nogoods[id]
		if !n.dead && n.levels > 2 && !s.locked(int32(id)) {
			old = append(old, int32(id))
		}
	}
	slices.SortFunc(old, func(a, b int32) int {
		x, y := &s.nogoods[a], &s.nogoods[b]
		switch {
		case x.activity < y.activity:
			return -1
		case x.activity > y.activity:
			return 1
		}
		return int(a - b)
	})
	for _, id := range old[:len(old)/2] {
		n := &s.nogoods[id]
		s.forget(n.number)
		*n = nogood{dead: true}
	}
	for sd := range s.watches {
		s.watches[sd] = slices.DeleteFunc(s.watches[sd], func(w watch) bool { return s.nogoods[w.id].dead })
	}
	s.free = append(s.free, old[:len(old)/2]...)
}
