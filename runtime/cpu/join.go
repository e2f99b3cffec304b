package cpu

import "math"

// join compares what two branches put out by the contrastive loss of CLIP (Radford et al.,
// arXiv:2103.00020, Figure 3): norm, projection to the smaller width d, vectors of length 1,
// and the b×b similarities times a temperature, whose logarithm is learned.
type join struct {
	batch, width int
	sides        [2]joinSide
	temperature  *parameter
	all          []*parameter
}

type joinSide struct {
	hidden                  int
	gamma, beta, projection *parameter
}

// startTemperature is ln(1/0.07), as in CLIP.
const startTemperature = 2.6592601

// lengthEpsilon keeps the gradient of a vector of length 0 finite.
const lengthEpsilon = 1e-12

func newJoin(batch int, hidden [2]int) *join {
	j := &join{batch: batch, width: min(hidden[0], hidden[1]), temperature: vector("temperature", 1, startTemperature)}
	for i, name := range [2]string{"branch0.", "branch1."} {
		h := hidden[i]
		s := joinSide{
			hidden: h,
			gamma:  vector(name+"norm.weight", h, 1), beta: vector(name+"norm.bias", h, 0),
			projection: matrix(name+"projection.weight", h, j.width, inverseRoot(h)),
		}
		j.sides[i] = s
		j.all = append(j.all, s.gamma, s.beta, s.projection)
	}
	j.all = append(j.all, j.temperature)
	return j
}

// inverseRoot returns 1/√n.
func inverseRoot(n int) float32 { return float32(1 / math.Sqrt(float64(n))) }

func (j *join) parameters() []*parameter { return j.all }

// footprint retains of each branch the input of the product, bh, the gradient of its result,
// bd, and the sums of the norm's gradients, 2h, and the gradient of the temperature; it keeps
// the input of the norm, bh, with 2b statistics, the vectors of length 1, bd, with b factors,
// and the similarities, b².
func (j *join) footprint() footprint {
	b, d := j.batch, j.width
	p := footprint{retained: 1, kept: b * b, fixed: true}
	widest := 0
	for _, s := range j.sides {
		p.retained += b*s.hidden + b*d + 2*s.hidden
		p.kept += b*s.hidden + 2*b + b*d + b
		widest = max(widest, s.hidden)
	}
	p.work = packSize + max(2*b, b*d+b*widest)
	return p
}

type joinTensors struct {
	sides        [2]joinSideTensors
	similarities []float32 // then their gradient
	dtemperature []float32
}

type joinSideTensors struct {
	y, dp, sums             []float32
	x, stats, unit, factors []float32 // unit = factor · projection
}

func (j *join) tensors(r *record) joinTensors {
	var t joinTensors
	b, d := j.batch, j.width
	retained, kept := cutter(r.retained), cutter(r.kept)
	for i, s := range j.sides {
		t.sides[i].y, t.sides[i].dp, t.sides[i].sums = retained.next(b*s.hidden), retained.next(b*d), retained.next(2*s.hidden)
	}
	t.dtemperature = retained.next(1)
	if r.kept == nil {
		return t
	}
	for i, s := range j.sides {
		t.sides[i].x, t.sides[i].stats = kept.next(b*s.hidden), kept.next(2*b)
		t.sides[i].unit, t.sides[i].factors = kept.next(b*d), kept.next(b)
	}
	t.similarities = kept.next(b * b)
	return t
}

func (j *join) forward(r *record, in [][]float32, _ []float32) {
	t := j.tensors(r)
	b, d := j.batch, j.width
	pack := r.work[:packSize]
	for i, s := range j.sides {
		to := &t.sides[i]
		copy(to.x, in[i])
		normForward(to.y, to.x, s.gamma.value, s.beta.value, to.stats)
		linear(to.unit, to.y, s.projection, nil, pack)
		normalize(to.unit, to.factors)
	}
	clear(t.similarities)
	multiplyTransposed(dense(t.similarities, b), dense(t.sides[0].unit, d), dense(t.sides[1].unit, d), b, b, d, pack)
	factor := j.factor()
	for i := range t.similarities {
		t.similarities[i] *= factor
	}
	r.batch.loss, t.dtemperature[0] = contrast(t.similarities, b, r.batch.scale, r.work[packSize:])
}

// factor returns what similarities are multiplied by.
func (j *join) factor() float32 { return exp(j.temperature.value[0]) }

func (j *join) rebuild(*record) {}

func (j *join) backwardInput(r *record, _ []float32, din [][]float32) {
	t := j.tensors(r)
	b, d := j.batch, j.width
	c := cutter(r.work)
	pack, dunit := c.next(packSize), c.next(b*d)
	factor := j.factor()
	for i, s := range j.sides {
		from, other := &t.sides[i], dense(t.sides[1-i].unit, d)
		clear(dunit)
		if i == 0 {
			multiply(dense(dunit, d), dense(t.similarities, b), other, b, d, b, pack)
		} else {
			transposedMultiply(dense(dunit, d), dense(t.similarities, b), other, b, d, b, pack)
		}
		normalizeBackward(from.dp, dunit, from.unit, from.factors, factor)
		dy := c[:b*s.hidden]
		linearInput(dy, from.dp, s.projection, pack)
		normBackward(din[i], nil, dy, from.x, s.gamma.value, from.stats, from.sums)
	}
}

func (j *join) backwardWeight(r *record) {
	t := j.tensors(r)
	pack := r.work[:packSize]
	for i, s := range j.sides {
		linearWeight(t.sides[i].y, t.sides[i].dp, s.projection, nil, pack)
		addNorm(s.gamma, s.beta, t.sides[i].sums)
	}
	add(j.temperature.grad, t.dtemperature)
}

// normalize multiplies each row of x, of which there are as many as factors, by
// 1/√(Σ x² + ε), and notes that factor.
func normalize(x, factors []float32) {
	d := len(x) / len(factors)
	for i := range factors {
		row := x[i*d:][:d]
		var sum float64
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		factors[i] = float32(1 / math.Sqrt(sum+lengthEpsilon))
		for k := range row {
			row[k] *= factors[i]
		}
	}
}

// normalizeBackward writes the gradient of normalize's x, scale·factor·(d - z·(z·d)) for each
// row d of the gradient of its result z.
func normalizeBackward(dx, dz, z, factors []float32, scale float32) {
	d := len(z) / len(factors)
	for i, factor := range factors {
		row, unit, to := dz[i*d:][:d], z[i*d:][:d], dx[i*d:][:d]
		var dot float32
		for k, v := range unit {
			dot += row[k] * v
		}
		for k, v := range unit {
			to[k] = scale * factor * (row[k] - v*dot)
		}
	}
}
