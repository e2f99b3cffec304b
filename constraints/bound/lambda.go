package bound

import "github.com/flexpipe/flexpipe/model"

// lambda is a Θ-Λ-tree (Vilím 2007): as theta, but marked operations may be
// grey. It also answers when the black ones and any single grey one can be
// finished at the earliest, and which grey one makes that the latest.
type lambda struct {
	leaves int
	nodes  []lambdaNode
}

type lambdaNode struct {
	work, finish         model.Time // of the black leaves below
	greyWork, greyFinish model.Time // with one grey leaf, if there is one
	greyWorkBy           int32      // that leaf; -1 if none
	greyFinishBy         int32
}

var emptyNode = lambdaNode{finish: never, greyFinish: never, greyWorkBy: -1, greyFinishBy: -1}

// fill marks all leaves black, with heads ascending. Cost O(n).
func (t *lambda) fill(head, duration []model.Time) {
	t.leaves = 1
	for t.leaves < len(head) {
		t.leaves *= 2
	}
	if cap(t.nodes) < 2*t.leaves {
		t.nodes = make([]lambdaNode, 2*t.leaves)
	}
	t.nodes = t.nodes[:2*t.leaves]
	for i := range t.leaves {
		t.nodes[t.leaves+i] = emptyNode
		if i < len(head) {
			t.nodes[t.leaves+i] = blackNode(head[i], duration[i])
		}
	}
	for i := t.leaves - 1; i >= 1; i-- {
		t.join(i)
	}
}

func blackNode(head, duration model.Time) lambdaNode {
	n := emptyNode
	n.work, n.finish = duration, head+duration
	n.greyWork, n.greyFinish = n.work, n.finish
	return n
}

// grey turns leaf i grey.
func (t *lambda) grey(i int, head, duration model.Time) {
	n := emptyNode
	n.greyWork, n.greyFinish = duration, head+duration
	n.greyWorkBy, n.greyFinishBy = int32(i), int32(i)
	t.set(i, n)
}

// drop removes leaf i.
func (t *lambda) drop(i int) { t.set(i, emptyNode) }

func (t *lambda) set(i int, n lambdaNode) {
	i += t.leaves
	t.nodes[i] = n
	for i /= 2; i >= 1; i /= 2 {
		t.join(i)
	}
}

func (t *lambda) join(i int) {
	l, r := &t.nodes[2*i], &t.nodes[2*i+1]
	n := &t.nodes[i]
	n.work = l.work + r.work
	n.finish = max(r.finish, l.finish+r.work)
	n.greyWork, n.greyWorkBy = l.greyWork+r.work, l.greyWorkBy
	if w := l.work + r.greyWork; r.greyWorkBy >= 0 && (n.greyWorkBy < 0 || w > n.greyWork) {
		n.greyWork, n.greyWorkBy = w, r.greyWorkBy
	}
	n.greyFinish, n.greyFinishBy = r.greyFinish, r.greyFinishBy
	if f := l.finish + r.greyWork; r.greyWorkBy >= 0 && f > n.greyFinish {
		n.greyFinish, n.greyFinishBy = f, r.greyWorkBy
	}
	if f := l.greyFinish + r.work; f > n.greyFinish || n.greyFinishBy < 0 && l.greyFinishBy >= 0 && f == n.greyFinish {
		n.greyFinish, n.greyFinishBy = f, l.greyFinishBy
	}
}
