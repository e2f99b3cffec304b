package cpu

// Constants of the tanh form of GELU (Hendrycks and Gimpel, "Gaussian Error Linear Units",
// arXiv:1606.08415). 0.5·u·(1 + tanh(v)) is u·σ(2v) with the logistic function σ, and
// 2v = geluScale·(u + geluCube·u³).
const (
	geluScale = 2 * 0.7978845608028654 // 2·√(2/π)
	geluCube  = 0.044715
)

// gelu writes g = u·σ(geluScale·(u + geluCube·u³)), element by element.
func gelu(g, u []float32) {
	g = g[:len(u)]
	for i, x := range u {
		g[i] = x / (1 + exp(-geluScale*(x+geluCube*x*x*x)))
	}
}

// geluBackward writes the gradient of u over u, given that of g: with w the argument of σ,
// du = dg·(σ + u·σ·(1-σ)·w').
func geluBackward(u, dg []float32) {
	dg = dg[:len(u)]
	for i, x := range u {
		s := 1 / (1 + exp(-geluScale*(x+geluCube*x*x*x)))
		u[i] = dg[i] * (s + x*s*(1-s)*geluScale*(1+3*geluCube*x*x))
	}
}
