package partition

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/model/network"
)

// errBudget says that a sweep would take too many steps.
var errBudget = errors.New("partition: too many states")

// pollSteps is how many steps lie between two looks at the context.
const pollSteps = 1 << 13

// A query says what a sweep looks for.
type query struct {
	keep  int   // choices wanted
	limit int64 // no device works longer
	floor int64 // some device works longer than this

	byBusiest bool // the least Busiest; else the least of the rest of the score
	overrun   bool // Busiest stands for the most bytes beyond a limit, and limits do not count

	quota  int // states kept for each number of layers assigned; 0: all, which is exact
	budget int // ranges that may be tried
}

// A label is a choice for the slots so far.
type label struct {
	score    Score
	least    int64 // leastWork of the layers assigned
	assigned int   // number of layers assigned
	state    int
	from     int // label of the slot before
}

// A level holds what is reached after a slot. Labels and states are numbered as they come.
// Labels that lost their place to better ones stay, but not in alive.
type level struct {
	labels []label
	picks  []int32 // by label: boundaries set, modes, class
	width  int     // of picks
	alive  []int   // in the order of what they chose, slot by slot

	index map[uint64]int // of states
	best  []int          // by state and rank: labels
	count []int          // by state: labels
	open  []int32        // by state: the open boundaries
	used  []int32        // by state: devices used up, by class
	above []bool         // by state: whether a device exceeds query.floor
}

// A sweep is one run of the dynamic program. Labels are extended in the order of what
// they chose, and choices tried in ascending order; the first of equals
// stays. So ties go to the lexicographically least choice, slot by slot.
type sweep struct {
	*frontier
	query
	ctx    context.Context
	levels []level
	steps  int
	err    error

	slot  int   // at work
	from  int   // label at work
	class int   // of the device at work
	spare int64 // what the devices after this one can do
	x     []int // by boundary: where it is; -1 if not known
	modes []int // by stage of the slot
	used  []int // by class
}

// run returns the best choices in order, fewer than keep if there are no more. It
// returns errBudget or the error of the context if one of them ended it.
func (f *frontier) run(ctx context.Context, q query) ([]Choice, error) {
	w := &sweep{frontier: f, query: q, ctx: ctx, x: make([]int, len(f.p.Group)+1), used: make([]int, len(f.classes))}
	for i := range w.x {
		w.x[i] = -1
	}
	w.x[0], w.x[len(w.x)-1] = 0, f.n
	w.levels = []level{w.start()}
	for i := range f.slots {
		w.slot = i
		w.modes = make([]int, len(f.slots[i].stages))
		w.levels = append(w.levels, level{width: len(f.slots[i].set) + len(w.modes) + 1, index: map[uint64]int{}})
		for _, from := range w.levels[i].alive {
			w.leave(from)
		}
		if w.err != nil {
			return nil, w.err
		}
		w.levels[i+1].settle(w.keep, w.quota)
	}
	return w.choices(), nil
}

func (w *sweep) start() level {
	first := label{}
	if w.overrun {
		first.score.Busiest = math.MinInt64
	}
	return level{labels: []label{first}, alive: []int{0}, used: make([]int32, len(w.classes)), above: []bool{w.floor < 0}}
}

// leave tries all ways to go on from a label.
func (w *sweep) leave(from int) {
	w.from = from
	before := &w.levels[w.slot]
	l := &before.labels[from]
	var known []int
	if w.slot > 0 {
		known = w.slots[w.slot-1].open
	}
	for i, b := range known {
		w.x[b] = int(before.open[l.state*len(known)+i])
	}
	for c := range w.classes {
		w.used[c] = int(before.used[l.state*len(w.classes)+c])
	}
	for c := range w.classes {
		if at := w.slots[w.slot].class; at >= 0 && at != c || at < 0 && w.used[c] == len(w.classes[c].devices) {
			continue
		}
		w.class = c
		w.used[c]++
		w.spare = w.rate(w.slot+1, w.used, w.limit)
		w.fill(0, device{score: l.score, least: l.least, assigned: l.assigned})
		w.used[c]--
	}
	for _, b := range known {
		w.x[b] = -1
	}
}

// A device sums up the stages of a slot so far, and the slots before.
type device struct {
	score       Score
	load, bytes int64
	least       int64
	assigned    int
}

