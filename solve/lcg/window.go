package lcg

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// windowQueue holds the devices whose windows have to be looked at again. A device
// is overloaded if the operations that have to run between two moments take longer
// than there is time (Vilím 2004).
type windowQueue struct {
	queued  []bool
	devices []int32
	changed [][]bool  // by device and operation: its window has changed
	state   []windows // by device
	tree    theta
	gray    lambda
	back    windows // time running backward, scratch
	parts   []part
	spare   []part
	facts   []lit
}

// windows is what is kept of a device between two looks, to sort fast. Operations
// are numbered as in deviceIn.ops.
type windows struct {
	byBegin []int32 // by earliest start
	byEnd   []int32 // by latest end
	place   []int32 // by operation: index in byBegin
	begin   []int64 // by operation
	end     []int64
	dur     []int64
}

// part is the operations of a sequence that fall into a window: an interval, as the
// windows of a sequence are in order.
type part struct {
	seq         int32
	first, last int32
	work        int64
}

func (q *windowQueue) init(s *search) {
	q.queued = make([]bool, len(s.devices))
	q.state, q.changed = make([]windows, len(s.devices)), make([][]bool, len(s.devices))
	most := 0
	for d := range s.devices {
		n := len(s.devices[d].ops)
		most = max(most, n)
		q.state[d], q.changed[d] = newWindows(n), make([]bool, n)
	}
	q.back = newWindows(most)
}

func newWindows(n int) windows {
	w := windows{make([]int32, n), make([]int32, n), make([]int32, n), make([]int64, n), make([]int64, n), make([]int64, n)}
	for i := range w.byBegin {
		w.byBegin[i], w.byEnd[i] = int32(i), int32(i)
	}
	return w
}

// mark notes that the window of an operation, given by its sequence and index, has
// changed.
func (q *windowQueue) mark(seq *seqInfo, index int32) {
	for k, d := range seq.devices {
		q.changed[d][seq.offsets[k]+index] = true
		if !q.queued[d] {
			q.queued[d] = true
			q.devices = append(q.devices, d)
		}
	}
}

func (q *windowQueue) clear() {
	for _, d := range q.devices {
		q.queued[d] = false
		clear(q.changed[d])
	}
	q.devices = q.devices[:0]
}

// run looks at one marked device. It reports whether there was any, and false on a
// conflict.
func (q *windowQueue) run(s *search) (more, ok bool) {
	if len(q.devices) == 0 {
		return false, true
	}
	d := q.devices[len(q.devices)-1]
	q.devices = q.devices[:len(q.devices)-1]
	q.queued[d] = false
	w := &q.state[d]
	w.load(s, &s.devices[d])
	ok = q.blocks(s, d, w)
	if ok && !q.queued[d] {
		clear(q.changed[d])
	}
	return true, ok
}

// blocks looks at the parts of a device's time in which windows overlap, if any
// window there has changed.
func (q *windowQueue) blocks(s *search, d int32, w *windows) bool {
	n := len(w.byBegin)
	for first := 0; first < n; {
		end, changed, last := first, false, int64(never)
		for end < n && (end == first || w.begin[w.byBegin[end]] < last) {
			i := w.byBegin[end]
			last = max(last, w.end[i])
			changed = changed || q.changed[d][i]
			end++
		}
		if changed && end-first > 1 {
			b := w.block(first, end)
			if !q.overload(s, d, &b) || s.level() <= 1 && !q.findEdges(s, d, &b) {
				return false
			}
		}
		first = end
	}
	return true
}

// block returns the windows of the operations from first to end by begin.
func (w *windows) block(first, end int) windows {
	b := windows{byBegin: w.byBegin[first:end], place: w.place, begin: w.begin, end: w.end, dur: w.dur}
	for k, i := range b.byBegin {
		w.place[i] = int32(k)
	}
	b.byEnd = w.byEnd[first:end]
	copy(b.byEnd, b.byBegin)
	insertionSort(b.byEnd, w.end)
	return b
}

