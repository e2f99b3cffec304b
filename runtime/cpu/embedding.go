package cpu

// embedding looks up tokens in a table and adds a learned position: out = T[token] + P[place],
// for rows that are samples of so many positions, one after the other.
type embedding struct {
	rows, sequence, hidden int
	tokens, positions      *parameter
	all                    []*parameter
}

func newEmbedding(batch, sequence, vocabulary, hidden int) *embedding {
	e := &embedding{
		rows: batch * sequence, sequence: sequence, hidden: hidden,
		tokens:    matrix("tokens.weight", vocabulary, hidden, weightDeviation),
		positions: matrix("positions.weight", sequence, hidden, weightDeviation),
	}
	e.all = []*parameter{e.tokens, e.positions}
	return e
}

func (e *embedding) parameters() []*parameter { return e.all }

// footprint has the gradient of out, which backward weight reads.
func (e *embedding) footprint() footprint { return footprint{added: e.rows * e.hidden, fixed: true} }

func (e *embedding) forward(r *record, _ [][]float32, out []float32) {
	h := e.hidden
	for i, token := range r.batch.tokens {
		t, p, to := e.tokens.value[int(token)*h:][:h], e.positions.value[i%e.sequence*h:][:h], out[i*h:][:h]
		for j := range to {
			to[j] = t[j] + p[j]
		}
	}
}

func (e *embedding) rebuild(*record) {}

func (e *embedding) backwardInput(r *record, dout []float32, _ [][]float32) { copy(r.added, dout) }

// backwardWeight adds rows in their order: a token may occur more than once.
func (e *embedding) backwardWeight(r *record) {
	h := e.hidden
	for i, token := range r.batch.tokens {
		d := r.added[i*h:][:h]
		add(e.tokens.grad[int(token)*h:][:h], d)
		add(e.positions.grad[i%e.sequence*h:][:h], d)
	}
}
