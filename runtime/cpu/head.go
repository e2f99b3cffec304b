package cpu

// head is the final norm, the output matrix without bias, and the cross entropy.
type head struct {
	rows, hidden, vocabulary int
	gamma, beta, output      *parameter
	all                      []*parameter
}

func newHead(rows, hidden, vocabulary int) *head {
	l := &head{
		rows: rows, hidden: hidden, vocabulary: vocabulary,
		gamma: vector("norm.weight", hidden, 1), beta: vector("norm.bias", hidden, 0),
		output: matrix("output.weight", hidden, vocabulary, weightDeviation),
	}
	l.all = []*parameter{l.gamma, l.beta, l.output}
	return l
}

func (l *head) parameters() []*parameter { return l.all }

// footprint retains the input of the product, nh, the logits, which become their gradient,
// nV, and the sums of the norm's gradients, 2h; it keeps the input of the norm, nh, and the
// statistics of its rows, 2n.
func (l *head) footprint() footprint {
	n, h := l.rows, l.hidden
	return footprint{
		retained: n*h + n*l.vocabulary + 2*h,
		kept:     n*h + 2*n,
		work:     packSize + n*h,
		fixed:    true,
	}
}

func (l *head) tensors(r *record) (y, logits, sums []float32) {
	c := cutter(r.retained)
	return c.next(l.rows * l.hidden), c.next(l.rows * l.vocabulary), c.next(2 * l.hidden)
}

func (l *head) forward(r *record, in [][]float32, _ []float32) {
	y, logits, _ := l.tensors(r)
	x, stats := r.kept[:l.rows*l.hidden], r.kept[l.rows*l.hidden:]
	copy(x, in[0])
	normForward(y, x, l.gamma.value, l.beta.value, stats)
	linear(logits, y, l.output, nil, r.work[:packSize])
	r.batch.loss = crossEntropy(logits, r.batch.targets, l.vocabulary, r.batch.scale)
}

func (l *head) rebuild(*record) {}

func (l *head) backwardInput(r *record, _ []float32, din [][]float32) {
	_, dlogits, sums := l.tensors(r)
	x, stats := r.kept[:l.rows*l.hidden], r.kept[l.rows*l.hidden:]
	dy := r.work[packSize:][:len(x)]
	linearInput(dy, dlogits, l.output, r.work[:packSize])
	normBackward(din[0], nil, dy, x, l.gamma.value, stats, sums)
}

func (l *head) backwardWeight(r *record) {
	y, dlogits, sums := l.tensors(r)
	linearWeight(y, dlogits, l.output, nil, r.work[:packSize])
	addNorm(l.gamma, l.beta, sums)
}
