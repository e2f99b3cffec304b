package lp

import (
	"math"
	"slices"
)

// reduced is a program without what a simplex method need not or cannot see:
// fixed columns, columns in no row, rows that are empty, that bound one column
// only, that follow from the bounds or from other rows.
type reduced struct {
	p          *Problem
	lo, hi     []float64 // of all columns, narrowed
	rows       []Row     // over the columns that are kept
	kept       []int     // columns that are in rows
	fixed      []float64 // values of the others
	infeasible bool
	unbounded  bool // unless the rest is infeasible

	parts [][2]int // by kept column: its positive and negative part in the standard form, -1 if none
}

// reduce reduces a program with the bounds given. Cost O(rows² · columns) at worst,
// for the equations that depend on each other.
func reduce(p *Problem, lo, hi []float64) *reduced {
	r := &reduced{p: p, lo: slices.Clone(lo), hi: slices.Clone(hi), fixed: make([]float64, len(lo))}
	for i := range p.Rows {
		r.rows = append(r.rows, Row{slices.Clone(p.Rows[i].Cols), slices.Clone(p.Rows[i].Values), p.Rows[i].Lower, p.Rows[i].Upper})
	}
	for again := true; again && !r.infeasible; {
		again = r.fix()
		again = r.singles() || again
	}
	if !r.infeasible {
		r.redundant()
		r.parallel()
		r.dependent()
		r.implied()
		r.columns()
	}
	return r
}

// crossed reports whether bounds exclude every value, and says so in r.
func (r *reduced) crossed(lo, hi float64) bool {
	if lo > hi+Tolerance*1e-3*(1+math.Abs(lo)) {
		r.infeasible = true
	}
	return r.infeasible
}

// fix moves the columns that have one value into the bounds of the rows.
func (r *reduced) fix() bool {
	changed := false
	for j := range r.lo {
		if r.crossed(r.lo[j], r.hi[j]) {
			return false
		}
	}
	for i := range r.rows {
		row := &r.rows[i]
		n := 0
		for k, j := range row.Cols {
			if v := row.Values[k]; r.lo[j] >= r.hi[j] {
				row.Lower -= v * r.lo[j]
				row.Upper -= v * r.lo[j]
				changed = true
			} else if v != 0 {
				row.Cols[n], row.Values[n] = j, v
				n++
			}
		}
		row.Cols, row.Values = row.Cols[:n], row.Values[:n]
	}
	return changed
}

// singles turns rows with one column into bounds, and drops empty ones.
func (r *reduced) singles() bool {
	changed := false
	r.rows = slices.DeleteFunc(r.rows, func(row Row) bool {
		switch {
		case len(row.Cols) == 0:
			r.crossed(row.Lower, Tolerance)
			r.crossed(-Tolerance, row.Upper)
			return true
		case len(row.Cols) > 1:
			return false
		}
		j, v := row.Cols[0], row.Values[0]
		lo, hi := row.Lower/v, row.Upper/v
		if v < 0 {
			lo, hi = hi, lo
		}
		r.narrow(j, lo, hi)
		changed = true
		return true
	})
	return changed
}

func (r *reduced) narrow(j int, lo, hi float64) {
	r.lo[j], r.hi[j] = max(r.lo[j], lo), min(r.hi[j], hi)
	if r.lo[j] > r.hi[j] && !r.crossed(r.lo[j], r.hi[j]) {
		r.hi[j] = r.lo[j]
	}
}

// redundant drops what follows from the bounds of the columns, and sees what
// contradicts them.
func (r *reduced) redundant() {
	r.rows = slices.DeleteFunc(r.rows, func(row Row) bool {
		lo, hi := 0.0, 0.0
		for k, j := range row.Cols {
			a, b := row.Values[k]*r.lo[j], row.Values[k]*r.hi[j]
			lo, hi = lo+min(a, b), hi+max(a, b)
		}
		r.crossed(lo, row.Upper)
		r.crossed(row.Lower, hi)
		return lo >= row.Lower && hi <= row.Upper
	})
}

