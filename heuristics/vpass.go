package heuristics

// vPass is one of the six passes of a micro-batch over a device of a V, which
// holds a first chunk on the way down and a second chunk on the way up.
type vPass int

// The passes; each of the first four waits for the one before it, and a weight
// pass for the input pass two before it.
const (
	firstForward vPass = iota
	secondForward
	secondInput
	firstInput
	secondWeight
	firstWeight
	numVPasses
)

// live is what a pass adds to the number of live stage activations.
func (v vPass) live() int {
	switch {
	case v <= secondForward:
		return 1
	case v >= secondWeight:
		return -1
	default:
		return 0
	}
}

// downstream reports whether the pass goes from rank 0 to the last: the forward
// of the first chunk does, and the backward of the second.
func (v vPass) downstream() bool { return v == firstForward || v == secondInput }

// pass lists a pass of a micro-batch on a rank of a V.
func (o *deviceOrder) pass(rank int, v vPass, m int) {
	first, second := o.c.stage(rank, 0), o.c.stage(rank, 1)
	switch v {
	case firstForward:
		o.forward(first, m)
	case secondForward:
		o.forward(second, m)
	case secondInput:
		o.input(second, m)
	case firstInput:
		o.input(first, m)
	case secondWeight:
		o.weight(second, m)
	case firstWeight:
		o.weight(first, m)
	}
}
