package cpu

// An mlpShape has the sizes of an mlp block, and what is special about one at an end.
type mlpShape struct {
	batch, sequence, hidden, inner int

	first  bool // reads batch.input, which needs no gradient
	last   bool // compares with batch.wanted by squared error
	pooled bool // puts out the mean over the positions of each sample, [batch, hidden]
}

func (s *mlpShape) rows() int { return s.batch * s.sequence }

// mlp is the block gelu(x·W₁ + c₁)·W₂ + c₂.
type mlp struct {
	mlpShape
	up, upBias, down, downBias *parameter
	all                        []*parameter
}

// mlpGain makes the outputs of a block about as large as its inputs at the start, where
// there is no residual to carry them: the square of gelu of a standard normal has mean 0.425.
const mlpGain = 1.53

func newMLP(s mlpShape) *mlp {
	h, f := s.hidden, s.inner
	m := &mlp{
		mlpShape: s,
		up:       matrix("up.weight", h, f, inverseRoot(h)), upBias: vector("up.bias", f, 0),
		down: matrix("down.weight", f, h, mlpGain*inverseRoot(f)), downBias: vector("down.bias", h, 0),
	}
	m.all = []*parameter{m.up, m.upBias, m.down, m.downBias}
	return m
}

func (m *mlp) parameters() []*parameter { return m.all }

// footprint has the inputs of both products, nh + nf, and the gradients of their results,
// nf in the place of the activation function's input and nh, which a last block has from its
// forward on.
func (m *mlp) footprint() footprint {
	n, h, f := m.rows(), m.hidden, m.inner
	p := footprint{input: n * h, retained: 2 * n * f, added: n * h, work: packSize + n*f}
	if m.last {
		p.retained, p.added = p.retained+n*h, 0
	}
	if m.pooled {
		p.work = packSize + n*max(h, f)
	}
	return p
}

// tensors returns the input of the activation function, its result, and the gradient of
// what the block puts out.
func (m *mlp) tensors(r *record) (u, g, dy []float32) {
	c := cutter(r.retained)
	u, g = c.next(m.rows()*m.inner), c.next(m.rows()*m.inner)
	if m.last {
		return u, g, c
	}
	return u, g, r.added
}

func (m *mlp) forward(r *record, in [][]float32, out []float32) {
	if m.first {
		copy(r.input, r.batch.input)
	} else {
		copy(r.input, in[0])
	}
	m.rebuild(r)
	if m.last {
		return
	}
	_, g, _ := m.tensors(r)
	pack := r.work[:packSize]
	if !m.pooled {
		linear(out, g, m.down, m.downBias, pack)
		return
	}
	positions := r.work[packSize:][:m.rows()*m.hidden]
	linear(positions, g, m.down, m.downBias, pack)
	meanOfPositions(out, positions, m.sequence, m.hidden)
}

// rebuild does all but the last product; a last block goes on to the gradient of its loss.
func (m *mlp) rebuild(r *record) {
	u, g, dy := m.tensors(r)
	pack := r.work[:packSize]
	linear(u, r.input, m.up, m.upBias, pack)
	gelu(g, u)
	if m.last {
		linear(dy, g, m.down, m.downBias, pack)
		r.batch.loss = squaredError(dy, dy, r.batch.wanted, r.batch.scale)
	}
}

func (m *mlp) backwardInput(r *record, dout []float32, din [][]float32) {
	u, _, dy := m.tensors(r)
	pack, dg := r.work[:packSize], r.work[packSize:][:len(u)]
	switch {
	case m.last:
	case m.pooled:
		spreadMean(dy, dout, m.sequence, m.hidden)
	default:
		copy(dy, dout)
	}
	linearInput(dg, dy, m.down, pack)
	geluBackward(u, dg)
	if !m.first {
		linearInput(din[0], u, m.up, pack)
	}
}

func (m *mlp) backwardWeight(r *record) {
	du, g, dy := m.tensors(r)
	pack := r.work[:packSize]
	linearWeight(g, dy, m.down, m.downBias, pack)
	linearWeight(r.input, du, m.up, m.upBias, pack)
}
