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

// rowMoments returns the mean and 1/√(variance + ε), by two passes of four sums each.
func rowMoments(row []float32) (mean, inverse float32) {
	var s [4]float32
	for j := range len(row) / 4 {
		x := row[4*j:][:4]
		s[0], s[1], s[2], s[3] = s[0]+x[0], s[1]+x[1], s[2]+x[2], s[3]+x[3]
	}
	for _, x := range row[len(row)/4*4:] {
		s[0] += x
	}
	mean = ((s[0] + s[1]) + (s[2] + s[3])) / float32(len(row))
	s = [4]float32{}
	for j := range len(row) / 4 {
		x := row[4*j:][:4]
		a, b, c, d := x[0]-mean, x[1]-mean, x[2]-mean, x[3]-mean
		s[0], s[1], s[2], s[3] = s[0]+a*a, s[1]+b*b, s[2]+c*c, s[3]+d*d
	}
	for _, x := range row[len(row)/4*4:] {
		s[0] += (x - mean) * (x - mean)
	}
	variance := ((s[0] + s[1]) + (s[2] + s[3])) / float32(len(row))
	return mean, 1 / float32(math.Sqrt(float64(variance)+normEpsilon))
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