// load reads the windows of a device and sorts them.
func (w *windows) load(s *search, d *deviceIn) {
	for i, op := range d.ops {
		o := &s.ops[op]
		w.dur[i] = s.duration(o)
		w.begin[i] = s.earliest(op)
		w.end[i] = s.latest(op) + w.dur[i]
	}
	insertionSort(w.byBegin, w.begin)
}

// insertionSort sorts indexes by key. It is fast where little has changed.
func insertionSort(index []int32, key []int64) {
	for k := 1; k < len(index); k++ {
		x := index[k]
		j := k
		for j > 0 && key[index[j-1]] > key[x] {
			index[j] = index[j-1]
			j--
		}
		index[j] = x
	}
}

// overload looks for a window with more work than time.
func (q *windowQueue) overload(s *search, device int32, w *windows) bool {
	t := &q.tree
	t.resize(len(w.byBegin))
	s.units += int64(len(w.byBegin)) / 4
	for _, i := range w.byEnd {
		t.insert(int(w.place[i]), w.begin[i], w.dur[i])
		if end := t.end(); end > w.end[i] {
			from := w.begin[w.byBegin[t.critical()]]
			q.clash(s, device, w, from, w.end[i], end-from)
			return false
		}
	}
	return true
}

// clash keeps the conflict of a window whose work is longer than it is.
func (q *windowQueue) clash(s *search, device int32, w *windows, from, to, work int64) {
	q.collect(s, device, w, from, to)
	facts, from, to := q.why(s, work-(to-from)-1, from, to)
	s.clashTold(q.explain(s, device, from, to), facts)
}

// collect finds the operations that fall into a window, by sequence.
func (q *windowQueue) collect(s *search, device int32, w *windows, from, to int64) {
	q.parts = q.parts[:0]
	ops := s.devices[device].ops
	for _, i := range w.byBegin {
		if w.begin[i] < from || w.end[i] > to {
			continue
		}
		o := &s.ops[ops[i]]
		at := slices.IndexFunc(q.parts, func(p part) bool { return p.seq == o.seq })
		if at < 0 {
			at = len(q.parts)
			q.parts = append(q.parts, part{seq: o.seq, first: o.index, last: o.index})
		}
		p := &q.parts[at]
		p.first, p.last, p.work = min(p.first, o.index), max(p.last, o.index), p.work+w.dur[i]
	}
}

// why lists the facts behind the work in a window, and returns the window made as
// wide as the excess of work allows. Parts that are not needed are left out.
func (q *windowQueue) why(s *search, excess, from, to int64) ([]lit, int64, int64) {
	excess = q.drop(excess, -1)
	from -= excess / 2
	to += excess - excess/2
	q.facts = q.facts[:0]
	q.addParts(s, from, to)
	return q.facts, from, to
}

// addParts appends the facts that put the parts into a window.
func (q *windowQueue) addParts(s *search, from, to int64) {
	for _, p := range q.parts {
		ops := s.seqs[p.seq].ops
		last := ops[p.last]
		q.facts = append(q.facts, atLeast(start(ops[p.first]), from), atMost(start(last), to-s.duration(&s.ops[last])))
		q.facts = s.lengthFacts(q.facts, ops[p.first:p.last+1])
	}
}

// drop leaves out parts with less work than the excess, but not that of a sequence to
// keep. It returns what is left of the excess.
func (q *windowQueue) drop(excess int64, keep int32) int64 {
	slices.SortStableFunc(q.parts, func(a, b part) int { return cmp.Compare(a.work, b.work) })
	q.parts = slices.DeleteFunc(q.parts, func(p part) bool {
		if p.seq == keep || p.work > excess {
			return false
		}
		excess -= p.work
		return true
	})
	return excess
}

// lengthFacts appends the choices on which the lengths of operations depend.
func (s *search) lengthFacts(out []lit, ops []model.OpID) []lit {
	for _, op := range ops {
		o := &s.ops[op]
		if o.choice < 0 {
			continue
		}
		for c, d := range o.durAt {
			if l := choiceLit(o.choice, c); d > o.dur && s.holds(l) {
				out = append(out, l)
			}
		}
	}
	return out
}
