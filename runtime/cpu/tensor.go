package cpu

import "sync"

// A tensor is what passes between stages: the output of one, or the gradient of it. Whoever
// has the pointer owns it, and gives it back to the pool in the end.
type tensor struct{ data []float32 }

// A tensorPool keeps tensors for use again. It is common to all devices, as tensors are taken on
// one and given back on another; an operation of a stage takes its lock once or twice.
//
// Tensors between stages are not activations of the model and not counted as such: a problem
// says nothing of what waits to be sent or to be read.
type tensorPool struct {
	mutex sync.Mutex
	free  map[int][]*tensor // by length
}

func newTensorPool() *tensorPool { return &tensorPool{free: map[int][]*tensor{}} }

// take returns a tensor of n elements of any value.
func (p *tensorPool) take(n int) *tensor {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	list := p.free[n]
	if len(list) == 0 {
		return &tensor{data: make([]float32, n)}
	}
	last := len(list) - 1
	t := list[last]
	p.free[n] = list[:last]
	return t
}

func (p *tensorPool) give(t *tensor) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.free[len(t.data)] = append(p.free[len(t.data)], t)
}

// finite reports whether all elements are finite numbers: the sum of float32 numbers cannot
// overflow in float64, and is finite only if they are. It costs one addition an element, in
// four sums that do not wait for each other.
func finite(data []float32) bool {
	var a, b, c, d float64
	for len(data) >= 4 {
		a += float64(data[0])
		b += float64(data[1])
		c += float64(data[2])
		d += float64(data[3])
		data = data[4:]
	}
	for _, x := range data {
		a += float64(x)
	}
	sum := a + b + c + d
	return sum-sum == 0
}
