package lcg

// theta is a theta tree (Vilím 2004): a set of operations, ordered by earliest
// start, that knows the earliest end of any order of them: the largest, over its
// members, of a begin plus the work of the members that do not begin before it.
type theta struct {
	size int // leaves, a power of two
	node []thetaNode
}

type thetaNode struct{ work, end int64 }

const never = -1 << 60

func (t *theta) resize(n int) {
	t.size = 1
	for t.size < n {
		t.size *= 2
	}
	t.node = make([]thetaNode, 2*t.size)
}

func (t *theta) clear() {
	for i := range t.node {
		t.node[i] = thetaNode{0, never}
	}
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
