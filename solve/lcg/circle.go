package lcg

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// circle looks for operations that wait for each other, once every order is decided.
// Times exclude circles that take time; those of operations without length are left,
// and are kept as a conflict.
func (s *search) circle() bool {
	if !s.instant {
		return false
	}
	const fresh, open, done = 0, 1, 2
	state := make([]uint8, len(s.ops))
	var path []model.OpID
	var visit func(op model.OpID) bool
	visit = func(op model.OpID) bool {
		state[op] = open
		path = append(path, op)
		for _, next := range s.followers(op) {
			if state[next] == open {
				path = path[indexOf(path, next):]
				return true
			}
			if state[next] == fresh && visit(next) {
				return true
			}
		}
		state[op] = done
		path = path[:len(path)-1]
		return false
	}
	for _, q := range s.seqs {
		for _, op := range q.ops {
			if state[op] == fresh && visit(op) {
				s.clashCircle(path)
				return true
			}
		}
	}
	return false
}

func indexOf(path []model.OpID, op model.OpID) int {
	for i := range path {
		if path[i] == op {
			return i
		}
	}
	return -1
}

// followers returns the operations that start no earlier than the end of op: by
// precedence, sequence, or the order decided.
func (s *search) followers(op model.OpID) []model.OpID {
	var next []model.OpID
	for _, e := range s.edges[low(start(op))] {
		if v := e.to.variable(); v > 0 && v < s.choiceBegin() {
			next = append(next, model.OpID(v-1))
		}
	}
	o := &s.ops[op]
	for i := range s.seqs[o.seq].partners {
		p := &s.seqs[o.seq].partners[i]
		if _, hi := s.counts(o, p); hi < len(s.seqs[p.seq].ops) {
			next = append(next, s.seqs[p.seq].ops[hi])
		}
	}
	return next
}

// clashCircle keeps a circle as a conflict. Its facts are the orders that are not
// given by precedence or sequence.
func (s *search) clashCircle(ops []model.OpID) {
	var facts []lit
	for i, x := range ops {
		y := ops[(i+1)%len(ops)]
		given := false
		for _, e := range s.edges[low(start(x))] {
			given = given || e.to == low(start(y))
		}
		if !given {
			facts = append(facts, s.beforeLit(x, y))
		}
	}
	s.clashTold(explanation{rule: solve.CycleRule, device: -1, op: -1, ops: append([]model.OpID(nil), ops...)}, facts)
}
