package cpu

// A blockShape has the sizes of a transformer block, and what is special about one at an end.
type blockShape struct {
	batch, sequence, hidden, heads, inner int

	causal bool
	first  bool // reads batch.input, which needs no gradient
	pooled bool // puts out the mean over the positions of each sample, [batch, hidden]
}

func (s *blockShape) rows() int { return s.batch * s.sequence }

// block is a pre-norm transformer block (Xiong et al., "On Layer Normalization in the
// Transformer Architecture", arXiv:2002.04745) with biases and without dropout:
//
//	x₂  = x + attention(norm₁(x))·P
//	out = x₂ + gelu(norm₂(x₂)·W₁)·W₂
type block struct {
	blockShape
	attention attention
	all       []*parameter

	gamma1, beta1, qkv, qkvBias, projection, projectionBias *parameter
	gamma2, beta2, up, upBias, down, downBias               *parameter
}

func newBlock(s blockShape) *block {
	h, f := s.hidden, s.inner
	b := &block{
		blockShape: s,
		attention:  attention{s.batch, s.sequence, h, s.heads, s.causal},
		gamma1:     vector("norm1.weight", h, 1), beta1: vector("norm1.bias", h, 0),
		qkv: matrix("qkv.weight", h, 3*h, weightDeviation), qkvBias: vector("qkv.bias", 3*h, 0),
		projection: matrix("projection.weight", h, h, weightDeviation), projectionBias: vector("projection.bias", h, 0),
		gamma2: vector("norm2.weight", h, 1), beta2: vector("norm2.bias", h, 0),
		up: matrix("up.weight", h, f, weightDeviation), upBias: vector("up.bias", f, 0),
		down: matrix("down.weight", f, h, weightDeviation), downBias: vector("down.bias", h, 0),
	}
	b.all = []*parameter{
		b.gamma1, b.beta1, b.qkv, b.qkvBias, b.projection, b.projectionBias,
		b.gamma2, b.beta2, b.up, b.upBias, b.down, b.downBias,
	}
	return b
}

func (b *block) parameters() []*parameter { return b.all }

// footprint has 8nh + 2nf elements for backward weight, as in Zero Bubble (arXiv:2401.10241,
// Table 1), and the sums of the norms' gradients, 4h; see blockTensors.
func (b *block) footprint() footprint {
	n, h, f := b.rows(), b.hidden, b.inner
	work := max(n*f, n*h+b.attention.work())
	if b.pooled {
		work += n * h
	}
	return footprint{
		input:    n * h,
		retained: 7*n*h + 2*n*f + 4*h,
		kept:     4 * n,
		scores:   b.attention.scores(),
		work:     packSize + work,
	}
}

// blockTensors are the parts of a record. Backward input writes over some of them.
type blockTensors struct {
	x              []float32 // then the gradient of out
	y1, qkv, o, x2 []float32 // then, of qkv and x2, their gradients
	y2, u, g       []float32 // then, of u, its gradient
	sums1, sums2   []float32 // gradients of the norms' parameters
	stats1, stats2 []float32
}

func (b *block) tensors(r *record) blockTensors {
	n, h, f := b.rows(), b.hidden, b.inner
	c, t := cutter(r.retained), blockTensors{x: r.input}
	t.y1, t.qkv, t.o, t.x2 = c.next(n*h), c.next(3*n*h), c.next(n*h), c.next(n*h)
	t.y2, t.u, t.g = c.next(n*h), c.next(n*f), c.next(n*f)
	t.sums1, t.sums2 = c.next(2*h), c.next(2*h)
	if r.kept != nil {
		t.stats1, t.stats2 = r.kept[:2*n], r.kept[2*n:4*n]
	}
	return t
}

// space splits work space: that of products, that of a pooled block, and the rest.
func (b *block) space(r *record) (pack, positions, rest []float32) {
	c := cutter(r.work)
	pack = c.next(packSize)
	if b.pooled {
		positions = c.next(b.rows() * b.hidden)
	}
	return pack, positions, c
}

