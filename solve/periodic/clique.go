package periodic

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// cliqueNodes limits the search for a clique.
const cliqueNodes = 20_000

// clique returns the work of rows every two of which share a device, though not all
// of them the same one: gangs and blocking transfers make such. No period is
// shorter. It is the largest such sum, or what the search has by its limit (branch
// and bound, Carraghan and Pardalos 1990).
func (in *instance) clique() model.Time {
	n := len(in.rows)
	c := &cliques{in: in, meets: make([]bool, n*n), n: n, nodes: cliqueNodes}
	for _, p := range in.pairs {
		c.meets[p.a*n+p.b], c.meets[p.b*n+p.a] = true, true
	}
	rows := make([]int, n)
	for r := range rows {
		rows[r] = r
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(in.duration[b], in.duration[a]) })
	c.extend(rows, 0)
	return c.best
}

type cliques struct {
	in    *instance
	meets []bool // by two rows
	n     int
	nodes int
	best  model.Time
}

// extend grows a clique of some weight by rows that meet all of it.
func (c *cliques) extend(rows []int, weight model.Time) {
	c.best = max(c.best, weight)
	left := model.Time(0)
	for _, r := range rows {
		left += c.in.duration[r]
	}
	for i, r := range rows {
		if c.nodes--; weight+left <= c.best || c.nodes < 0 {
			return
		}
		left -= c.in.duration[r]
		var both []int
		for _, q := range rows[i+1:] {
			if c.meets[r*c.n+q] {
				both = append(both, q)
			}
		}
		c.extend(both, weight+c.in.duration[r])
	}
}
