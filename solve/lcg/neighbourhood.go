package lcg

import "math/rand/v2"

// Large neighbourhood search (Shaw 1998): most of the best plan is kept, the rest is
// searched for a better one. What such a search learns holds for the whole problem.

// neighbours chooses what to free, and learns how much.
type neighbours struct {
	rand *rand.Rand
	size float64 // share of the operations that is freed
	free []bool  // by operation
	lits []lit
}

const (
	neighbourBudget = 200 // conflicts for one neighbourhood
	firstShare      = 0.15
)

func newNeighbours(f *form, seed uint64) *neighbours {
	return &neighbours{rand: rand.New(rand.NewPCG(seed, 0x1c9)), size: firstShare, free: make([]bool, len(f.ops))}
}

// improve searches one neighbourhood of the best plan that a worker knows. It returns
// the conflicts spent, at least one.
func (n *neighbours) improve(w *worker, s *search) int64 {
	before := s.conflicts
	copy(s.picker.phase, w.hint.phase)
	n.choose(s, w.hint)
	n.fix(s, w.hint)
	s.units += int64(len(n.lits))
	v := s.run(atMost(0, w.hi-1), n.lits, neighbourBudget)
	if v == satisfied {
		w.found(s, w.hi-1)
	}
	s.back(0)
	switch v {
	case refuted:
		n.size = min(1, n.size*1.1)
	case undecided:
		n.size = max(0.02, n.size/1.1)
	}
	return max(1, s.conflicts-before)
}

// choose frees the operations in a span of time on some neighbouring devices.
func (n *neighbours) choose(s *search, h *hint) {
	clear(n.free)
	devices := len(s.devices)
	width := 1 + n.rand.IntN(devices)
	first := n.rand.IntN(devices - width + 1)
	length := int64(min(1, n.size*float64(devices)/float64(width)) * float64(h.end+1))
	length = min(length, h.end+1) // it may have been rounded up
	begin := n.rand.Int64N(h.end - length + 2)
	for i := first; i < first+width; i++ {
		for _, op := range s.devices[i].ops {
			if at := h.start[op]; at >= begin && at <= begin+length {
				n.free[op] = true
			}
		}
	}
}

// fix lists the positions and choices that the plan gives to all but the free
// operations. A free operation may move among free ones next to it.
func (n *neighbours) fix(s *search, h *hint) {
	n.lits = n.lits[:0]
	for _, c := range s.choices {
		if !n.free[c.ops[0]] {
			n.lits = append(n.lits, choiceLit(c.v, int(h.phase[c.v])))
		}
	}
	for _, p := range s.pairs {
		others := s.seqs[p.q].ops
		for i, op := range s.seqs[p.a].ops {
			v := p.first + int32(i)
			lo := h.phase[v]
			hi := lo
			if n.free[op] {
				for lo > 0 && n.free[others[lo-1]] {
					lo--
				}
				for hi < int64(len(others)) && n.free[others[hi]] {
					hi++
				}
			}
			n.lits = append(n.lits, atLeast(v, lo), atMost(v, hi))
		}
	}
}
