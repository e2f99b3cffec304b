package sat

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// count is a sum that literals bound from above: the sum is at least values[i]
// only if lits[i] is true. Values ascend from above 0.
type count struct {
	values []model.Bytes
	lits   []literal
}

// newCount returns the count of literals of a weight each, of which each is true
// only if those before it are.
func newCount(weight model.Bytes, lits []literal) count {
	var c count
	for i, l := range lits {
		c.values = append(c.values, weight*model.Bytes(i+1))
		c.lits = append(c.lits, l)
	}
	return c.simple()
}

// simple leaves out what is never reached; what is always reached stays.
func (c count) simple() count {
	for i, l := range c.lits {
		if l == no {
			return count{c.values[:i], c.lits[:i]}
		}
	}
	return c
}

// certain returns the value that is always reached, and the rest of the count
// beyond it.
func (c count) certain() (model.Bytes, count) {
	i := 0
	for i < len(c.lits) && c.lits[i] == yes {
		i++
	}
	if i == 0 {
		return 0, c
	}
	base := c.values[i-1]
	rest := count{lits: c.lits[i:]}
	for _, v := range c.values[i:] {
		rest.values = append(rest.values, v-base)
	}
	return base, rest
}

// atLeast returns the literal without which the count is below v.
func (c *count) atLeast(v model.Bytes) literal {
	if v <= 0 {
		return yes
	}
	if i, _ := slices.BinarySearch(c.values, v); i < len(c.values) {
		return c.lits[i]
	}
	return no
}

// demand adds clauses that hold only if the sum of the counts is at least need: a
// generalised totalizer. Cost: clauses of the product of the numbers of values of
// two counts, for each merge.
func (e *encoding) demand(counts []count, need model.Bytes) {
	var open []count
	for _, c := range counts {
		base, rest := c.certain()
		need -= base
		if len(rest.lits) > 0 {
			open = append(open, rest)
		}
	}
	if need <= 0 {
		return
	}
	for len(open) > 2 {
		slices.SortStableFunc(open, func(a, b count) int { return cmp.Compare(len(a.lits), len(b.lits)) })
		open = append(open[2:], e.merge(&open[0], &open[1], need))
	}
	for len(open) < 2 {
		open = append(open, count{})
	}
	a, b := &open[0], &open[1]
	e.pair(a, b, need, no)
}

// merge returns the count of a + b, as far as it matters up to need.
func (e *encoding) merge(a, b *count, need model.Bytes) count {
	var sum count
	if len(a.values)*len(b.values) > maxClauses {
		e.tooLarge = true
		return sum
	}
	for _, v := range slices.Concat([]model.Bytes{0}, a.values) {
		for _, w := range slices.Concat([]model.Bytes{0}, b.values) {
			if v+w > 0 {
				sum.values = append(sum.values, min(need, v+w))
			}
		}
	}
	slices.Sort(sum.values)
	sum.values = slices.Compact(sum.values)
	first := e.fresh(len(sum.values))
	for i, v := range sum.values {
		l := first + literal(i)
		sum.lits = append(sum.lits, l)
		e.pair(a, b, v, -l)
		if i > 0 {
			e.add(-l, l-1)
		}
	}
	e.mean(first, len(sum.lits), "sums of memory")
	return sum
}

// pair demands that a + b is at least v, unless a literal is true.
func (e *encoding) pair(a, b *count, v model.Bytes, unless literal) {
	e.add(unless, a.atLeast(1), b.atLeast(v))
	for i, have := range a.values {
		if have >= v {
			break
		}
		beyond := no
		if i+1 < len(a.lits) {
			beyond = a.lits[i+1]
		}
		e.add(unless, beyond, b.atLeast(v-have))
	}
}
