package cpu

import "github.com/flexpipe/flexpipe/model/network"

// A memoryPlan says when the parts of a layer's record are there; see [footprint]. Memory is
// taken and given back in such an order that at no moment of a backward input more is held
// than before it or after it. So what a problem says of a stage, an amount after each
// operation, is also the peak.
type memoryPlan struct {
	footprint
	recompute  network.Recompute // what the layer recomputes; none if it is fixed
	activation int               // elements from forward to backward input
	left       int               // elements from backward input to backward weight
	work       int               // elements of work space, with what is recomputed there
	staged     bool              // added is made in work space, and moved to the place of kept and scores
}

func planMemory(f footprint, r network.Recompute) memoryPlan {
	if f.fixed || r == network.RecomputeSelective && f.scores == 0 {
		r = network.RecomputeNone
	}
	p := memoryPlan{footprint: f, recompute: r, work: f.work, left: f.input + f.retained + f.added}
	switch r {
	case network.RecomputeNone:
		p.activation = f.input + f.retained + f.kept + f.scores
		p.staged = f.added > 0 && f.kept+f.scores > 0
	case network.RecomputeSelective:
		p.activation = f.input + f.retained + f.kept
		p.work += f.scores
		p.staged = f.added > 0 && f.kept > 0
	case network.RecomputeFull:
		p.activation = f.input
		p.work += f.retained + f.kept + f.scores
	}
	if p.staged {
		p.work += f.added
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

// lender hands out parts of work space one after the other.
type lender struct{ space []float32 }

func (l *lender) lend(n int) []float32 {
	part := l.space[:n:n]
	l.space = l.space[n:]
	return part
}

// lendForward lends what a forward fills and the stage does not keep.
func (p *memoryPlan) lendForward(r *record, work []float32) {
	l := lender{work}
	r.work = l.lend(p.footprint.work)
	switch p.recompute {
	case network.RecomputeSelective:
		r.scores, r.rescore = l.lend(p.scores), true
	case network.RecomputeFull:
		r.retained, r.kept, r.scores = l.lend(p.retained), l.lend(p.kept), l.lend(p.scores)
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
	lent := lender{h.work}
	r.work = lent.lend(p.footprint.work)
	switch p.recompute {
	case network.RecomputeSelective:
		r.scores = lent.lend(p.scores)
	case network.RecomputeFull:
		r.retained = h.memory.take(p.retained)
		r.kept, r.scores = lent.lend(p.kept), lent.lend(p.scores)
		l.rebuild(r)
	}
	if p.staged {
		r.added = lent.lend(p.added)
	} else {
		r.added = h.memory.take(p.added)
	}
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
	if p.staged {
		made := r.added
		r.added = a.take(p.added)
		copy(r.added, made)
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
