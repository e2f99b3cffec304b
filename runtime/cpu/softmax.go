package cpu

import "math"

// softmax replaces each row of the rows×cols matrix x by softmax(scale·row). If causal, row i
// has the columns to i only, and 0 behind.
func softmax(x []float32, rows, cols int, scale float32, causal bool) {
	for i := range rows {
		row := x[i*cols:][:cols]
		if causal {
			clear(row[i+1:])
			row = row[:i+1]
		}
		sum := expRow(row, scale, largest(row))
		inverse := 1 / sum
		for j := range row {
			row[j] *= inverse
		}
	}
}

// softmaxBackward replaces the gradient dp of softmax's results p by that of its arguments,
// scale·p·(dp - Σ dp·p), row by row. Where p is 0 by the causal mask, so is the result.
func softmaxBackward(dp, p []float32, rows, cols int, scale float32) {
	for i := range rows {
		d, q := dp[i*cols:][:cols], p[i*cols:][:cols]
		var sum float32
		for j, v := range q {
			sum += d[j] * v
		}
		for j, v := range q {
			d[j] = scale * v * (d[j] - sum)
		}
	}
}

// largest returns the largest element of x.
func largest(x []float32) float32 {
	top := x[0]
	for _, v := range x[1:] {
		if v > top {
			top = v
		}
	}
	return top
}

// expRow replaces x by exp(scale·(x - top)), scale > 0, and returns the sum. With the largest
// element as top, nothing overflows and the sum is at least 1.
func expRow(x []float32, scale, top float32) float32 {
	var sum float32
	for j, v := range x {
		e := exp(scale * (v - top))
		x[j] = e
		sum += e
	}
	return sum
}

// crossEntropy replaces logits, one row of width v for each target, by the gradient
// scale/n·(softmax(row) - 1 at the target), and returns the mean of -ln softmax(row)[target].
func crossEntropy(logits []float32, targets []int32, v int, scale float32) float64 {
	var loss float64
	each := scale / float32(len(targets))
	for i, target := range targets {
		row := logits[i*v:][:v]
		top := largest(row)
		margin := float64(top) - float64(row[target])
		sum := expRow(row, 1, top)
		loss += margin + math.Log(float64(sum))
		factor := each / sum
		for j := range row {
			row[j] *= factor
		}
		row[target] -= each
	}
	return loss / float64(len(targets))
}

// squaredError writes d = 2·scale/len·(y - wanted) and returns the mean of (y - wanted)².
// d may be y.
func squaredError(d, y, wanted []float32, scale float32) float64 {
	var loss float64
	factor := 2 * scale / float32(len(y))
	for i, v := range y {
		e := v - wanted[i]
		loss += float64(e) * float64(e)
		d[i] = factor * e
	}
	return loss / float64(len(y))
}

// contrast is the symmetric loss of CLIP (arXiv:2103.00020, Figure 3) on the b×b matrix of
// scaled similarities s: cross entropy with the diagonal as targets, along rows and along
// columns, in equal parts. It replaces s by its gradient, and returns the loss and the
// gradient of the logarithm of the scale, Σ ds·s. work has 2b elements.
func contrast(s []float32, b int, scale float32, work []float32) (loss float64, dscale float32) {
	rows, cols := work[:b], work[b:2*b]
	for i := range b {
		rows[i], cols[i] = logSum(s[i*b:], b, 1), logSum(s[i:], b, b)
		loss += float64(rows[i]) + float64(cols[i]) - 2*float64(s[i*b+i])
	}
	each := scale / float32(2*b)
	for i := range b {
		row := s[i*b:][:b]
		for j, v := range row {
			d := exp(v-rows[i]) + exp(v-cols[j])
			if i == j {
				d -= 2
			}
			row[j] = each * d
			dscale += row[j] * v
		}
	}
	return loss / float64(2*b), dscale
}

// logSum returns ln Σ exp(x) over n elements, stride apart.
func logSum(x []float32, n, stride int) float32 {
	top := x[0]
	for i := 1; i < n; i++ {
		top = max(top, x[i*stride])
	}
	var sum float32
	for i := range n {
		sum += exp(x[i*stride] - top)
	}
	return top + float32(math.Log(float64(sum)))
}