// fill chooses range and mode of the stages of the slot from the j-th on.
func (w *sweep) fill(j int, d device) {
	if j == len(w.modes) {
		w.commit(&d)
		return
	}
	s := w.slots[w.slot].stages[j]
	if w.x[s] >= 0 {
		w.extend(j, s, d)
		return
	}
	low, high := w.room(s)
	for v := low; v <= high && w.err == nil; v++ {
		w.x[s] = v
		w.extend(j, s, d)
	}
	w.x[s] = -1
}

// extend chooses the end of stage s, whose start is known, and its mode.
func (w *sweep) extend(j, s int, d device) {
	if w.x[s+1] >= 0 {
		w.hold(j, s, &d)
		return
	}
	low, high := w.room(s + 1)
	for v := low; v <= high; v++ {
		w.x[s+1] = v
		if !w.hold(j, s, &d) {
			break
		}
	}
	w.x[s+1] = -1
}

// room returns where boundary b may be, given those that are known: every stage in
// between has at least one layer.
func (w *sweep) room(b int) (low, high int) {
	below, above := b-1, b+1
	for w.x[below] < 0 {
		below--
	}
	for w.x[above] < 0 {
		above++
	}
	return w.x[below] + b - below, w.x[above] - (above - b)
}

// hold tries the modes of stage s, both ends of which are known. It returns false if
// the device can hold neither this range nor any with a later end.
func (w *sweep) hold(j, s int, d *device) bool {
	if !w.count() {
		return false
	}
	first, end := w.x[s], w.x[s+1]
	c := &w.classes[w.class]
	fits := false
	for m := range w.t.modes {
		work := w.t.work(first, end, m) * c.factor
		next := *d
		next.load += work
		next.bytes += w.t.bytes(first, end, m, int64(w.p.InFlight[s]))
		if next.load > w.limit || !w.overrun && next.bytes > c.limit {
			continue
		}
		fits = true
		next.least += w.t.leastWork(first, end)
		next.assigned += end - first
		next.score.addStage(work, s == 0 || s == len(w.p.Group)-1, end-first, w.recompute(m))
		w.modes[j] = m
		w.fill(j+1, next)
	}
	return fits
}

func (w *sweep) recompute(mode int) network.Recompute { return w.p.modes()[mode] }

// count takes a step of the budget. It returns false if the sweep has to end.
func (w *sweep) count() bool {
	w.steps++
	switch {
	case w.err != nil:
	case w.steps > w.budget:
		w.err = errBudget
	case w.steps%pollSteps == 0:
		w.err = w.ctx.Err()
	}
	return w.err == nil
}

// commit offers a finished slot to the state that it leads to.
func (w *sweep) commit(d *device) {
	if w.overrun {
		d.score.Busiest = max(d.score.Busiest, d.bytes-w.classes[w.class].limit)
	} else {
		d.score.Busiest = max(d.score.Busiest, d.load)
		if w.t.least[w.n]-d.least > w.spare {
			return
		}
	}
	before := &w.levels[w.slot]
	above := before.above[before.labels[w.from].state] || d.score.Busiest > w.floor
	if w.slot == len(w.slots)-1 && !above {
		return
	}
	to := &w.levels[w.slot+1]
	state := w.state(to, above)
	rank, ok := w.rank(to, state, &d.score)
	if !ok {
		return
	}
	to.insert(w.keep, state, rank, label{d.score, d.least, d.assigned, state, w.from})
	for _, b := range w.slots[w.slot].set {
		to.picks = append(to.picks, int32(w.x[b]))
	}
	for _, m := range w.modes {
		to.picks = append(to.picks, int32(m))
	}
	to.picks = append(to.picks, int32(w.class))
}

// state returns the number of the state that is reached, a new one if need be.
func (w *sweep) state(to *level, above bool) int {
	key := w.key(above)
	state, ok := to.index[key]
	for ok && !w.narrow && !w.same(to, state, above) {
		key++
		state, ok = to.index[key]
	}
	if ok {
		return state
	}
	state = len(to.count)
	to.index[key] = state
	to.count = append(to.count, 0)
	to.best = append(to.best, make([]int, w.keep)...)
	to.above = append(to.above, above)
	for _, b := range w.slots[w.slot].open {
		to.open = append(to.open, int32(w.x[b]))
	}
	for _, n := range w.used {
		to.used = append(to.used, int32(n))
	}
	return state
}

