package cpu

import "github.com/flexpipe/flexpipe/model/network"

// A memoryPlan says when the parts of a layer's record are there; see [footprint]. Memory is
// taken and given back in such an order that at no moment of a backward input more is held
// than before it or after it. So what a problem says of a stage, an amount after each
// operation, is also the peak. It rests on two rules that layers keep: one that has something
// added has neither kept nor scores, unless they are recomputed; and among the layers of a
// stage those that grow in a backward input come before those that shrink, if there are both.
type memoryPlan struct {
	footprint
	recompute  network.Recompute // what the layer recomputes; none if it is fixed
	activation int               // elements from forward to backward input
	left       int               // elements from backward input to backward weight
	work       int               // elements of work space, with what is recomputed there
}

func planMemory(f footprint, r network.Recompute) memoryPlan {
	if f.fixed || r == network.RecomputeSelective && f.scores == 0 {
		r = network.RecomputeNone
	}
	p := memoryPlan{footprint: f, recompute: r, work: f.work, left: f.input + f.retained + f.added}
	switch r {
	case network.RecomputeNone:
		p.activation = f.input + f.retained + f.kept + f.scores
	case network.RecomputeSelective:
		p.activation = f.input + f.retained + f.kept
		p.work += f.scores
	case network.RecomputeFull:
		p.activation = f.input
		p.work += f.retained + f.kept + f.scores
	}
	return p
}

// takeForward takes what is held from the forward on.
func (p *memoryPlan) takeForward(r *record, a *allocator) {
	r.input = a.take(p.input)
	if p.recompute == network.RecomputeFull {
		return
	}
	r.retained, r.kept = a.take(p.retained), a.take(p.kept)
	if p.recompute == network.RecomputeNone {
		r.scores = a.take(p.scores)
	}
}

// lendForward lends what a forward fills and the stage does not keep.
func (p *memoryPlan) lendForward(r *record, work []float32) {
	c := cutter(work)
	r.work = c.next(p.footprint.work)
	switch p.recompute {
	case network.RecomputeSelective:
		r.scores, r.rescore = c.next(p.scores), true
	case network.RecomputeFull:
		r.retained, r.kept, r.scores = c.next(p.retained), c.next(p.kept), c.next(p.scores)
	}
}

// endForward takes back what lendForward lent.
func (p *memoryPlan) endForward(r *record) {
	r.work = nil
	switch p.recompute {
	case network.RecomputeSelective:
		r.scores = nil
	case network.RecomputeFull:
		r.retained, r.kept, r.scores = nil, nil, nil
	}
}

// backwardInput runs that of a layer, with recomputation.
func (p *memoryPlan) backwardInput(l layer, r *record, dout []float32, din [][]float32, h *home) {
	c := cutter(h.work)
	r.work = c.next(p.footprint.work)
	switch p.recompute {
	case network.RecomputeSelective:
		r.scores = c.next(p.scores)
	case network.RecomputeFull:
		r.retained = h.memory.take(p.retained)
		r.kept, r.scores = c.next(p.kept), c.next(p.scores)
		l.rebuild(r)
	}
	r.added = h.memory.take(p.added)
	l.backwardInput(r, dout, din)
	p.endBackwardInput(r, h.memory)
}

// endBackwardInput gives back what only backward input reads.
func (p *memoryPlan) endBackwardInput(r *record, a *allocator) {
	if p.recompute != network.RecomputeFull {
		a.give(&r.kept)
	}
	if p.recompute == network.RecomputeNone {
		a.give(&r.scores)
	}
	r.kept, r.scores, r.work = nil, nil, nil
}

// backwardWeight runs that of a layer, and gives back its record.
func (p *memoryPlan) backwardWeight(l layer, r *record, h *home) {
	r.work = h.work[:p.footprint.work:p.footprint.work]
	l.backwardWeight(r)
	r.work = nil
	h.memory.give(&r.added)
	h.memory.give(&r.retained)
	h.memory.give(&r.input)
}
