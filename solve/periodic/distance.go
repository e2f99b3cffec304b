package periodic

import "github.com/flexpipe/flexpipe/model"

// far stands for "not related": a distance so low that it adds to nothing.
const far model.Time = -1 << 60

// distances holds, for every two nodes, the least that the second starts after the
// first, as far as it follows from the constraints so far; it is closed under
// addition (a longest-path closure). Its changes can be taken back.
type distances struct {
	n     int
	at    []model.Time
	trail []change
	near  []int32 // work space: the nodes that reach a new constraint
}

type change struct {
	at  int32
	old model.Time
}

func newDistances(n int) *distances {
	d := &distances{n: n, at: make([]model.Time, n*n)}
	for i := range d.at {
		d.at[i] = far
	}
	for i := range n {
		d.at[i*n+i] = 0
	}
	return d
}

// close fills the distances with the longest paths of an instance, whose rows are in
// the order of precedences; source and sink follow the rows.
func (d *distances) close(in *instance) {
	n := len(in.rows)
	source, sink := n, n+1
	into := make([][]arc, n)
	for _, a := range in.arcs {
		into[a.to] = append(into[a.to], a)
	}
	for i := range source + 1 {
		row := d.at[i*d.n : i*d.n+d.n]
		for j := range n {
			if i == source {
				row[j] = 0
			}
			for _, a := range into[j] {
				if row[a.from] > far {
					row[j] = max(row[j], row[a.from]+a.gap)
				}
			}
			if row[j] > far {
				row[sink] = max(row[sink], row[j]+in.duration[j])
			}
		}
	}
}

func (d *distances) get(i, j int) model.Time { return d.at[i*d.n+j] }

// require adds that v starts at least gap after u, and calls changed for every
// distance that grew. It reports whether that is possible. Cost O(n²), mostly O(n).
func (d *distances) require(u, v int, gap model.Time, changed func(i, j int)) bool {
	n := d.n
	if d.at[u*n+v] >= gap {
		return true
	}
	if back := d.at[v*n+u]; back > far && back+gap > 0 {
		return false
	}
	d.near = d.near[:0]
	for j := range n {
		if t := d.at[v*n+j]; t > far && gap+t > d.at[u*n+j] {
			d.near = append(d.near, int32(j))
		}
	}
	for i := range n {
		reach := d.at[i*n+u]
		if reach <= far || reach+gap <= d.at[i*n+v] {
			continue
		}
		row := d.at[i*n : i*n+n]
		for _, j := range d.near {
			if t := reach + gap + d.at[v*n+int(j)]; t > row[j] {
				d.trail = append(d.trail, change{int32(i*n) + j, row[j]})
				row[j] = t
				changed(i, int(j))
			}
		}
	}
	return true
}

// undo takes back all changes after the first mark of them.
func (d *distances) undo(mark int) {
	for len(d.trail) > mark {
		c := d.trail[len(d.trail)-1]
		d.trail = d.trail[:len(d.trail)-1]
		d.at[c.at] = c.old
	}
}
