package lcg

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// jobs are operations of a tree, by begin.
type jobs struct {
	begin, work []int64
	member      []bool
	gray        []bool
}

func randomJobs(r *rand.Rand) *jobs {
	n := 1 + r.IntN(20)
	j := &jobs{make([]int64, n), make([]int64, n), make([]bool, n), make([]bool, n)}
	for i := range n {
		j.begin[i], j.work[i] = r.Int64N(30), r.Int64N(6)
		switch r.IntN(3) {
		case 0:
			j.member[i] = true
		case 1:
			j.gray[i] = true
		}
	}
	slices.Sort(j.begin)
	return j
}

// end returns the earliest end of all members and one gray operation, -1 for none, by
// definition: they run one after the other in the order of their begins.
func (j *jobs) end(gray int) int64 {
	now := int64(never)
	for i := range j.begin {
		if j.member[i] || i == gray {
			now = max(now, j.begin[i]) + j.work[i]
		}
	}
	return now
}

func TestTheta(t *testing.T) {
	for seed := range uint64(2000) {
		j := randomJobs(rand.New(rand.NewPCG(seed, 1)))
		var tree theta
		tree.resize(len(j.begin))
		any := false
		for i := range j.begin {
			if j.member[i] {
				tree.insert(i, j.begin[i], j.work[i])
				any = true
			}
		}
		if !any {
			continue
		}
		if got, want := tree.end(), j.end(-1); got != want {
			t.Fatalf("seed %d: end %d, want %d", seed, got, want)
		}
		from, work := tree.critical(), int64(0)
		for i := from; i < len(j.begin); i++ {
			if j.member[i] {
				work += j.work[i]
			}
		}
		if !j.member[from] || j.begin[from]+work != tree.end() {
			t.Fatalf("seed %d: the critical member %d begins at %d with %d of work, the end is %d", seed, from, j.begin[from], work, tree.end())
		}
	}
}

func TestLambda(t *testing.T) {
	for seed := range uint64(2000) {
		j := randomJobs(rand.New(rand.NewPCG(seed, 2)))
		order := make([]int32, len(j.begin))
		for i := range order {
			order[i] = int32(i)
		}
		var tree lambda
		tree.fill(order, j.begin, j.work)
		best := []int64{}
		for i := range j.begin {
			switch {
			case j.gray[i]:
				tree.gray(i, j.begin[i], j.work[i])
				best = append(best, j.end(i))
			case !j.member[i]:
				tree.remove(i)
			}
		}
		best = append(best, j.end(-1))
		top := &tree.node[1]
		if got, want := max(top.endGray, top.end), slices.MaxFunc(best, cmp.Compare[int64]); got != want && want > never/2 {
			t.Fatalf("seed %d: end %d with a gray one, want %d", seed, got, want)
		}
		if top.endGray > top.end && top.endGray != j.end(int(top.byEnd)) {
			t.Fatalf("seed %d: %d is said to make the end %d, with it the end is %d", seed, top.byEnd, top.endGray, j.end(int(top.byEnd)))
		}
	}
}

// TestTrail takes back random changes of bounds and looks at what was.
func TestTrail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const sides = 6
	tr := trail{ub: slices.Repeat([]int64{100}, sides), last: slices.Repeat([]int32{-1}, sides)}
	history := [][]int64{slices.Clone(tr.ub)}
	for range 500 {
		l := lit{side(r.IntN(sides)), 0}
		l.b = tr.ub[l.s] - 1 - r.Int64N(3)
		tr.note(l, reason{})
		history = append(history, slices.Clone(tr.ub))
	}
	for at := range int32(500) {
		for s := range side(sides) {
			if got, want := tr.boundAt(s, at), history[at][s]; got != want {
				t.Fatalf("before event %d the bound of %d is said to be %d, it was %d", at, s, got, want)
			}
		}
		e := tr.events[at]
		if made := tr.madeTrue(lit{e.s, e.old - 1}); made != at {
			t.Fatalf("%d ≤ %d is said to come from event %d, it is %d", e.s, e.old-1, made, at)
		}
	}
	for at := len(tr.events); at > 0; at-- {
		tr.pop()
		if !slices.Equal(tr.ub, history[at-1]) {
			t.Fatalf("after %d events bounds %v, want %v", at-1, tr.ub, history[at-1])
		}
	}
	if !slices.Equal(tr.last, slices.Repeat([]int32{-1}, sides)) {
		t.Errorf("latest events %v after all are taken back", tr.last)
	}
}

func TestLuby(t *testing.T) {
	want := []int64{1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8}
	for i, w := range want {
		if got := luby(int64(i + 1)); got != w {
			t.Errorf("luby(%d) = %d, want %d", i+1, got, w)
		}
	}
}
