package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAdamW compares steps with Algorithm 2 of the paper, written down in float64 as it stands
// there.
func TestAdamW(t *testing.T) {
	o := AdamW{LearningRate: 0.01, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, WeightDecay: 0.2}
	for _, rows := range []int{1, 3} {
		const cols = 5
		p := &parameter{rows: rows, cols: cols, value: make([]float32, rows*cols), grad: make([]float32, rows*cols)}
		r := rand.New(rand.NewPCG(1, uint64(rows)))
		normal(p.value, 1, r)
		theta, m, v := make([]float64, rows*cols), make([]float64, rows*cols), make([]float64, rows*cols)
		for i, x := range p.value {
			theta[i] = float64(x)
		}
		decay := o.WeightDecay
		if rows == 1 {
			decay = 0 // a vector
		}
		state := newAdamState(p)
		for step := 1; step <= 20; step++ {
			normal(p.grad, 1, r)
			o.step(p, state, step)
			for i := range theta {
				g := float64(p.grad[i])
				m[i] = o.Beta1*m[i] + (1-o.Beta1)*g
				v[i] = o.Beta2*v[i] + (1-o.Beta2)*g*g
				mHat := m[i] / (1 - math.Pow(o.Beta1, float64(step)))
				vHat := v[i] / (1 - math.Pow(o.Beta2, float64(step)))
				theta[i] -= o.LearningRate * (mHat/(math.Sqrt(vHat)+o.Epsilon) + decay*theta[i])
				if diff := math.Abs(theta[i] - float64(p.value[i])); diff > 1e-5 {
					t.Fatalf("%d rows, step %d, element %d: %v, want %v", rows, step, i, p.value[i], theta[i])
				}
			}
		}
	}
}

func TestFinite(t *testing.T) {
	huge := float32(math.MaxFloat32)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for n := range 9 {
		data := make([]float32, n)
		fill(data, huge)
		if !finite(data) {
			t.Errorf("%d huge numbers are taken for infinite", n)
		}
		for i := range data {
			for _, bad := range []float32{nan, inf, -inf} {
				fill(data, -huge)
				data[i] = bad
				if finite(data) {
					t.Errorf("%v at place %d of %d is taken for finite", bad, i, n)
				}
			}
		}
	}
	if finite([]float32{inf, 0, 0, 0, -inf}) {
		t.Error("two infinities make up a finite sum")
	}
}