func (b *block) forward(r *record, in [][]float32, out []float32) {
	if b.first {
		copy(r.input, r.batch.input)
	} else {
		copy(r.input, in[0])
	}
	b.rebuild(r)
	t := b.tensors(r)
	pack, positions, _ := b.space(r)
	if !b.pooled {
		addLinear(out, t.x2, t.g, b.down, b.downBias, pack)
		return
	}
	addLinear(positions, t.x2, t.g, b.down, b.downBias, pack)
	meanOfPositions(out, positions, b.sequence, b.hidden)
}

// rebuild does all but the last product.
func (b *block) rebuild(r *record) {
	t := b.tensors(r)
	pack, _, _ := b.space(r)
	normForward(t.y1, t.x, b.gamma1.value, b.beta1.value, t.stats1)
	linear(t.qkv, t.y1, b.qkv, b.qkvBias, pack)
	b.attention.probabilities(r.scores, t.qkv, pack)
	b.attention.forward(t.o, r.scores, t.qkv, pack)
	addLinear(t.x2, t.x, t.o, b.projection, b.projectionBias, pack)
	normForward(t.y2, t.x2, b.gamma2.value, b.beta2.value, t.stats2)
	linear(t.u, t.y2, b.up, b.upBias, pack)
	gelu(t.g, t.u)
}

func (b *block) backwardInput(r *record, dout []float32, din [][]float32) {
	t := b.tensors(r)
	pack, positions, rest := b.space(r)
	if b.pooled {
		spreadMean(positions, dout, b.sequence, b.hidden)
		dout = positions
	}
	if r.rescore {
		b.attention.probabilities(r.scores, t.qkv, pack)
	}
	n, h := b.rows(), b.hidden
	dg := rest[:n*b.inner]
	linearInput(dg, dout, b.down, pack)
	geluBackward(t.u, dg)

	c := cutter(rest)
	dy, scratch := c.next(n*h), c
	linearInput(dy, t.u, b.up, pack)
	normBackward(t.x2, dout, dy, t.x2, b.gamma2.value, t.stats2, t.sums2)
	linearInput(dy, t.x2, b.projection, pack)
	b.attention.backward(t.qkv, r.scores, dy, scratch, pack)
	linearInput(dy, t.qkv, b.qkv, pack)
	var dx []float32
	if !b.first {
		dx = din[0]
	}
	normBackward(dx, t.x2, dy, t.x, b.gamma1.value, t.stats1, t.sums1)
	copy(t.x, dout)
}

func (b *block) backwardWeight(r *record) {
	t := b.tensors(r)
	pack, _, _ := b.space(r)
	linearWeight(t.g, t.x, b.down, b.downBias, pack)
	linearWeight(t.y2, t.u, b.up, b.upBias, pack)
	addNorm(b.gamma2, b.beta2, t.sums2)
	linearWeight(t.o, t.x2, b.projection, b.projectionBias, pack)
	linearWeight(t.y1, t.qkv, b.qkv, b.qkvBias, pack)
	addNorm(b.gamma1, b.beta1, t.sums1)
}

// addNorm adds the sums of normBackward to the gradients.
func addNorm(gamma, beta *parameter, sums []float32) {
	add(gamma.grad, sums)
	add(beta.grad, sums[gamma.cols:])
}

// meanOfPositions writes the mean over s rows of x, each of width h, to each row of out.
func meanOfPositions(out, x []float32, s, h int) {
	clear(out)
	for i := 0; i*h < len(out); i++ {
		row := out[i*h:][:h]
		addRows(row, x[i*s*h:][:s*h])
		for j := range row {
			row[j] /= float32(s)
		}
	}
}

// spreadMean writes the gradient of meanOfPositions' x, given that of out.
func spreadMean(dx, dout []float32, s, h int) {
	for i := 0; i*h < len(dx); i++ {
		from, to := dout[i/s*h:][:h], dx[i*h:][:h]
		for j, d := range from {
			to[j] = d / float32(s)
		}
	}
}
