package ilp

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// node is a part of the space: bounds for all columns, and the value of the
// relaxation of the part that it was split from.
type node struct {
	lower, upper []float64
	bound        float64
	depth        int
	number       int
}

// agenda is a heap: lowest bound first, then the deepest, then the newest.
type agenda []*node

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	switch x, y := a[i], a[j]; {
	case x.bound != y.bound:
		return x.bound < y.bound
	case x.depth != y.depth:
		return x.depth > y.depth
	default:
		return x.number > y.number
	}
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*node)) }
func (a *agenda) Pop() any {
	n := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return n
}

type search struct {
	ctx      context.Context
	p        *Problem
	model    lp.Model
	maxNodes int
	steps    bool // the objective takes whole values only

	lower, upper []float64 // of the program

	open      agenda
	nodes     int
	numbers   int
	best      []float64
	value     float64
	ended     bool // by a limit
	unbounded bool
}

func newSearch(ctx context.Context, s lp.Solver, p *Problem, o Options) (*search, error) {
	if len(p.Integer) != len(p.Objective) {
		return nil, fmt.Errorf("ilp: %d columns, but %d that say whether they are whole", len(p.Objective), len(p.Integer))
	}
	model, err := s.Load(&p.Problem)
	if err != nil {
		return nil, err
	}
	lower, upper, err := p.Bounds(nil, nil)
	if err != nil {
		return nil, err
	}
	b := &search{ctx: ctx, p: p, model: model, maxNodes: o.MaxNodes, steps: true, lower: slices.Clone(lower), upper: slices.Clone(upper)}
	for j, c := range p.Objective {
		if p.Integer[j] {
			lower[j], upper[j] = math.Ceil(lower[j]-whole), math.Floor(upper[j]+whole)
		}
		b.steps = b.steps && (c == 0 || p.Integer[j] && c == math.Trunc(c))
	}
	b.push(&node{lower: lower, upper: upper, bound: math.Inf(-1)})
	if o.Incumbent != nil {
		b.offer(o.Incumbent)
	}
	return b, nil
}

func (b *search) push(n *node) {
	b.numbers++
	n.number = b.numbers
	heap.Push(&b.open, n)
}

// run takes the most promising open part, and dives from it: into one half of the
// part, again and again, the other half being put aside.
func (b *search) run() error {
	for len(b.open) > 0 && !b.ended && !b.unbounded {
		n := heap.Pop(&b.open).(*node)
		for n != nil && n.bound < b.worth() {
			if b.ctx.Err() != nil || b.maxNodes > 0 && b.nodes >= b.maxNodes {
				b.ended = true
				heap.Push(&b.open, n)
				return nil
			}
			next, err := b.step(n)
			if err != nil {
				return err
			}
			n = next
		}
	}
	return nil
}

// step solves the relaxation of a part and splits it; it returns the half to go
// on with, nil if there is none.
func (b *search) step(n *node) (*node, error) {
	b.nodes++
	s, err := b.model.Solve(b.ctx, n.lower, n.upper)
	if err != nil {
		return nil, err
	}
	switch s.Status {
	case lp.Infeasible:
		return nil, nil
	case lp.Unbounded:
		b.unbounded = true
		return nil, nil
	case lp.Limit:
		b.ended = true
		heap.Push(&b.open, n)
		return nil, nil
	}
	n.bound = max(n.bound, b.roundUp(s.Objective))
	if n.bound >= b.worth() {
		return nil, nil
	}
	j := b.fractional(s.X)
	if j < 0 {
		return nil, b.settle(n, s.X)
	}
	b.offer(s.X)
	return b.split(n, j, s.X[j]), nil
}

// settle keeps a point that is whole up to rounding. Where large coefficients make
// the rounding matter, it solves for the other columns once more.
func (b *search) settle(n *node, x []float64) error {
	if b.offer(x) {
		return nil
	}
	lower, upper := slices.Clone(n.lower), slices.Clone(n.upper)
	for j, v := range rounded(b.p, x) {
		if b.p.Integer[j] {
			lower[j], upper[j] = v, v
		}
	}
	b.nodes++
	s, err := b.model.Solve(b.ctx, lower, upper)
	switch {
	case err != nil:
		return err
	case s.Status == lp.Limit:
		b.ended = true
		heap.Push(&b.open, n)
	case s.Status != lp.Optimal || !b.offer(s.X):
		return errors.New("ilp: the best point of a relaxation is whole only up to rounding: scale the columns or rows")
	}
	return nil
}

// split puts the farther half aside and returns the nearer one.
func (b *search) split(n *node, j int, v float64) *node {
	down := &node{lower: n.lower, upper: slices.Clone(n.upper), bound: n.bound, depth: n.depth + 1}
	up := &node{lower: slices.Clone(n.lower), upper: n.upper, bound: n.bound, depth: n.depth + 1}
	down.upper[j], up.lower[j] = math.Floor(v), math.Ceil(v)
	if v-math.Floor(v) > 0.5 {
		b.push(down)
		return up
	}
	b.push(up)
	return down
}

// roundUp uses that the objective takes whole values only, if it does.
func (b *search) roundUp(v float64) float64 {
	if b.steps {
		return math.Ceil(v - whole*(1+math.Abs(v)))
	}
	return v
}

// worth is the bound from which on a part is not worth a look.
func (b *search) worth() float64 {
	switch {
	case b.best == nil:
		return math.Inf(1)
	case b.steps:
		return b.value - 0.5
	}
	return b.value - Gap*(1+math.Abs(b.value))
}

// bound returns the lowest value that a point could still have.
func (b *search) bound() float64 {
	low := b.value
	if b.best == nil {
		low = math.Inf(1)
	}
	for _, n := range b.open {
		low = min(low, n.bound)
	}
	return low
}

// fractional returns the integer column farthest from a whole value, the first of
// several, -1 if all are whole.
func (b *search) fractional(x []float64) int {
	most, at := whole, -1
	for j, v := range x {
		if f := math.Abs(v - math.Round(v)); b.p.Integer[j] && f > most {
			most, at = f, j
		}
	}
	return at
}

// rounded returns the point with integer columns at the nearest whole values.
func rounded(p *Problem, x []float64) []float64 {
	r := slices.Clone(x)
	for j := range r {
		if p.Integer[j] {
			r[j] = math.Round(r[j])
		}
	}
	return r
}

// offer rounds a point and keeps it if it is better than the best so far. It
// reports whether the point keeps all bounds.
func (b *search) offer(x []float64) bool {
	if len(x) != len(b.lower) {
		return false
	}
	x = rounded(b.p, x)
	if !b.p.Fits(x, b.lower, b.upper) {
		return false
	}
	if value := b.p.Value(x); b.best == nil || value < b.value {
		b.best, b.value = x, value
	}
	return true
}
