package sat

import "math/bits"

// closure is the relation "has to wait for" between jobs: transitive, as bit sets.
type closure struct {
	n      int
	words  int
	bits   []uint64 // row j: the jobs that have to wait for j
	cyclic bool     // some job has to wait for itself: there is no schedule
}

func newClosure(n int) *closure {
	words := (n + 63) / 64
	return &closure{n: n, words: words, bits: make([]uint64, n*words)}
}

// before reports whether b has to wait for a.
func (c *closure) before(a, b int32) bool {
	return c.bits[int(a)*c.words+int(b>>6)]>>(b&63)&1 == 1
}

func (c *closure) row(j int32) []uint64 { return c.bits[int(j)*c.words : (int(j)+1)*c.words] }

// inherit notes that b, and all that has to wait for b, has to wait for a. What has
// to wait for b must be known. Cost O(jobs / 64).
func (c *closure) inherit(a, b int32) {
	row := c.row(a)
	for i, w := range c.row(b) {
		row[i] |= w
	}
	row[b>>6] |= 1 << (b & 63)
}

// add notes that b has to wait for a, and what follows from it. It reports whether
// that is new. Cost O(jobs² / 64).
func (c *closure) add(a, b int32) bool {
	if a == b {
		c.cyclic = true
		return false
	}
	if c.before(a, b) {
		return false
	}
	if c.before(b, a) {
		c.cyclic = true
		return false
	}
	for x := range int32(c.n) {
		if x == a || c.before(x, a) {
			c.inherit(x, b)
		}
	}
	return true
}

// each calls f for all jobs that have to wait for j, in ascending order.
func (c *closure) each(j int32, f func(int32)) {
	for i, w := range c.row(j) {
		for ; w != 0; w &= w - 1 {
			f(int32(i*64 + bits.TrailingZeros64(w)))
		}
	}
}
