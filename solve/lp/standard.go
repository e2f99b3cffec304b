package lp

import "math"

// standard brings the program into standard form: columns are counted from a
// finite bound, free ones split into two; rows get a slack unless they are
// equations; second bounds become rows of their own.
func (r *reduced) standard() *standardForm {
	b := builder{r: r, place: make([]int, len(r.lo))}
	for k, j := range r.kept {
		b.place[j] = k
		b.column(j)
	}
	for i := range r.rows {
		b.row(&r.rows[i])
	}
	return b.finish()
}

type builder struct {
	r     *reduced
	place []int // by column of the program: its index in kept
	cost  []float64
	rows  []Row // equations over columns of the standard form; Lower is the right-hand side
}

func (b *builder) add(cost float64) int {
	b.cost = append(b.cost, cost)
	return len(b.cost) - 1
}

func (b *builder) column(j int) {
	r, c := b.r, b.r.p.Objective[j]
	lo, hi := r.lo[j], r.hi[j]
	part := [2]int{-1, -1}
	if !math.IsInf(lo, -1) || math.IsInf(hi, 1) {
		part[0] = b.add(c)
	}
	if math.IsInf(lo, -1) {
		part[1] = b.add(-c)
	}
	r.parts = append(r.parts, part)
	if part[0] >= 0 && part[1] < 0 && !math.IsInf(hi, 1) {
		b.rows = append(b.rows, Row{Cols: []int{part[0], b.add(0)}, Values: []float64{1, 1}, Lower: hi - lo})
	}
}

// origin returns the value of a column at which both its parts are 0.
func (r *reduced) origin(j int) float64 {
	switch {
	case !math.IsInf(r.lo[j], -1):
		return r.lo[j]
	case !math.IsInf(r.hi[j], 1):
		return r.hi[j]
	}
	return 0
}

func (b *builder) row(row *Row) {
	lower, upper := row.Lower, row.Upper
	var e Row
	for k, j := range row.Cols {
		v, part := row.Values[k], b.r.parts[b.place[j]]
		lower -= v * b.r.origin(j)
		upper -= v * b.r.origin(j)
		for side, sign := range []float64{1, -1} {
			if part[side] >= 0 {
				e.Cols, e.Values = append(e.Cols, part[side]), append(e.Values, sign*v)
			}
		}
	}
	switch {
	case math.IsInf(lower, -1) && math.IsInf(upper, 1):
		return
	case lower == upper:
		e.Lower = lower
	case math.IsInf(upper, 1):
		e.Lower = lower
		e.Cols, e.Values = append(e.Cols, b.add(0)), append(e.Values, -1)
	default:
		s := b.add(0)
		e.Lower = upper
		e.Cols, e.Values = append(e.Cols, s), append(e.Values, 1)
		if !math.IsInf(lower, -1) {
			b.rows = append(b.rows, Row{Cols: []int{s, b.add(0)}, Values: []float64{1, 1}, Lower: upper - lower})
		}
	}
	b.rows = append(b.rows, e)
}

func (b *builder) finish() *standardForm {
	s := &standardForm{rows: len(b.rows), cost: b.cost, artificial: len(b.cost)}
	for range len(b.cost) + len(b.rows) {
		s.columns = append(s.columns, make([]float64, len(b.rows)))
	}
	for i, row := range b.rows {
		sign := 1.0
		if row.Lower < 0 {
			sign = -1
		}
		s.rhs = append(s.rhs, sign*row.Lower)
		for k, j := range row.Cols {
			s.columns[j][i] = sign * row.Values[k]
		}
		s.columns[s.artificial+i][i] = 1
	}
	return s
}

// expand returns the point of the program that a point in standard form stands
// for.
func (r *reduced) expand(y []float64) []float64 {
	x := r.fixed
	for k, j := range r.kept {
		x[j] = r.origin(j)
		if a := r.parts[k][0]; a >= 0 {
			x[j] += y[a]
		}
		if a := r.parts[k][1]; a >= 0 {
			x[j] -= y[a]
		}
		x[j] = nearest(x[j], r.lo[j], r.hi[j])
	}
	return x
}
