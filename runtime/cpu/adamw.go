package cpu

import "math"

// AdamW is the optimizer: Adam with weight decay that is not part of the gradient
// (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019,
// arXiv:1711.05101, Algorithm 2). It decays matrices only; biases and the gains of norms
// are left alone.
type AdamW struct {
	LearningRate float64
	Beta1, Beta2 float64 // decay of the two moments, below 1
	Epsilon      float64
	WeightDecay  float64
}

// DefaultAdamW returns the settings that are common for transformers, with a learning rate
// for small ones.
func DefaultAdamW() AdamW {
	return AdamW{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8, WeightDecay: 0.1}
}

// adamState is what the optimizer remembers of a parameter.
type adamState struct{ first, second []float32 }

func newAdamState(p *parameter) adamState {
	return adamState{make([]float32, len(p.value)), make([]float32, len(p.value))}
}

// step changes the values of p by its gradient. step counts from 1.
func (o AdamW) step(p *parameter, m adamState, step int) {
	beta1, beta2 := float32(o.Beta1), float32(o.Beta2)
	// The bias corrections 1-β^t of both moments, put into the two constants that they
	// scale: the rate, and the root of the second moment.
	rate := float32(o.LearningRate / (1 - math.Pow(o.Beta1, float64(step))))
	root := float32(1 / math.Sqrt(1-math.Pow(o.Beta2, float64(step))))
	epsilon, keep := float32(o.Epsilon), float32(1)
	if p.rows > 1 {
		keep -= float32(o.LearningRate * o.WeightDecay)
	}
	value, first, second := p.value, m.first[:len(p.value)], m.second[:len(p.value)]
	for i, g := range p.grad {
		// The conversions keep a compiler from fusing a product and a sum, so that the result
		// is the same on every processor.
		first[i] = float32(beta1*first[i]) + float32((1-beta1)*g)
		second[i] = float32(beta2*second[i]) + float32((1-beta2)*float32(g*g))
		deviation := float32(root*float32(math.Sqrt(float64(second[i])))) + epsilon
		value[i] = float32(keep*value[i]) - float32(rate*float32(first[i]/deviation))
	}
}
