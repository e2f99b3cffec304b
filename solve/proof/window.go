package proof

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// windowScratch holds the operations of a device while a window is verified, one
// sequence after the other.
type windowScratch struct {
	begin, end, length []model.Time
	offset             []int // by place of a sequence on the device, one more at the end
	relations          []relation
}

// relation says that one operation stands before another one; indices into the
// scratch, with the places of their sequences.
type relation struct{ before, after, beforeIn, afterIn int }

// window: the operations of a device that cannot start before a moment and cannot end
// after another one take longer than there is time between.
func (c *Checker) window(s *solve.Step) error {
	switch {
	case s.Device < 0 || int(s.Device) >= c.p.NumDevices():
		return c.noDevice(s.Device)
	case s.Begin < -largest || s.End > largest || s.Begin > largest || s.End < -largest:
		return fmt.Errorf("a window from %d to %d is out of range", s.Begin, s.End)
	}
	c.loadWindow(s.Device)
	c.relate(s.Device, s.Facts)
	c.narrowWindow()
	work, some := c.scratch.within(s.Begin, s.End)
	if !some {
		return fmt.Errorf("%s: nothing must run from %d to %d", c.p.DeviceName(int(s.Device)), s.Begin, s.End)
	}
	if work <= s.End-s.Begin {
		return fmt.Errorf("%s: what must run from %d to %d takes %d", c.p.DeviceName(int(s.Device)), s.Begin, s.End, work)
	}
	return nil
}

// within returns the sum of the lengths of what must run between two moments, and
// whether there is any.
func (w *windowScratch) within(from, to model.Time) (work model.Time, some bool) {
	end, length := w.end[:len(w.begin)], w.length[:len(w.begin)]
	for k, begin := range w.begin {
		if begin >= from && end[k] <= to {
			work += length[k]
			some = true
		}
	}
	return work, some
}

// loadWindow sets begins, ends and lengths of a device, narrowed along sequences.
func (c *Checker) loadWindow(device int32) {
	w, on := &c.scratch, c.on[device]
	w.offset = append(w.offset[:0], 0)
	for k, number := range on {
		w.offset = append(w.offset, w.offset[k]+len(c.sequences[number].ops))
	}
	n := w.offset[len(on)]
	w.begin, w.end, w.length = resize(w.begin, n), resize(w.end, n), resize(w.length, n)
	for k, number := range on {
		from, to := w.offset[k], w.offset[k+1]
		c.loadSequence(number, w.begin[from:to], w.end[from:to], w.length[from:to])
	}
}

func resize(s []model.Time, n int) []model.Time { return slices.Grow(s[:0], n)[:n] }

// loadSequence does so for a sequence.
func (c *Checker) loadSequence(number int32, begin, end, length []model.Time) {
	s := &c.sequences[number]
	earliest := model.Time(-largest) - 1
	for i, x := range s.starts {
		length[i] = s.length[split]
		if s.choices != nil {
			length[i] = c.length(place{number, int32(i)})
		}
		start := c.local.at[x]
		earliest = max(earliest, start.lo)
		begin[i], end[i] = earliest, start.hi+length[i]
	}
	for i := len(end) - 1; i > 0; i-- {
		end[i-1] = min(end[i-1], end[i]-length[i])
	}
}

// relate lists what positions among the facts say of operations on a device.
func (c *Checker) relate(device int32, facts []solve.Fact) {
	w := &c.scratch
	w.relations = w.relations[:0]
	for _, f := range facts {
		m := &c.meanings[f.Variable]
		if m.kind != constraints.PositionVariable {
			continue
		}
		index := int(f.Value) // of an operation of Q that stands before, or behind
		if f.AtLeast {
			index--
		}
		if index < 0 || index >= len(c.sequences[m.among].ops) {
			continue
		}
		own, okOwn := slices.BinarySearch(c.on[device], m.sequence)
		among, okAmong := slices.BinarySearch(c.on[device], m.among)
		if !okOwn || !okAmong {
			continue
		}
		a, q := w.offset[own]+int(m.index), w.offset[among]+index
		if f.AtLeast {
			w.relations = append(w.relations, relation{q, a, among, own})
		} else {
			w.relations = append(w.relations, relation{a, q, own, among})
		}
	}
}

// narrowWindow narrows along relations and sequences until nothing changes. Without a
// circle, a chain of narrowings uses each relation, and meets each operation, once at
// most; in a circle, what has been narrowed by then is true as well.
func (c *Checker) narrowWindow() {
	w := &c.scratch
	for range min(len(w.relations), len(w.length)) {
		changed := false
		for _, r := range w.relations {
			if begin := w.begin[r.before]; begin > w.begin[r.after] {
				changed = true
				w.raise(r.after, w.offset[r.afterIn+1], begin)
			}
			if end := w.end[r.after] - w.length[r.after]; end < w.end[r.before] {
				changed = true
				w.lower(r.before, w.offset[r.beforeIn], end)
			}
		}
		if !changed {
			return
		}
	}
}

// raise narrows the begin of an operation and of those behind it in its sequence.
func (w *windowScratch) raise(k, stop int, begin model.Time) {
	for ; k < stop && w.begin[k] < begin; k++ {
		w.begin[k] = begin
	}
}

// lower narrows the end of an operation and of those before it in its sequence.
func (w *windowScratch) lower(k, first int, end model.Time) {
	for ; k >= first && w.end[k] > end; k-- {
		w.end[k] = end
		end -= w.length[k]
	}
}
