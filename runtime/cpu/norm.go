package cpu

import "math"

// normEpsilon is added to variances, as in GPT-2.
const normEpsilon = 1e-5

// normForward writes y = γ·(x - mean)/√(variance + ε) + β for each row of width len(gamma),
// and to stats mean and 1/√(variance + ε) of the row (Ba et al., "Layer Normalization",
// arXiv:1607.06450).
func normForward(y, x, gamma, beta, stats []float32) {
	h := len(gamma)
	for i := 0; i*h < len(x); i++ {
		row, to := x[i*h:][:h], y[i*h:][:h]
		mean, inverse := rowMoments(row)
		stats[2*i], stats[2*i+1] = mean, inverse
		beta := beta[:h]
		for j, g := range gamma {
			to[j] = g*((row[j]-mean)*inverse) + beta[j]
		}
	}
}

// rowMoments returns the mean and 1/√(variance + ε), in two passes.
func rowMoments(row []float32) (mean, inverse float32) {
	mean = sumAround(row, 0, false) / float32(len(row))
	variance := sumAround(row, mean, true) / float32(len(row))
	return mean, 1 / float32(math.Sqrt(float64(variance)+normEpsilon))
}

// sumAround returns Σ (x - center), or Σ (x - center)². It adds up every fourth element on its
// own: four chains of additions take a third of the time of one.
func sumAround(x []float32, center float32, squared bool) float32 {
	var s0, s1, s2, s3 float32
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d := x[0]-center, x[1]-center, x[2]-center, x[3]-center
		if squared {
			a, b, c, d = a*a, b*b, c*c, d*d
		}
		s0, s1, s2, s3 = s0+a, s1+b, s2+c, s3+d
	}
	for _, v := range x {
		a := v - center
		if squared {
			a *= a
		}
		s0 += a
	}
	return (s0 + s1) + (s2 + s3)
}

// normBackward writes dx = residual + the gradient that comes through a norm with inputs x,
// given dy; residual may be nil, dx may be x or residual, and is nil if nobody wants it. With
// x̂ = (x - mean)·inverse and d = dy·γ, the gradient is inverse·(d - mean(d) - x̂·mean(d·x̂)).
// sums[:h] and sums[h:2h] take those of γ and β, Σ dy·x̂ and Σ dy, in the order of rows.
func normBackward(dx, residual, dy, x, gamma, stats, sums []float32) {
	h := len(gamma)
	clear(sums[:2*h])
	for i := 0; i*h < len(x); i++ {
		row, d := x[i*h:][:h], dy[i*h:][:h]
		mean, inverse := stats[2*i], stats[2*i+1]
		first, second := normSums(row, d, gamma, sums, mean, inverse)
		if dx == nil {
			continue
		}
		to := dx[i*h:][:h]
		for j, g := range gamma {
			v := inverse * (d[j]*g - first - (row[j]-mean)*inverse*second)
			if residual != nil {
				v += residual[i*h+j]
			}
			to[j] = v
		}
	}
}

// normSums adds a row to the sums of normBackward, and returns mean(d) and mean(d·x̂).
func normSums(row, dy, gamma, sums []float32, mean, inverse float32) (first, second float32) {
	h := len(gamma)
	row, dy, dgamma, dbeta := row[:h], dy[:h], sums[:h], sums[h:2*h]
	for j, g := range gamma {
		normal := (row[j] - mean) * inverse
		dgamma[j] += dy[j] * normal
		dbeta[j] += dy[j]
		d := dy[j] * g
		first += d
		second += d * normal
	}
	return first / float32(h), second / float32(h)
}
