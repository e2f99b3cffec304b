package cpu

import "math/rand/v2"

// weightDeviation is the standard deviation of matrices at the start, as in GPT-2.
const weightDeviation = 0.02

// initialize allocates values and gradients of the parameters of a layer, and draws the
// values. They depend on r alone: whoever gives each layer of a network its own seed trains
// the same network however it is cut into stages. Until then a layer has only sizes.
func initialize(l layer, r *rand.Rand) {
	for _, p := range l.parameters() {
		p.value, p.grad = make([]float32, p.rows*p.cols), make([]float32, p.rows*p.cols)
		for i := range p.value {
			p.value[i] = p.mean
			if p.deviation > 0 {
				p.value[i] += p.deviation * float32(r.NormFloat64())
			}
		}
	}
}

// matrix returns a weight of the given deviation.
func matrix(name string, rows, cols int, deviation float32) *parameter {
	return &parameter{name: name, rows: rows, cols: cols, deviation: deviation}
}

// vector returns a vector whose elements are all start.
func vector(name string, n int, start float32) *parameter {
	return &parameter{name: name, rows: 1, cols: n, mean: start}
}

// cutter cuts slices into the tensors that lie in it one after the other.
type cutter []float32

func (c *cutter) next(n int) []float32 {
	part := (*c)[:n:n]
	*c = (*c)[n:]
	return part
}
