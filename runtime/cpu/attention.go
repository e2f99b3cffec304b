package cpu

import "math"

// attention is multi-head attention on queries, keys and values that lie side by side, [q k v]
// of width 3h in each row (Vaswani et al., "Attention Is All You Need", arXiv:1706.03762).
// Each head of each sample has an s×s matrix of probabilities.
type attention struct {
	batch, sequence, hidden, heads int
	causal                         bool
}

// scores returns the elements of all matrices of probabilities.
func (a *attention) scores() int { return a.batch * a.heads * a.sequence * a.sequence }

// work returns the elements of work space that backward needs, besides that of products.
func (a *attention) work() int { return a.sequence * (a.sequence + a.hidden/a.heads) }

// head returns queries, keys and values of a head, counted over all samples.
func (a *attention) head(qkv []float32, i int) (q, k, v view) {
	all := dense(qkv, 3*a.hidden)
	row, col := i/a.heads*a.sequence, i%a.heads*(a.hidden/a.heads)
	return all.at(row, col), all.at(row, a.hidden+col), all.at(row, 2*a.hidden+col)
}

// output returns the place of a head in an n×h matrix.
func (a *attention) output(o []float32, i int) view {
	return dense(o, a.hidden).at(i/a.heads*a.sequence, i%a.heads*(a.hidden/a.heads))
}

// matrixOf returns the probabilities of a head.
func (a *attention) matrixOf(scores []float32, i int) []float32 {
	size := a.sequence * a.sequence
	return scores[i*size:][:size:size]
}

func (a *attention) scale() float32 { return float32(1 / math.Sqrt(float64(a.hidden/a.heads))) }

// probabilities writes softmax(q·kᵀ/√(h/a)) of all heads to scores.
func (a *attention) probabilities(scores, qkv, pack []float32) {
	s := a.sequence
	for i := range a.batch * a.heads {
		q, k, _ := a.head(qkv, i)
		p := a.matrixOf(scores, i)
		clear(p)
		multiplyTransposed(dense(p, s), q, k, s, s, a.hidden/a.heads, pack)
		softmax(p, s, s, a.scale(), a.causal)
	}
}

// forward writes the probabilities times the values to o.
func (a *attention) forward(o, scores, qkv, pack []float32) {
	s := a.sequence
	clear(o)
	for i := range a.batch * a.heads {
		_, _, v := a.head(qkv, i)
		multiply(a.output(o, i), dense(a.matrixOf(scores, i), s), v, s, a.hidden/a.heads, s, pack)
	}
}

// backward replaces qkv by its gradient, given that of o. With probabilities p:
// dp = do·vᵀ, dv = pᵀ·do, ds = softmax'(dp), dq = ds·k, dk = dsᵀ·q.
func (a *attention) backward(qkv, scores, do, work, pack []float32) {
	s, width := a.sequence, a.hidden/a.heads
	space := cutter(work)
	ds, dq := space.next(s*s), space.next(s*width)
	for i := range a.batch * a.heads {
		q, k, v := a.head(qkv, i)
		p, d := a.matrixOf(scores, i), a.output(do, i)
		clear(ds)
		multiplyTransposed(dense(ds, s), d, v, s, s, width, pack)
		clearRows(v, s, width)
		transposedMultiply(v, dense(p, s), d, s, width, s, pack)
		softmaxBackward(ds, p, s, s, a.scale())
		clear(dq)
		multiply(dense(dq, width), dense(ds, s), k, s, width, s, pack)
		clearRows(k, s, width)
		transposedMultiply(k, dense(ds, s), q, s, width, s, pack)
		for row := range s {
			copy(q.data[row*q.stride:], dq[row*width:][:width])
		}
	}
}

func clearRows(v view, rows, cols int) {
	for i := range rows {
		clear(v.data[i*v.stride:][:cols])
	}
}
