package bound

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// windows are the operations of one device, each of which must run between its
// head and its deadline. narrow raises heads by what these windows say about the
// order of the operations.
type windows struct {
	head     []model.Time // ascending
	duration []model.Time
	deadline []model.Time
	raised   []model.Time // the result of narrow

	byDeadline []int32 // descending
	byLatest   []int32 // ascending by latest start
	byEnd      []int32 // ascending by earliest end
	edge       lambda
	tree       theta
}

// narrow computes raised. It returns false if the operations cannot all run in
// their windows, by the tests it makes. Cost O(n log n).
func (w *windows) narrow() bool {
	w.raised = append(w.raised[:0], w.head...)
	w.sort()
	return w.edgeFinding() && w.detect()
}

func (w *windows) sort() {
	n := len(w.head)
	for _, order := range []*[]int32{&w.byDeadline, &w.byLatest, &w.byEnd} {
		*order = (*order)[:0]
		for i := range n {
			*order = append(*order, int32(i))
		}
	}
	slices.SortFunc(w.byDeadline, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.deadline[b], w.deadline[a]), cmp.Compare(a, b))
	})
	slices.SortFunc(w.byLatest, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.deadline[a]-w.duration[a], w.deadline[b]-w.duration[b]), cmp.Compare(a, b))
	})
	slices.SortFunc(w.byEnd, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.head[a]+w.duration[a], w.head[b]+w.duration[b]), cmp.Compare(a, b))
	})
}

// edgeFinding (Carlier and Pinson 1989; this form Vilím 2007): if some operations
// cannot finish by their last deadline when another one is added to them, that
// one runs after all of them.
func (w *windows) edgeFinding() bool {
	t := &w.edge
	t.fill(w.head, w.duration)
	for at, j := range w.byDeadline {
		if t.nodes[1].finish > w.deadline[j] {
			return false
		}
		if at+1 == len(w.byDeadline) {
			break
		}
		t.grey(int(j), w.head[j], w.duration[j])
		due := w.deadline[w.byDeadline[at+1]]
		for root := &t.nodes[1]; root.greyFinishBy >= 0 && root.greyFinish > due; {
			i := root.greyFinishBy
			w.raised[i] = max(w.raised[i], root.finish)
			t.drop(int(i))
		}
	}
	return true
}

// detect finds detectable precedences (Vilím 2004): an operation that cannot end
// before the latest start of others runs after them.
func (w *windows) detect() bool {
	w.tree.reset(len(w.head))
	next := 0
	for _, i := range w.byEnd {
		end := w.head[i] + w.duration[i]
		for ; next < len(w.byLatest); next++ {
			j := w.byLatest[next]
			if end <= w.deadline[j]-w.duration[j] {
				break
			}
			w.tree.mark(int(j), w.head[j], w.duration[j])
		}
		w.raised[i] = max(w.raised[i], w.tree.earliestBut(int(i)))
		if w.raised[i]+w.duration[i] > w.deadline[i] {
			return false
		}
	}
	return true
}
