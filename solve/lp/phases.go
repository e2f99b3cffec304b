package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	simplex "gonum.org/v1/gonum/optimize/convex/lp"
)

// standardForm is the program: minimise cost·y where a·y = rhs and y >= 0. All of
// rhs is >= 0, the rows are linearly independent, and the last columns, from
// artificial on, are the identity: they are not part of the program, but a first
// basis.
type standardForm struct {
	rows       int
	columns    [][]float64
	cost       []float64 // without the artificial columns
	rhs        []float64
	artificial int
}

// solve returns a best y without the artificial columns, in the two phases of the
// simplex method. Gonum's own first phase rejects many programs, and takes longer.
func (s *standardForm) solve(ctx context.Context) ([]float64, Status, error) {
	if s.rows == 0 {
		return s.withoutRows()
	}
	y, status, err := s.first(ctx)
	if status != Optimal {
		return nil, status, err
	}
	y, status, err = s.second(ctx, y)
	if status == Unbounded {
		if really, err := s.ray(ctx); err != nil || ctx.Err() != nil {
			return nil, Limit, err
		} else if !really {
			return nil, Limit, errors.New("lp: gonum takes rounding for improvement")
		}
	}
	return y, status, err
}

func (s *standardForm) withoutRows() ([]float64, Status, error) {
	for _, c := range s.cost {
		if c < 0 {
			return nil, Unbounded, nil
		}
	}
	return make([]float64, len(s.cost)), Optimal, nil
}

// first returns a vertex, by a run in which only the artificial columns cost.
func (s *standardForm) first(ctx context.Context) ([]float64, Status, error) {
	cost, basis := make([]float64, len(s.columns)), make([]int, s.rows)
	for i := range basis {
		basis[i] = s.artificial + i
		cost[basis[i]] = 1
	}
	y, status, err := simplexRun(ctx, s.columns, cost, s.rhs, basis)
	if status != Optimal {
		return nil, status, err
	}
	left := 0.0
	for _, v := range y[s.artificial:] {
		left += max(v, 0)
	}
	if left > 1e-8*max(1, slices.Max(s.rhs)) {
		return nil, Infeasible, nil
	}
	return y[:s.artificial], Optimal, nil
}

// second goes on from a vertex to a best one.
func (s *standardForm) second(ctx context.Context, y []float64) ([]float64, Status, error) {
	if s.rows == s.artificial {
		return y, Optimal, nil // the only point
	}
	basis := s.basis(y)
	if len(basis) < s.rows {
		return nil, Limit, errors.New("lp: gonum's vertex has no basis")
	}
	rhs := make([]float64, s.rows) // that of the vertex, free of its rounding
	for _, j := range basis {
		for i, v := range s.columns[j] {
			rhs[i] += v * max(y[j], 0)
		}
	}
	return simplexRun(ctx, s.columns[:s.artificial], s.cost, rhs, basis)
}

// basis returns independent columns that hold a vertex: the largest values first,
// by elimination. Cost O(rows² · columns).
func (s *standardForm) basis(y []float64) []int {
	order := make([]int, s.artificial)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[b], y[a]) })
	var basis, pivots []int
	var eliminated [][]float64
	for _, j := range order {
		c := slices.Clone(s.columns[j])
		for k, e := range eliminated {
			if f := c[pivots[k]] / e[pivots[k]]; f != 0 {
				for i := range c {
					c[i] -= f * e[i]
				}
				c[pivots[k]] = 0
			}
		}
		pivot := 0
		for i, v := range c {
			if math.Abs(v) > math.Abs(c[pivot]) {
				pivot = i
			}
		}
		if math.Abs(c[pivot]) < 1e-9 {
			continue
		}
		basis, pivots, eliminated = append(basis, j), append(pivots, pivot), append(eliminated, c)
		if len(basis) == s.rows {
			break
		}
	}
	return basis
}

// ray reports whether the program has a direction that improves without end: a·d =
// 0, d >= 0, cost·d < 0, scaled to a sum of at most 1.
func (s *standardForm) ray(ctx context.Context) (bool, error) {
	n := s.rows + 1
	r := &standardForm{rows: n, artificial: s.artificial + 1, rhs: make([]float64, n)}
	r.cost = append(slices.Clone(s.cost), 0)
	r.rhs[s.rows] = 1
	for _, c := range s.columns[:s.artificial] {
		r.columns = append(r.columns, append(slices.Clone(c), 1))
	}
	r.columns = append(r.columns, unit(n, s.rows)) // the slack of the sum
	for i := range n {
		r.columns = append(r.columns, unit(n, i))
	}
	y := make([]float64, r.artificial) // the origin
	y[s.artificial] = 1
	y, status, err := r.second(ctx, y)
	if status != Optimal {
		return false, err
	}
	value, size := 0.0, 1.0
	for j, c := range r.cost {
		value += c * y[j]
		size += math.Abs(c)
	}
	return value < -1e-9*size, nil
}

func unit(n, i int) []float64 {
	u := make([]float64, n)
	u[i] = 1
	return u
}

// simplexRun calls gonum from a basis. Where it fails, because of rounding on a
// degenerate vertex or a cycle, it is called again with the basic values moved by
// some 1e-9, each differently.
func simplexRun(ctx context.Context, columns [][]float64, cost, rhs []float64, basis []int) ([]float64, Status, error) {
	y, status, err := simplexOnce(ctx, columns, cost, rhs, basis)
	if err == nil {
		return y, status, nil
	}
	moved := slices.Clone(rhs)
	for k, j := range basis {
		_, shift := math.Modf(float64(k+1) * math.Phi)
		for i, v := range columns[j] {
			moved[i] += 1e-9 * (1 + shift) * v
		}
	}
	return simplexOnce(ctx, columns, cost, moved, basis)
}

func simplexOnce(ctx context.Context, columns [][]float64, cost, rhs []float64, basis []int) (y []float64, status Status, err error) {
	size := 1.0
	for _, c := range cost {
		size = max(size, math.Abs(c))
	}
	a := &watched{columns: columns, rows: len(rhs), ctx: ctx, reads: 1000 + 100*len(columns)}
	defer func() {
		switch r := recover(); {
		case r == nil:
		case r == errStopped && ctx.Err() != nil:
			y, status, err = nil, Limit, nil
		default: // gonum also panics when a basis is off by rounding
			y, status, err = nil, Limit, fmt.Errorf("lp: gonum: %v", r)
		}
	}()
	_, y, err = simplex.Simplex(cost, a, rhs, 1e-11*size, basis)
	switch {
	case errors.Is(err, simplex.ErrUnbounded):
		return nil, Unbounded, nil
	case err != nil:
		return nil, Limit, fmt.Errorf("lp: gonum: %w", err)
	}
	return y, Optimal, nil
}

// errStopped is what watched panics with.
var errStopped = errors.New("too many steps")

// watched is the matrix that gonum reads; it reads a column in every step, which
// is the one way to stop it: by a panic that run recovers.
type watched struct {
	columns [][]float64
	rows    int
	ctx     context.Context
	reads   int
}

func (w *watched) Dims() (r, c int) { return w.rows, len(w.columns) }

func (w *watched) T() mat.Matrix { return mat.Transpose{Matrix: w} }

func (w *watched) At(i, j int) float64 {
	if i == 0 {
		if w.reads--; w.reads < 0 || w.ctx.Err() != nil {
			panic(errStopped)
		}
	}
	return w.columns[j][i]
}
