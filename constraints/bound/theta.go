package bound

import "github.com/flexpipe/flexpipe/model"

// never is a head that no operation has: it loses every maximum against a head
// of a timeline, also after any amount of work (at most 2^61) was added to it.
const never model.Time = -1 << 62

// theta is a Θ-tree (Vilím 2004): a balanced tree over the operations of one
// device, sorted by head, in which a set of them is marked. It answers when the
// marked set can be finished at the earliest:
//
//	max over h of h + work of the marked operations with head >= h
type theta struct {
	leaves int          // a power of two
	work   []model.Time // of the marked leaves below a node
	finish []model.Time // earliest finish of the marked leaves below a node
}

// reset makes room for n leaves and clears all marks. Cost O(n).
func (t *theta) reset(n int) {
	t.leaves = 1
	for t.leaves < n {
		t.leaves *= 2
	}
	if size := 2 * t.leaves; cap(t.work) < size {
		t.work, t.finish = make([]model.Time, size), make([]model.Time, size)
	} else {
		t.work, t.finish = t.work[:size], t.finish[:size]
		clear(t.work)
	}
	for i := range t.finish {
		t.finish[i] = never
	}
}

// mark adds leaf i, an operation with the given head and duration. Cost O(log n).
func (t *theta) mark(i int, head, duration model.Time) { t.set(i, duration, head+duration) }

// unmark takes leaf i out again. Cost O(log n).
func (t *theta) unmark(i int) { t.set(i, 0, never) }

func (t *theta) set(i int, work, finish model.Time) {
	i += t.leaves
	t.work[i], t.finish[i] = work, finish
	for i /= 2; i >= 1; i /= 2 {
		right := t.work[2*i+1]
		t.work[i] = t.work[2*i] + right
		t.finish[i] = max(t.finish[2*i+1], t.finish[2*i]+right)
	}
}

// earliest returns when the marked set can be finished; a value below every head
// if it is empty. Cost O(1).
func (t *theta) earliest() model.Time { return t.finish[1] }

// earliestBut is earliest without leaf i, marked or not. Cost O(log n).
func (t *theta) earliestBut(i int) model.Time {
	finish, work := never, model.Time(0)
	for i += t.leaves; i > 1; i /= 2 {
		if i&1 == 0 { // the sibling lies right
			finish = max(t.finish[i+1], finish+t.work[i+1])
			work += t.work[i+1]
		} else {
			finish = max(finish, t.finish[i-1]+work)
			work += t.work[i-1]
		}
	}
	return finish
}

// earliestWith is earliest for the marked set and an extra amount of work that
// cannot begin before head. The leaves from position on, and only they, must
// have heads >= head. Cost O(log n).
func (t *theta) earliestWith(position int, head, extra model.Time) model.Time {
	finish, work := t.prefix(position)
	behind := t.work[1] - work // work that can be done no earlier than the extra
	return max(t.earliest(), finish+behind+extra, head+extra+behind)
}

// prefix returns earliest finish and work of the marked leaves before position.
func (t *theta) prefix(position int) (finish, work model.Time) {
	if position >= t.leaves {
		return t.finish[1], t.work[1]
	}
	finish = never
	node := 1
	for bit := t.leaves / 2; bit > 0; bit /= 2 {
		node *= 2
		if position&bit != 0 {
			finish = max(t.finish[node], finish+t.work[node])
			work += t.work[node]
			node++
		}
	}
	return finish, work
}
