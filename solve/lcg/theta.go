package lcg

import "slices"

// theta is a theta tree (Vilím 2004): a set of operations, ordered by earliest
// start, that knows the earliest end of any order of them: the largest, over its
// members, of a begin plus the work of the members that do not begin before it.
type theta struct {
	size int // leaves, a power of two
	node []thetaNode
}

type thetaNode struct{ work, end int64 }

// never is before any time: see maxHorizon.
const never = -1 << 60

// resize empties the tree and makes room for n operations. Cost O(n).
func (t *theta) resize(n int) {
	t.size = roundUp(n)
	t.node = slices.Grow(t.node[:0], 2*t.size)[:2*t.size]
	for i := range t.node {
		t.node[i] = thetaNode{0, never}
	}
}

// roundUp returns the smallest power of two that is not below n.
func roundUp(n int) int {
	size := 1
	for size < n {
		size *= 2
	}
	return size
}

// insert adds the operation with a place in the order of begins. Cost O(log n).
func (t *theta) insert(place int, begin, work int64) {
	i := t.size + place
	t.node[i] = thetaNode{work, begin + work}
	for i >>= 1; i > 0; i >>= 1 {
		l, r := &t.node[2*i], &t.node[2*i+1]
		t.node[i] = thetaNode{l.work + r.work, max(r.end, l.end+r.work)}
	}
}

// end returns the earliest end of all members.
func (t *theta) end() int64 { return t.node[1].end }

// critical returns the place of the member whose begin decides the end.
func (t *theta) critical() int {
	i := 1
	for i < t.size {
		if r := &t.node[2*i+1]; r.end == t.node[i].end {
			i = 2*i + 1
		} else {
			i = 2 * i
		}
	}
	return i - t.size
}

// lambda is a theta tree with further, gray operations (Vilím 2004): it also knows
// the latest of the earliest ends of its members with one of the gray ones, and
// which one that is.
type lambda struct {
	size int
	node []lambdaNode
}

type lambdaNode struct {
	work, end         int64 // of the members
	workGray, endGray int64 // with at most one gray operation
	byWork, byEnd     int32 // the gray operation behind each, its place; -1 if there is none
}

var emptyLeaf = lambdaNode{0, never, 0, never, -1, -1}

// fill makes the operations members, in the order of their places. Cost O(n).
func (t *lambda) fill(order []int32, begin, work []int64) {
	t.size = roundUp(len(order))
	t.node = slices.Grow(t.node[:0], 2*t.size)[:2*t.size]
	for i := range t.size {
		if i < len(order) {
			b, w := begin[order[i]], work[order[i]]
			t.node[t.size+i] = lambdaNode{w, b + w, w, b + w, -1, -1}
		} else {
			t.node[t.size+i] = emptyLeaf
		}
	}
	for i := t.size - 1; i > 0; i-- {
		t.pull(i)
	}
}

// gray makes a member gray. Cost O(log n).
func (t *lambda) gray(place int, begin, work int64) {
	t.put(place, lambdaNode{0, never, work, begin + work, int32(place), int32(place)})
}

// remove takes an operation out.
func (t *lambda) remove(place int) { t.put(place, emptyLeaf) }

func (t *lambda) put(place int, leaf lambdaNode) {
	i := t.size + place
	t.node[i] = leaf
	for i >>= 1; i > 0; i >>= 1 {
		t.pull(i)
	}
}

func (t *lambda) pull(i int) {
	l, r, n := &t.node[2*i], &t.node[2*i+1], &t.node[i]
	n.work = l.work + r.work
	n.end = max(r.end, l.end+r.work)
	n.workGray, n.byWork = l.work+r.workGray, r.byWork
	if w := l.workGray + r.work; w > n.workGray {
		n.workGray, n.byWork = w, l.byWork
	}
	n.endGray, n.byEnd = r.endGray, r.byEnd
	if e := l.end + r.workGray; e > n.endGray {
		n.endGray, n.byEnd = e, r.byWork
	}
	if e := l.endGray + r.work; e > n.endGray {
		n.endGray, n.byEnd = e, l.byEnd
	}
}
