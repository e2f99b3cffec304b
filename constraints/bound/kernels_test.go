package bound

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

func drawTimes(t *rapid.T, n int, most model.Time, label string) []model.Time {
	return rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, int64(most)), func(v int64) model.Time { return model.Time(v) }), n, n).Draw(t, label)
}

// TestJackson compares with the definition: the maximum over all sets of jobs.
func TestJackson(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		head, work, tail := drawTimes(t, n, 12, "heads"), drawTimes(t, n, 4, "work"), drawTimes(t, n, 12, "tails")
		var jobs []job
		for i := range n {
			jobs = append(jobs, job{head[i], work[i], tail[i]})
		}
		want := model.Time(0)
		for set := 1; set < 1<<n; set++ {
			h, sum, q := model.Time(100), model.Time(0), model.Time(100)
			for i := range n {
				if set>>i&1 == 1 {
					h, sum, q = min(h, head[i]), sum+work[i], min(q, tail[i])
				}
			}
			want = max(want, h+sum+q)
		}
		got := jackson(jobs)
		if got.value != want || got.head+got.work+got.tail != want {
			t.Fatalf("%+v, want %d", got, want)
		}
	})
}

// finish is the definition of theta.earliest.
func finish(head, work []model.Time, marked []bool) model.Time {
	best := never
	for i := range head {
		if !marked[i] {
			continue
		}
		sum := head[i]
		for j := range head {
			if marked[j] && head[j] >= head[i] {
				sum += work[j]
			}
		}
		best = max(best, sum)
	}
	return best
}

func TestTheta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		head, work := drawTimes(t, n, 20, "heads"), drawTimes(t, n, 5, "work")
		slices.Sort(head)
		marked := make([]bool, n)
		var tree theta
		tree.reset(n)
		for _, i := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(t, "marks") {
			if marked[i] = !marked[i]; marked[i] {
				tree.mark(i, head[i], work[i])
			} else {
				tree.unmark(i)
			}
		}
		if got, want := tree.earliest(), finish(head, work, marked); max(got, 0) != max(want, 0) {
			t.Fatalf("earliest %d, want %d", got, want)
		}
		but := rapid.IntRange(0, n-1).Draw(t, "but")
		without := slices.Clone(marked)
		without[but] = false
		if got, want := tree.earliestBut(but), finish(head, work, without); max(got, 0) != max(want, 0) {
			t.Fatalf("earliest without %d is %d, want %d", but, got, want)
		}
		start := model.Time(rapid.IntRange(0, 22).Draw(t, "start"))
		extra := model.Time(rapid.IntRange(1, 5).Draw(t, "extra"))
		at, _ := slices.BinarySearch(head, start)
		got := tree.earliestWith(at, start, extra)
		want := finish(append(slices.Clone(head), start), append(slices.Clone(work), extra), append(slices.Clone(marked), true))
		if got != want {
			t.Fatalf("earliest with %d from %d is %d, want %d", extra, start, got, want)
		}
	})
}

// TestNarrow compares with all orders of the operations: a raised head must not
// exceed the earliest start in any of them.
func TestNarrow(t *testing.T) {
	raised, refuted := 0, 0
	for seed := range uint64(20000) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 1 + r.IntN(5)
		var w windows
		for range n {
			w.head = append(w.head, model.Time(r.IntN(12)))
			w.duration = append(w.duration, model.Time(r.IntN(5)))
		}
		slices.Sort(w.head)
		for i := range n {
			w.deadline = append(w.deadline, w.head[i]+w.duration[i]+model.Time(r.IntN(10)))
		}
		best := earliestStarts(&w)
		if !w.narrow() {
			refuted++
			if best != nil {
				t.Fatalf("seed %d: refuted %+v, but starts %v are possible", seed, w, best)
			}
			continue
		}
		for i := range best {
			if w.raised[i] > best[i] {
				t.Fatalf("seed %d: %+v: raised above %v", seed, w, best)
			}
			if w.raised[i] > w.head[i] {
				raised++
			}
		}
	}
	t.Logf("%d heads raised, %d refuted", raised, refuted)
}

// earliestStarts returns the earliest start of each operation over all orders
// that keep the windows, nil if there is none.
func earliestStarts(w *windows) []model.Time {
	var best []model.Time
	start := make([]model.Time, len(w.head))
	used := make([]bool, len(w.head))
	var place func(k int, now model.Time)
	place = func(k int, now model.Time) {
		if k == len(start) {
			if best == nil {
				best = slices.Clone(start)
			}
			for i := range best {
				best[i] = min(best[i], start[i])
			}
			return
		}
		for i := range start {
			s := max(now, w.head[i])
			if used[i] || s+w.duration[i] > w.deadline[i] {
				continue
			}
			used[i], start[i] = true, s
			place(k+1, s+w.duration[i])
			used[i] = false
		}
	}
	place(0, 0)
	return best
}

// TestWindow: a smaller window never gives a stronger bound.
func TestWindow(t *testing.T) {
	equal, n := 0, 0
	for seed := range uint64(400) {
		p := modelgen.Problem(modelgen.Random(seed, 12))
		bounds := func(window int) model.Time {
			best := finding{device: -1}
			e := newWindow(p, true, window)
			e.settle((*heads).fromZero)
			for d := range p.Limits {
				e.bound(d, &best)
			}
			return best.value
		}
		whole := bounds(p.MicroBatches())
		for window := 1; window < p.MicroBatches(); window++ {
			n++
			switch got := bounds(window); {
			case got > whole:
				t.Fatalf("seed %d: window %d gives %d, the whole %d", seed, window, got, whole)
			case got == whole:
				equal++
			}
		}
	}
	t.Logf("%d of %d windows give the bound of the whole", equal, n)
}
