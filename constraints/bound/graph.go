package bound

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// graph is a relaxation of a problem in the form that the bounds work on: rows
// of operations, of which the first few (the window) are looked at. Its optimum
// is at most that of the problem, because
//
//   - where a plan may choose between split and fused, the two halves become as
//     short as either case allows: the gradient leaves after the shorter of
//     backward_input and backward_full, and the rest takes what the shorter of
//     the two cases leaves. Either case can be replaced by these halves, back to
//     back, inside the time that it took and with no more memory;
//   - where micro-batches differ, all operations of a row become as short as the
//     shortest of them. What is left are identical micro-batches.
//
// So operation k of a row may be taken as the k-th in time: identical
// micro-batches lose nothing by running in index order (the k-th start in a row
// comes no earlier than the k-th end in the row before).
//
// A graph can be reversed in time. Operation k of a row is then the k-th from
// the end, and what an operation gave back at its end it takes at its start.
type graph struct {
	rows     []node        // in topological order
	base     []int         // first operation of each row; at the end, the number of operations
	on       [][]int32     // by device: the rows that occupy it, ascending
	slots    [][]int32     // by row, parallel to its devices: its place in on
	limits   []model.Bytes // by device
	statics  []model.Bytes // by device
	rowOf    []int32       // by operation
	singles  []int32       // the rows of one operation each, ascending
	longest  int           // most operations of a row in the window
	reversed bool
}

// node is a row of a graph.
type node struct {
	row     int // in the problem
	stage   int
	route   int
	single  bool // one operation for all micro-batches
	own     bool // of the pipeline's own, beside those of the stages and transfers
	total   int  // operations in the problem
	count   int  // operations in the window: the first ones
	length  model.Time
	devices []int32
	memory  []model.Delta // parallel to devices; nil if none
	preds   []arc
}

// arc says that an operation waits until lag after the end of the operation of
// row from with the same index; if either is single, of its last.
type arc struct {
	from int32
	lag  model.Time
}

// newGraph builds the graph of a problem, of which the first window operations
// of each row are looked at, in the reversed case those that are the first from
// the end. Operations last as long as those of the micro-batch that pick names,
// by route, as an index within the route. Cost O(rows + precedences).
func newGraph(p *model.Problem, window int, reversed bool, pick []int) *graph {
	g := &graph{limits: p.Limits, statics: p.Statics, reversed: reversed}
	order := rowOrder(p)
	if reversed {
		slices.Reverse(order)
	}
	place := make([]int32, len(p.Rows)) // row of the problem to row of the graph
	for i := range place {
		place[i] = -1
	}
	for i, r := range order {
		place[r] = int32(i)
		g.rows = append(g.rows, newNode(p, r, pick[p.Rows[r].Route], window, reversed))
	}
	g.connect(p, order, place)
	g.index(p.NumDevices())
	return g
}

func newNode(p *model.Problem, r, pick, window int, reversed bool) node {
	row := &p.Rows[r]
	n := node{
		row: r, stage: row.Stage, route: row.Route, single: row.Single, own: row.Kind > model.SendBackward,
		total: p.Count(r), count: min(p.Count(r), window),
		devices: row.Devices, memory: row.Memory,
	}
	switch {
	case n.single:
		n.length = relaxed(p, r, 0)
	case pick < 0:
		n.total, n.count = 0, 0
	case n.total > 0:
		n.length = relaxed(p, r, pick)
	}
	if reversed && row.Memory != nil {
		n.memory = make([]model.Delta, len(row.Memory))
		for i, d := range row.Memory {
			n.memory[i] = model.Delta{AtStart: -d.AtEnd, AtEnd: -d.AtStart}
		}
	}
	return n
}

// rowOrder returns the rows that a graph has, in topological order: all but the
// fused case of a choice, for which the split case stands.
func rowOrder(p *model.Problem) []int {
	waits := make([]int, len(p.Rows))
	var order []int
	for r := range p.Rows {
		waits[r] = len(p.Rows[r].Preds)
		if p.Rows[r].Choice == model.WhenFused {
			continue
		}
		if waits[r] == 0 {
			order = append(order, r)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, s := range p.Succs[order[i]] {
			if waits[s.Row]--; waits[s.Row] == 0 && p.Rows[s.Row].Choice != model.WhenFused {
				order = append(order, int(s.Row))
			}
		}
	}
	return order
}

func (g *graph) connect(p *model.Problem, order []int, place []int32) {
	for i, r := range order {
		for _, pred := range p.Rows[r].Preds {
			from, to := place[pred.Row], int32(i)
			if from < 0 {
				from = place[p.Rows[pred.Row].Twin]
			}
			if g.reversed {
				from, to = to, from
			}
			g.rows[to].preds = append(g.rows[to].preds, arc{from, pred.Lag})
		}
	}
}

func (g *graph) index(devices int) {
	g.base = make([]int, len(g.rows)+1)
	g.on = make([][]int32, devices)
	g.slots = make([][]int32, len(g.rows))
	for i := range g.rows {
		n := &g.rows[i]
		g.base[i+1] = g.base[i] + n.count
		g.rowOf = append(g.rowOf, slices.Repeat([]int32{int32(i)}, n.count)...)
		g.longest = max(g.longest, n.count)
		if n.single {
			g.singles = append(g.singles, int32(i))
		}
		for _, d := range n.devices {
			g.slots[i] = append(g.slots[i], int32(len(g.on[d])))
			g.on[d] = append(g.on[d], int32(i))
		}
	}
}

// numOps returns the number of operations in the window.
func (g *graph) numOps() int { return g.base[len(g.rows)] }
