package bound

import "math"

// unforced is a lead that forces nothing.
const unforced = math.MinInt32 / 4

// Sizes up to which all is looked at.
const (
	maxLocal  = 1024  // rows of a device that are compared in pairs
	maxClosed = 128   // rows whose leads are closed transitively
	maxReach  = 16384 // rows of a graph whose ancestors are computed
)

// leads tells which operations of a device run before which others, in every
// schedule within the rules: before operation k of row q, the first
// k + lead(q, r) operations of row r have ended. Rows are given by their slots
// on the device. The leads of one device are a square matrix.
type leads struct {
	size int
	lead []int32
}

func newLeads(size int) *leads {
	l := &leads{size: size, lead: make([]int32, size*size)}
	for i := range l.lead {
		l.lead[i] = unforced
	}
	for i := range size {
		l.lead[i*size+i] = 0
	}
	return l
}

func (l *leads) at(q, r int) int32 { return l.lead[q*l.size+r] }

// raise notes that the first k + lead operations of r come before operation k
// of q.
func (l *leads) raise(q, r int, lead int32) {
	at := &l.lead[q*l.size+r]
	*at = max(*at, lead)
}

// before reports whether each operation of r comes before that of q with the
// same index.
func (l *leads) before(r, q int) bool { return l.at(q, r) >= 1 }

// forced returns how many of the first operations of r come before operation k
// of q.
func (l *leads) forced(q, r, k, count int) int {
	return min(max(k+int(l.at(q, r)), 0), count)
}

// precedence returns the leads of each device that follow from the precedences
// alone, nil for a device with too many rows. Cost O(rows · precedences / 64),
// on huge graphs O(rows per device²) for each device.
func (g *graph) precedence() []*leads {
	all := make([]*leads, len(g.on))
	for d, rows := range g.on {
		if len(rows) <= maxLocal {
			all[d] = newLeads(len(rows))
		}
	}
	ancestors := g.ancestors()
	for d, rows := range g.on {
		if all[d] == nil {
			continue
		}
		for i, q := range rows {
			for j, r := range rows[:i] {
				if ancestors(q, r) {
					all[d].raise(i, j, 1)
				}
			}
		}
	}
	return all
}

// ancestors returns a test whether row r comes before row q through the
// precedences. On huge graphs it sees direct precedences only.
func (g *graph) ancestors() func(q, r int32) bool {
	if len(g.rows) > maxReach {
		return func(q, r int32) bool {
			for _, a := range g.rows[q].preds {
				if a.from == r {
					return true
				}
			}
			return false
		}
	}
	words := (len(g.rows) + 63) / 64
	set := make([]uint64, words*len(g.rows))
	for q := range g.rows {
		own := set[q*words : (q+1)*words]
		for _, a := range g.rows[q].preds {
			for i, w := range set[int(a.from)*words : (int(a.from)+1)*words] {
				own[i] |= w
			}
			own[a.from/64] |= 1 << (a.from % 64)
		}
	}
	return func(q, r int32) bool { return set[int(q)*words+int(r)/64]>>(r%64)&1 != 0 }
}

// closeLeads adds the leads that follow from others: if (r, k') comes before
// (q, k), so does what comes before (r, k'). Small graphs are closed over all
// devices (Floyd 1962; Warshall 1962), others device by device.
func (g *graph) closeLeads(all []*leads) {
	if len(g.rows) > maxClosed {
		for d, l := range all {
			if l != nil && l.size <= maxClosed {
				l.close(func(i, j int) bool { return g.composable(g.on[d][i], g.on[d][j]) })
			}
		}
		return
	}
	whole := newLeads(len(g.rows))
	for d, l := range all {
		for i, q := range g.on[d] {
			for j, r := range g.on[d] {
				whole.raise(int(q), int(r), l.at(i, j))
			}
		}
	}
	for q := range g.rows {
		for _, a := range g.rows[q].preds {
			whole.raise(q, int(a.from), 1)
		}
	}
	whole.close(func(i, j int) bool { return g.composable(int32(i), int32(j)) })
	for d, l := range all {
		for i, q := range g.on[d] {
			for j, r := range g.on[d] {
				l.raise(i, j, whole.at(int(q), int(r)))
			}
		}
	}
}

// composable reports whether two rows number the same micro-batches, so that
// leads may be added through them.
func (g *graph) composable(i, j int32) bool {
	a, b := &g.rows[i], &g.rows[j]
	return !a.single && !b.single && a.route == b.route
}

// close computes the transitive closure through composable pairs. A lead above
// 1 would say that an operation comes before a later one of its row; it cannot
// arise in a problem that has a schedule, and is cut off. Cost O(size³).
func (l *leads) close(composable func(i, j int) bool) {
	n := l.size
	for r := range n {
		row := l.lead[r*n : (r+1)*n]
		for q := range n {
			through := l.at(q, r)
			if through == unforced || q == r || !composable(q, r) {
				continue
			}
			own := l.lead[q*n : (q+1)*n]
			for s, lead := range row {
				if lead != unforced && own[s] < through+lead-1 && composable(r, s) {
					own[s] = min(through+lead-1, 1)
				}
			}
		}
	}
}
