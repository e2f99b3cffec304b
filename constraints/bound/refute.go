package bound

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// destroy raises a finding, from the heads and tails in e, by refuting values: a
// destructive bound (Klein and Scholl 1999). It gallops upward until a value
// stands, then bisects.
func (e *ends) destroy(best *finding) {
	if e.cost > refutable || e.front.g.numOps() == 0 || !e.whole() {
		return
	}
	head, tail := slices.Clone(e.front.start), slices.Clone(e.back.start)
	ceiling := e.front.g.serial()
	refuted := func(value model.Time) bool {
		if e.refutes <= 0 || value > ceiling {
			return false
		}
		d, rounds := e.refute(value, head, tail, maxRounds)
		e.refutes -= rounds * e.cost * refuteFactor
		if d >= 0 {
			*best = finding{relaxation: relaxation{value: value + 1}, device: d, refuted: true}
		}
		return d >= 0
	}
	step := model.Time(1)
	for refuted(best.value - 1 + step) {
		step *= 2
	}
	for step /= 2; step > 0; step /= 2 {
		refuted(best.value - 1 + step)
	}
}

// whole reports whether the windows hold every operation.
func (e *ends) whole() bool {
	for i := range e.front.g.rows {
		if n := &e.front.g.rows[i]; n.count < n.total {
			return false
		}
	}
	return true
}

// serial returns the time in which the operations can run one after the other,
// with all lags: more than that no schedule needs.
func (g *graph) serial() model.Time {
	sum := model.Time(0)
	for i := range g.rows {
		n := &g.rows[i]
		lag := model.Time(0)
		for _, a := range n.preds {
			lag = max(lag, a.lag)
		}
		sum += model.Time(n.total) * (n.length + lag)
	}
	return sum
}

// refute looks for a proof that no schedule has a makespan (or, with heads and
// tails of one device, a span of that device) of at most value: a tail gives an
// operation a deadline, the windows between heads and deadlines raise heads and
// tails, until some device cannot run its operations in their windows. It
// returns that device, or -1 if there is no contradiction, and the rounds made.
func (e *ends) refute(value model.Time, head, tail []model.Time, most int) (device, rounds int) {
	copy(e.front.start, head)
	copy(e.back.start, tail)
	for changed := true; changed && rounds < most; rounds++ {
		changed = false
		for _, side := range [2][2]*heads{{e.front, e.back}, {e.back, e.front}} {
			moved, d := e.narrow(side[0], side[1], value)
			if d >= 0 {
				return d, rounds + 1
			}
			if moved {
				changed = true
				side[0].settle(1)
			}
		}
	}
	return -1, rounds
}

// narrow raises the heads of one side by the windows of each device. It returns
// a device whose operations do not fit, or -1.
func (e *ends) narrow(h, other *heads, value model.Time) (moved bool, device int) {
	w := &e.windows
	for d := range h.g.on {
		h.sortDevice(d)
		w.head = append(w.head[:0], h.sorted...)
		w.duration, w.deadline = w.duration[:0], w.deadline[:0]
		for _, op := range h.order {
			q := h.g.rowOf[op]
			n := &h.g.rows[q]
			fromEnd := n.count - 1 - (int(op) - h.g.base[q])
			w.duration = append(w.duration, n.length)
			w.deadline = append(w.deadline, value-other.start[other.g.base[e.mirror(q)]+fromEnd])
		}
		if !w.narrow() {
			return moved, d
		}
		for i, op := range h.order {
			moved = h.raise(int(op), w.raised[i]) || moved
		}
	}
	return moved, -1
}
