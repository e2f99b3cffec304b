package constraints

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// Times alone do not show that a plan can run. Operations of length 0 may all
// start at one moment and each wait for the next in a circle: no start is
// before an end, and yet the devices stand still. A circle has no other
// members, because anything that takes time on the way round would put a start
// before itself. So the search below looks only at neighbours of length 0.

// tie says that two operations of length 0 start at the same moment and that
// the plan, by an order or by a wait edge, runs before ahead of after.
type tie struct{ before, after model.OpID }

// tied notes that the plan runs before ahead of after, if that is a tie.
func (j *judge) tied(before, now span) {
	if before.op >= 0 && before.start == now.end {
		j.ties = append(j.ties, tie{before.op, now.op})
	}
}

// circles reports a circle of ties and precedences, if there is any. Every
// circle has a tie in it: precedences alone have none. Cost O(number of
// operations that ties and precedences without length connect), nothing if
// there are no ties.
func (j *judge) circles() {
	if len(j.ties) == 0 {
		return
	}
	slices.SortFunc(j.ties, func(a, b tie) int {
		return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.before, b.before))
	})
	s := search{judge: j, active: newSeats(len(j.start)), done: newSeats(len(j.start))}
	for _, t := range j.ties {
		if circle := s.from(t.after); circle != nil {
			j.reportCircle(circle)
			return
		}
	}
}

// search walks from operations to what they wait for, depth first.
type search struct {
	*judge
	active, done seats
	stack        []model.OpID // operations to visit; ^op stands for an active one
}

// from returns the first circle that it meets, each member before the one that
// it waits for, or nil.
func (s *search) from(op model.OpID) []model.OpID {
	s.stack = append(s.stack[:0], op)
	for len(s.stack) > 0 {
		op := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		switch {
		case op < 0:
			s.done.take(int(^op))
		case s.done.has(int(op)):
		case !s.active.take(int(op)):
			return s.path(op)
		default:
			s.stack = append(s.stack, ^op)
			s.expand(op)
		}
	}
	return nil
}

// path lists the active operations from op on.
func (s *search) path(op model.OpID) []model.OpID {
	var ops []model.OpID
	for _, entry := range s.stack[slices.Index(s.stack, ^op):] {
		if entry < 0 {
			ops = append(ops, ^entry)
		}
	}
	return ops
}

// expand puts what an operation waits for at its own moment on the stack.
func (s *search) expand(op model.OpID) {
	r := s.p.RowOf(op)
	index := int(op - s.tables[r].base)
	for i := range s.tables[r].preds {
		if pr := &s.tables[r].preds[i]; pr.lag == 0 {
			first, end := index, index+1
			if pr.all {
				first, end = 0, s.tables[pr.row].count
			}
			for k := first; k < end; k++ {
				producer, ok := s.producer(pr, k)
				if ok && producer.start == producer.end && producer.end == s.start[op] {
					s.stack = append(s.stack, producer.op)
				}
			}
		}
	}
	at, _ := slices.BinarySearchFunc(s.ties, op, func(t tie, op model.OpID) int { return cmp.Compare(t.after, op) })
	for ; at < len(s.ties) && s.ties[at].after == op; at++ {
		s.stack = append(s.stack, s.ties[at].before)
	}
}
