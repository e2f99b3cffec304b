package cpu

import "math"

// The forward of all layers in 64 bits, straight from the formulas, one number at a time.

// reference returns what a layer puts out, and its loss.
func reference(c *layerCase, in, p [][]float64) ([]float64, float64) {
	switch l := c.layer.(type) {
	case *block:
		x := inputOr(in, c.data.input)
		y := refLinear(refNorm(x, p[0], p[1]), p[2], p[3])
		x = refAdd(x, refLinear(refAttention(y, l.blockShape), p[4], p[5]))
		u := refLinear(refNorm(x, p[6], p[7]), p[8], p[9])
		out := refAdd(x, refLinear(refGELU(u), p[10], p[11]))
		if l.pooled {
			out = refMean(out, l.sequence, l.hidden)
		}
		return out, 0
	case *mlp:
		out := refLinear(refGELU(refLinear(inputOr(in, c.data.input), p[0], p[1])), p[2], p[3])
		if l.last {
			return nil, refSquares(out, c.data.wanted)
		}
		if l.pooled {
			out = refMean(out, l.sequence, l.hidden)
		}
		return out, 0
	case *embedding:
		var out []float64
		for i, token := range c.data.tokens {
			for j := range l.hidden {
				out = append(out, p[0][int(token)*l.hidden+j]+p[1][i%l.sequence*l.hidden+j])
			}
		}
		return out, 0
	case *head:
		logits := refLinear(refNorm(in[0], p[0], p[1]), p[2], make([]float64, l.vocabulary))
		return nil, refCrossEntropy(logits, func(i int) int { return int(c.data.targets[i]) }, l.vocabulary)
	case *join:
		return nil, refJoin(l, in, p)
	}
	panic("no reference for this layer")
}

func inputOr(in [][]float64, data []float32) []float64 {
	if len(in) > 0 {
		return in[0]
	}
	return widen([][]float32{data})[0]
}

func refAdd(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = x[i] + y[i]
	}
	return z
}

func refLinear(x, w, bias []float64) []float64 {
	out := len(bias)
	in := len(w) / out
	y := make([]float64, len(x)/in*out)
	for i := range y {
		y[i] = bias[i%out]
		for k := range in {
			y[i] += x[i/out*in+k] * w[k*out+i%out]
		}
	}
	return y
}

func refNorm(x, gamma, beta []float64) []float64 {
	h := len(gamma)
	y := make([]float64, len(x))
	for i := range x {
		row := x[i/h*h:][:h]
		mean, square := 0.0, 0.0
		for _, v := range row {
			mean += v / float64(h)
		}
		for _, v := range row {
			square += (v - mean) * (v - mean) / float64(h)
		}
		y[i] = gamma[i%h]*(x[i]-mean)/math.Sqrt(square+1e-5) + beta[i%h]
	}
	return y
}

func refGELU(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
	}
	return y
}

func refAttention(qkv []float64, s blockShape) []float64 {
	h, width := s.hidden, s.hidden/s.heads
	out := make([]float64, s.rows()*h)
	for i := range out {
		row, head := i/h, i%h/width
		first := row / s.sequence * s.sequence
		var sum, mixed float64
		for other := first; other < first+s.sequence; other++ {
			if s.causal && other > row {
				break
			}
			dot := 0.0
			for k := range width {
				dot += qkv[row*3*h+head*width+k] * qkv[other*3*h+h+head*width+k]
			}
			e := math.Exp(dot / math.Sqrt(float64(width)))
			sum += e
			mixed += e * qkv[other*3*h+2*h+i%h]
		}
		out[i] = mixed / sum
	}
	return out
}

func refMean(x []float64, s, h int) []float64 {
	out := make([]float64, len(x)/s)
	for i, v := range x {
		out[i/h/s*h+i%h] += v / float64(s)
	}
	return out
}

func refSquares(y []float64, wanted []float32) float64 {
	sum := 0.0
	for i, v := range y {
		sum += (v - float64(wanted[i])) * (v - float64(wanted[i]))
	}
	return sum / float64(len(y))
}

func refCrossEntropy(logits []float64, target func(int) int, v int) float64 {
	loss, n := 0.0, len(logits)/v
	for i := range n {
		sum := 0.0
		for _, x := range logits[i*v:][:v] {
			sum += math.Exp(x - logits[i*v+target(i)])
		}
		loss += math.Log(sum) / float64(n)
	}
	return loss
}

func refJoin(l *join, in, p [][]float64) float64 {
	var unit [2][]float64
	for i := range unit {
		z := refLinear(refNorm(in[i], p[3*i], p[3*i+1]), p[3*i+2], make([]float64, l.width))
		for k := 0; k < len(z); k += l.width {
			sum := 0.0
			for _, v := range z[k:][:l.width] {
				sum += v * v
			}
			for j := range l.width {
				z[k+j] /= math.Sqrt(sum)
			}
		}
		unit[i] = z
	}
	b := l.batch
	rows, cols := make([]float64, b*b), make([]float64, b*b)
	for i := range b {
		for j := range b {
			for k := range l.width {
				rows[i*b+j] += math.Exp(p[6][0]) * unit[0][i*l.width+k] * unit[1][j*l.width+k]
			}
			cols[j*b+i] = rows[i*b+j]
		}
	}
	self := func(i int) int { return i }
	return (refCrossEntropy(rows, self, b) + refCrossEntropy(cols, self, b)) / 2
}
