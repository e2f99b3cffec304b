package lcg

import (
	"math/rand/v2"
	"slices"
)

// picker chooses decisions: the position or choice that took part in the most
// conflicts of late (Moskewicz et al. 2001), with the value that it last had or that
// a known plan gives it.
type picker struct {
	heap     []int32 // variables, a binary heap by activity
	at       []int32 // by variable: its place in the heap, -1 if it is not there
	activity []float64
	step     float64
	phase    []int64 // by variable
	keep     int     // nogoods to keep before the next reduction
}

const activityDecay = 1 / 0.95

func (k *picker) init(s *search) {
	n := s.vars.Count()
	k.activity, k.at, k.phase = make([]float64, n), make([]int32, n), make([]int64, n)
	k.step, k.keep = 1, keepFirst
	for v := range k.at {
		k.at[v] = -1
	}
	for _, c := range s.choices {
		k.push(c.v)
	}
	for v := s.firstPos; v < int32(n); v++ {
		k.push(v)
	}
}

// disturb makes the first decisions of search i differ from those of search 0.
func (k *picker) disturb(seed uint64, i int) {
	if i == 0 {
		return
	}
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	for v := range k.activity {
		k.activity[v] = r.Float64() * 1e-2
	}
	slices.SortFunc(k.heap, func(a, b int32) int {
		if k.before(a, b) {
			return -1
		}
		return 1
	})
	for at, v := range k.heap {
		k.at[v] = int32(at)
	}
}

// order makes variables matter from the beginning: those given first the most.
func (k *picker) order(vars []int32) {
	for i, v := range vars {
		k.activity[v] += float64(len(vars)-i) / float64(len(vars)) * 1e-3
		if k.at[v] >= 0 {
			k.up(int(k.at[v]))
		}
	}
}

// pick returns the next decision, noLit if all is decided.
func (k *picker) pick(s *search) lit {
	for len(k.heap) > 0 {
		v := k.heap[0]
		lo, hi := s.lo(v), s.hi(v)
		if lo == hi {
			k.removeTop()
			continue
		}
		switch p := k.phase[v]; {
		case p <= lo:
			return atMost(v, lo)
		case p >= hi:
			return atLeast(v, hi)
		default:
			return atLeast(v, p)
		}
	}
	return noLit
}

// released keeps the value of a variable that an event had fixed, and makes it
// eligible again; called before the event is taken back.
func (k *picker) released(s *search, e *event) {
	v := e.s.variable()
	if v <= int32(len(s.ops)) || v < s.firstPos && len(s.choices) == 0 {
		return
	}
	if lo := s.lo(v); lo == s.hi(v) {
		k.phase[v] = lo
	}
	if k.at[v] < 0 {
		if _, isChoice := s.choiceOf[v]; v >= s.firstPos || isChoice {
			k.push(v)
		}
	}
}

// bump makes a variable matter more.
func (k *picker) bump(v int32) {
	k.activity[v] += k.step
	if max(k.activity[v], k.step) > 1e100 {
		for i := range k.activity {
			k.activity[i] *= 1e-100
		}
		k.step *= 1e-100
	}
	if k.at[v] >= 0 {
		k.up(int(k.at[v]))
	}
}

// decay makes what takes part in later conflicts matter more.
func (k *picker) decay() { k.step *= activityDecay }

func (k *picker) push(v int32) {
	k.at[v] = int32(len(k.heap))
	k.heap = append(k.heap, v)
	k.up(len(k.heap) - 1)
}

func (k *picker) removeTop() {
	v := k.heap[0]
	last := len(k.heap) - 1
	k.heap[0] = k.heap[last]
	k.at[k.heap[0]] = 0
	k.heap = k.heap[:last]
	k.at[v] = -1
	if last > 0 {
		k.down(0)
	}
}

func (k *picker) before(a, b int32) bool {
	return k.activity[a] > k.activity[b] || k.activity[a] == k.activity[b] && a < b
}

func (k *picker) up(i int) {
	v := k.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !k.before(v, k.heap[parent]) {
			break
		}
		k.heap[i] = k.heap[parent]
		k.at[k.heap[i]] = int32(i)
		i = parent
	}
	k.heap[i] = v
	k.at[v] = int32(i)
}

func (k *picker) down(i int) {
	v := k.heap[i]
	for {
		child := 2*i + 1
		if child >= len(k.heap) {
			break
		}
		if child+1 < len(k.heap) && k.before(k.heap[child+1], k.heap[child]) {
			child++
		}
		if !k.before(k.heap[child], v) {
			break
		}
		k.heap[i] = k.heap[child]
		k.at[k.heap[i]] = int32(i)
		i = child
	}
	k.heap[i] = v
	k.at[v] = int32(i)
}
