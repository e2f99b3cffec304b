package lcg

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// memoryQueue holds the operations whose memory has to be looked at again: those
// that take memory, when what may stand before them has changed. What a device
// holds when one starts is linear in its positions.
type memoryQueue struct {
	ops    []model.OpID
	queued []bool
	counts []counted
	facts  []lit
}

// counted is a term with the numbers of operations that may stand before.
type counted struct {
	t      *term
	seq    int32
	lo, hi int
	least  int64 // the smallest sum over them
}

func (m *memoryQueue) init(s *search) { m.queued = make([]bool, len(s.ops)) }

func (m *memoryQueue) mark(op model.OpID) {
	if !m.queued[op] {
		m.queued[op] = true
		m.ops = append(m.ops, op)
	}
}

func (m *memoryQueue) clear() {
	for _, op := range m.ops {
		m.queued[op] = false
	}
	m.ops = m.ops[:0]
}

// touched marks those of an operation and the others that take memory.
func (m *memoryQueue) touched(s *search, op model.OpID, others []model.OpID) {
	if len(s.seqs[s.ops[op].seq].limited) > 0 {
		m.mark(op)
	}
	if len(s.seqs[s.ops[others[0]].seq].limited) > 0 {
		for _, q := range others {
			m.mark(q)
		}
	}
}

// afterChoice marks all that take memory on a device of op.
func (m *memoryQueue) afterChoice(s *search, op model.OpID) {
	q := &s.seqs[s.ops[op].seq]
	if len(q.limited) > 0 {
		m.markAll(q.ops)
	}
	for i := range q.partners {
		if other := &s.seqs[q.partners[i].seq]; len(other.limited) > 0 {
			m.markAll(other.ops)
		}
	}
}

func (m *memoryQueue) markAll(ops []model.OpID) {
	for _, op := range ops {
		m.mark(op)
	}
}

// run looks at all marked operations. It reports whether bounds have moved, and
// false on a conflict.
func (m *memoryQueue) run(s *search) (moved, ok bool) {
	before := len(s.events)
	for len(m.ops) > 0 && len(s.events) == before {
		op := m.ops[len(m.ops)-1]
		m.ops = m.ops[:len(m.ops)-1]
		m.queued[op] = false
		q := &s.seqs[s.ops[op].seq]
		for i := range q.limited {
			if !m.look(s, op, &q.limited[i]) {
				return false, false
			}
		}
	}
	return len(s.events) > before, true
}

// look compares the least that a device can hold when op starts with the limit, and
// draws conclusions for each term from what the others leave.
func (m *memoryQueue) look(s *search, op model.OpID, seat *seat) bool {
	o := &s.ops[op]
	sum := s.ownBefore(o, seat)
	m.counts = m.counts[:0]
	for i := range seat.terms {
		t := &seat.terms[i]
		p := &s.seqs[o.seq].partners[t.partner]
		c := counted{t: t, seq: p.seq}
		c.lo, c.hi = s.counts(o, p)
		c.least = s.leastSum(&c, c.lo, c.hi)
		sum += c.least
		m.counts = append(m.counts, c)
	}
	x := explanation{rule: solve.MemoryRule, device: int32(s.devices[seat.device].device), op: op}
	if sum > seat.room {
		s.clashTold(x, m.why(s, op, seat, -1, sum-seat.room-1))
		return false
	}
	for i := range m.counts {
		if !m.counts[i].t.open && !m.bound(s, op, seat, i, seat.room-sum, x) {
			return false
		}
	}
	return true
}

// bound limits the count of one term, given the memory that is left.
func (m *memoryQueue) bound(s *search, op model.OpID, seat *seat, i int, left int64, x explanation) bool {
	c := &m.counts[i]
	w := c.t.net.at[0]
	steps := int(left / max(w, -w))
	if steps >= c.hi-c.lo {
		return true
	}
	ops := s.seqs[c.seq].ops
	excess := int64(steps+1)*max(w, -w) - left - 1
	if w > 0 {
		c.hi = c.lo + steps
		return s.tell(s.beforeLit(op, ops[c.hi]), x, m.why(s, op, seat, i, excess))
	}
	c.lo = c.hi - steps
	return s.tell(s.beforeLit(ops[c.lo-1], op), x, m.why(s, op, seat, i, excess))
}