// parallel joins rows that are multiples of each other.
func (r *reduced) parallel() {
	for i := range r.rows {
		sortRow(&r.rows[i])
		scale(&r.rows[i], 1/r.rows[i].Values[0])
	}
	slices.SortStableFunc(r.rows, func(a, b Row) int {
		if c := slices.Compare(a.Cols, b.Cols); c != 0 {
			return c
		}
		return slices.Compare(a.Values, b.Values)
	})
	n := 0
	for _, row := range r.rows {
		if n > 0 && slices.Equal(r.rows[n-1].Cols, row.Cols) && slices.Equal(r.rows[n-1].Values, row.Values) {
			last := &r.rows[n-1]
			last.Lower, last.Upper = max(last.Lower, row.Lower), min(last.Upper, row.Upper)
			if last.Lower > last.Upper && !r.crossed(last.Lower, last.Upper) {
				last.Upper = last.Lower
			}
			continue
		}
		r.rows[n] = row
		n++
	}
	r.rows = r.rows[:n]
}

func sortRow(row *Row) {
	type entry struct {
		col   int
		value float64
	}
	entries := make([]entry, len(row.Cols))
	for k := range entries {
		entries[k] = entry{row.Cols[k], row.Values[k]}
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.col - b.col })
	for k, e := range entries {
		row.Cols[k], row.Values[k] = e.col, e.value
	}
}

func scale(row *Row, by float64) {
	for k := range row.Values {
		row.Values[k] *= by
	}
	row.Lower, row.Upper = row.Lower*by, row.Upper*by
	if by < 0 {
		row.Lower, row.Upper = row.Upper, row.Lower
	}
}

// dependent drops equations that are combinations of others, by elimination with
// the largest entry of the equation as pivot.
func (r *reduced) dependent() {
	type eliminated struct {
		values []float64 // one more for the right-hand side
		pivot  int
	}
	n := len(r.lo)
	var basis []eliminated
	r.rows = slices.DeleteFunc(r.rows, func(row Row) bool {
		if row.Lower != row.Upper {
			return false
		}
		e := eliminated{values: make([]float64, n+1)}
		size := math.Abs(row.Lower)
		for k, j := range row.Cols {
			e.values[j] = row.Values[k]
			size = max(size, math.Abs(row.Values[k]))
		}
		e.values[n] = row.Lower
		for _, b := range basis {
			f := e.values[b.pivot] / b.values[b.pivot]
			for j := range e.values {
				if b.values[j] != 0 {
					e.values[j] -= f * b.values[j]
				}
			}
			e.values[b.pivot] = 0
		}
		for j := range n {
			if math.Abs(e.values[j]) > math.Abs(e.values[e.pivot]) {
				e.pivot = j
			}
		}
		if n > 0 && math.Abs(e.values[e.pivot]) > 1e-9*(1+size) {
			basis = append(basis, e)
			return false
		}
		r.infeasible = r.infeasible || math.Abs(e.values[n]) > Tolerance*(1+size)
		return true
	})
}

// implied drops upper bounds that follow from a row and other bounds: each would
// become a row of the standard form.
func (r *reduced) implied() {
	for i := range r.rows {
		row := &r.rows[i]
		for k, j := range row.Cols {
			if math.IsInf(r.lo[j], -1) || math.IsInf(r.hi[j], 1) {
				continue
			}
			limit, sign := row.Upper, 1.0
			if row.Values[k] < 0 {
				limit, sign = -row.Lower, -1
			}
			others := 0.0 // the least that the others add
			for q, c := range row.Cols {
				if v := sign * row.Values[q]; q != k {
					others += min(v*r.lo[c], v*r.hi[c])
				}
			}
			if limit-others <= math.Abs(row.Values[k])*r.hi[j] {
				r.hi[j] = math.Inf(1)
			}
		}
	}
}

// columns finds those that are in rows, and gives the others their best value.
func (r *reduced) columns() {
	used := make([]bool, len(r.lo))
	for i := range r.rows {
		for _, j := range r.rows[i].Cols {
			used[j] = true
		}
	}
	for j, c := range r.p.Objective {
		if used[j] {
			r.kept = append(r.kept, j)
			continue
		}
		r.fixed[j] = nearest(0, r.lo[j], r.hi[j])
		if best := r.lo[j]; c > 0 {
			r.fixed[j] = best
		} else if c < 0 {
			r.fixed[j] = r.hi[j]
		}
		if math.IsInf(r.fixed[j], 0) {
			r.unbounded = true
		}
	}
}

func nearest(v, lo, hi float64) float64 { return min(max(v, lo), hi) }