// same reports whether a state is the one that is reached.
func (w *sweep) same(to *level, state int, above bool) bool {
	open := w.slots[w.slot].open
	for i, b := range open {
		if int(to.open[state*len(open)+i]) != w.x[b] {
			return false
		}
	}
	for c, n := range w.used {
		if int(to.used[state*len(w.used)+c]) != n {
			return false
		}
	}
	return to.above[state] == above
}

// key returns the state that is reached as a number, which wraps around if the
// frontier is not narrow.
func (w *sweep) key(above bool) uint64 {
	key := uint64(0)
	if above {
		key = 1
	}
	for _, b := range w.slots[w.slot].open {
		key = key*uint64(w.n+1) + uint64(w.x[b])
	}
	if w.p.FreeAssignment {
		for c, n := range w.used {
			key = key*uint64(len(w.classes[c].devices)+1) + uint64(n)
		}
	}
	return key
}

// rank returns where a score belongs among the labels of a state, behind its equals;
// false if there is no place for it.
func (w *sweep) rank(to *level, state int, s *Score) (int, bool) {
	rank := to.count[state]
	for rank > 0 {
		other := &to.labels[to.best[state*w.keep+rank-1]].score
		if w.byBusiest && s.Busiest >= other.Busiest || !w.byBusiest && s.compareRest(*other) >= 0 {
			break
		}
		rank--
	}
	return rank, rank < w.keep
}

func (to *level) insert(keep, state, rank int, l label) {
	best := to.best[state*keep : (state+1)*keep]
	copy(best[rank+1:], best[rank:])
	best[rank] = len(to.labels)
	to.count[state] = min(keep, to.count[state]+1)
	to.labels = append(to.labels, l)
}

// settle lists the labels to go on with.
func (to *level) settle(keep, quota int) {
	for state, n := range to.count {
		to.alive = append(to.alive, to.best[state*keep:state*keep+n]...)
	}
	if quota > 0 {
		to.narrow(quota)
	}
	slices.Sort(to.alive)
}

// narrow keeps, for each number of layers assigned, the labels of best score.
func (to *level) narrow(quota int) {
	slices.SortFunc(to.alive, func(a, b int) int {
		x, y := &to.labels[a], &to.labels[b]
		if x.assigned != y.assigned {
			return x.assigned - y.assigned
		}
		if c := x.score.Compare(y.score); c != 0 {
			return c
		}
		return a - b
	})
	kept, run := 0, 0
	for i, id := range to.alive {
		if i > 0 && to.labels[id].assigned != to.labels[to.alive[i-1]].assigned {
			run = 0
		}
		if run < quota {
			to.alive[kept] = id
			kept++
		}
		run++
	}
	to.alive = to.alive[:kept]
}

// choices returns what the labels of the last level stand for, the best first.
func (w *sweep) choices() []Choice {
	last := &w.levels[len(w.slots)]
	ids := slices.Clone(last.alive)
	slices.SortStableFunc(ids, func(a, b int) int {
		x, y := last.labels[a].score, last.labels[b].score
		if w.byBusiest && x.Busiest != y.Busiest {
			if x.Busiest < y.Busiest {
				return -1
			}
			return 1
		}
		return x.compareRest(y)
	})
	list := make([]Choice, 0, w.keep)
	for _, id := range ids[:min(len(ids), w.keep)] {
		list = append(list, w.trace(id))
	}
	return list
}

// trace returns the choice that a label of the last level stands for.
func (w *sweep) trace(id int) Choice {
	stages := len(w.p.Group)
	c := Choice{make([]int, stages), make([]network.Recompute, stages), make([]int, stages)}
	bounds, classOf := make([]int, stages+1), make([]int, len(w.slots))
	bounds[stages] = w.n
	for i := len(w.slots) - 1; i >= 0; i-- {
		at := &w.levels[i+1]
		slot, pick := &w.slots[i], at.picks[id*at.width:(id+1)*at.width]
		for k, b := range slot.set {
			bounds[b] = int(pick[k])
		}
		for k, s := range slot.stages {
			c.Recompute[s] = w.recompute(int(pick[len(slot.set)+k]))
		}
		classOf[i] = int(pick[at.width-1])
		id = at.labels[id].from
	}
	for s := range c.Cut {
		c.Cut[s] = bounds[s+1] - bounds[s]
	}
	w.seat(&c, classOf)
	return c
}
