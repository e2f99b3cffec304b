package lower

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// sort puts all operations into one order: by earliest start, ties by number, but each
// behind everything that it waits for, which matters where operations of no length start at
// the same moment. It takes the first of those that nothing holds up, again and again;
// there is at most one for each device.
func (l *lowering) sort() error {
	s := l.newSorter()
	l.order = make([]model.OpID, 0, len(s.missing))
	l.rank = make([]int32, l.p.NumOps())
	for i := range l.rank {
		l.rank[i] = -1
	}
	for d, order := range l.plan.Order {
		if len(order) > 0 {
			s.less(order[0])
		}
		s.next[d] = 1
	}
	for len(s.ready) > 0 {
		op := s.ready.pop().op
		l.rank[op] = int32(len(l.order))
		l.order = append(l.order, op)
		for _, q := range s.after[s.first[op]:s.first[op+1]] {
			s.less(q)
		}
		for _, d := range l.p.Row(op).Devices {
			if at := s.next[d]; int(at) < len(l.plan.Order[d]) {
				s.less(l.plan.Order[d][at])
			}
			s.next[d]++
		}
	}
	return nil
}

// sorter holds what sort counts down.
type sorter struct {
	l       *lowering
	missing []int32      // by operation: predecessors, and devices that are not free for it
	first   []int32      // by operation: where its successors begin in after
	after   []model.OpID // successors
	next    []int32      // by device: the entry of its order behind the last one that became its head
	ready   readyHeap
}

type readyOp struct {
	start model.Time
	op    model.OpID
}

func (l *lowering) newSorter() sorter {
	n := l.p.NumOps()
	s := sorter{l: l, missing: make([]int32, n), first: make([]int32, n+2), next: make([]int32, l.p.NumDevices())}
	var buf []producer
	for op := range model.OpID(n) {
		if !l.present.Has(op) {
			continue
		}
		buf = l.producers(buf[:0], op)
		s.missing[op] = int32(len(buf) + len(l.p.Row(op).Devices))
		for _, q := range buf {
			s.first[q.op+2]++
		}
	}
	for i := range n {
		s.first[i+2] += s.first[i+1]
	}
	s.after = make([]model.OpID, s.first[n+1])
	for op := range model.OpID(n) {
		if !l.present.Has(op) {
			continue
		}
		buf = l.producers(buf[:0], op)
		for _, q := range buf {
			s.after[s.first[q.op+1]] = op
			s.first[q.op+1]++
		}
	}
	return s
}

// less counts one thing less that op waits for.
func (s *sorter) less(op model.OpID) {
	if s.missing[op]--; s.missing[op] == 0 {
		s.ready.push(readyOp{s.l.timeline.Start[op], op})
	}
}

// readyHeap gives back the operation that starts first, ties by number. It is a binary heap
// of its own: those of container/heap allocate for each element.
type readyHeap []readyOp

func (a readyOp) less(b readyOp) bool { return a.start < b.start || a.start == b.start && a.op < b.op }

func (h *readyHeap) push(x readyOp) {
	*h = append(*h, x)
	a, i := *h, len(*h)-1
	for i > 0 && x.less(a[(i-1)/2]) {
		a[i] = a[(i-1)/2]
		i = (i - 1) / 2
	}
	a[i] = x
}

func (h *readyHeap) pop() readyOp {
	a := *h
	top, x := a[0], a[len(a)-1]
	a = a[:len(a)-1]
	*h = a
	for i := 0; len(a) > 0; {
		child := 2*i + 1
		if child+1 < len(a) && a[child+1].less(a[child]) {
			child++
		}
		if child >= len(a) || !a[child].less(x) {
			a[i] = x
			break
		}
		a[i] = a[child]
		i = child
	}
	return top
}

// checkOrder tests that the order is one of all operations, by start, and agrees with the
// orders of the devices and with all precedences.
func (l *lowering) checkOrder() error {
	if err := same("operations in order", len(l.order), l.present.Len()); err != nil {
		return err
	}
	var buf []producer
	for i, op := range l.order {
		if i > 0 && l.timeline.Start[l.order[i-1]] > l.timeline.Start[op] {
			return fmt.Errorf("%s stands behind %s, which starts later", l.p.Name(op), l.p.Name(l.order[i-1]))
		}
		buf = l.producers(buf[:0], op)
		for _, q := range buf {
			if l.rank[q.op] < 0 || int(l.rank[q.op]) >= i {
				return fmt.Errorf("%s stands before %s, for which it waits", l.p.Name(op), l.p.Name(q.op))
			}
		}
	}
	for d, order := range l.plan.Order {
		for i := 1; i < len(order); i++ {
			if l.rank[order[i]] <= l.rank[order[i-1]] {
				return fmt.Errorf("%s stands before %s, against the order of %s", l.p.Name(order[i]), l.p.Name(order[i-1]), l.p.DeviceName(d))
			}
		}
	}
	return nil
}