// why lists the facts behind the least sum of all terms but one, as weak as the
// excess allows.
func (m *memoryQueue) why(s *search, op model.OpID, seat *seat, but int, excess int64) []lit {
	m.facts = s.choiceFacts(m.facts[:0], &s.ops[op], seat)
	for i := range m.counts {
		c := &m.counts[i]
		if i == but {
			continue
		}
		ops := s.seqs[c.seq].ops
		if c.t.open {
			m.facts = s.openFacts(m.facts, op, c)
			continue
		}
		w := c.t.net.at[0]
		if w > 0 {
			n := c.lo
			drop := min(n, int(excess/w))
			excess -= int64(drop) * w
			if n -= drop; n > 0 {
				m.facts = append(m.facts, s.beforeLit(ops[n-1], op))
			}
			continue
		}
		n := c.hi
		add := min(len(ops)-n, int(excess/-w))
		excess -= int64(add) * -w
		if n += add; n < len(ops) {
			m.facts = append(m.facts, s.beforeLit(op, ops[n]))
		}
	}
	return m.facts
}

// ownBefore returns what the earlier operations of an operation's own sequence leave
// behind at least.
func (s *search) ownBefore(o *opInfo, seat *seat) int64 {
	if o.choice < 0 {
		return int64(o.index) * seat.own.at[0]
	}
	sum := int64(0)
	for _, op := range s.seqs[o.seq].ops[:o.index] {
		sum += s.leastNet(&s.ops[op], seat.own)
	}
	return sum
}

// leastNet returns the least that an operation can leave behind.
func (s *search) leastNet(o *opInfo, n net) int64 {
	if o.choice >= 0 {
		switch {
		case s.lo(o.choice) == 1:
			return n.at[1]
		case s.hi(o.choice) == 0:
			return n.at[0]
		}
	}
	return n.least()
}

// leastSum returns the least that the first operations of a term's sequence can
// leave behind, over all numbers from lo to hi of them.
func (s *search) leastSum(c *counted, lo, hi int) int64 {
	if !c.t.open {
		w := c.t.net.at[0]
		return min(int64(lo)*w, int64(hi)*w)
	}
	sum := int64(0)
	ops := s.seqs[c.seq].ops
	for _, op := range ops[:lo] {
		sum += s.leastNet(&s.ops[op], c.t.net)
	}
	least := sum
	for _, op := range ops[lo:hi] {
		sum += s.leastNet(&s.ops[op], c.t.net)
		least = min(least, sum)
	}
	return least
}

// choiceFacts appends the choices of earlier operations of the own sequence.
func (s *search) choiceFacts(out []lit, o *opInfo, seat *seat) []lit {
	if o.choice < 0 {
		return out
	}
	for _, op := range s.seqs[o.seq].ops[:o.index] {
		out = s.choiceFact(out, &s.ops[op], seat.own)
	}
	return out
}

// choiceFact appends the choice of an operation if it leaves more than the least.
func (s *search) choiceFact(out []lit, o *opInfo, n net) []lit {
	for c, at := range n.at {
		if l := choiceLit(o.choice, c); at > n.least() && s.holds(l) {
			out = append(out, l)
		}
	}
	return out
}

// openFacts appends all that the least sum of a term with choices rests on.
func (s *search) openFacts(out []lit, op model.OpID, c *counted) []lit {
	ops := s.seqs[c.seq].ops
	if c.lo > 0 {
		out = append(out, s.beforeLit(ops[c.lo-1], op))
	}
	if c.hi < len(ops) {
		out = append(out, s.beforeLit(op, ops[c.hi]))
	}
	for _, q := range ops[:c.hi] {
		out = s.choiceFact(out, &s.ops[q], c.t.net)
	}
	return out
}
