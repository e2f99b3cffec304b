package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A layerCase is a layer with data, run as a stage would run it.
type layerCase struct {
	name   string
	layer  layer
	inputs []int // elements of each input
	output int   // elements of out; 0 for a layer of loss
	data   batch
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func tokens(r *rand.Rand, n, v int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(r.IntN(v))
	}
	return x
}

// layerCases returns all layers in usual and odd shapes.
func layerCases() []layerCase {
	r := rand.New(rand.NewPCG(1, 2))
	var cases []layerCase
	add := func(name string, l layer, inputs []int, output int, data batch) {
		initialize(l, rand.New(rand.NewPCG(3, 4)))
		for _, p := range l.parameters() { // away from the start, so that no gradient is special
			for i := range p.value {
				p.value[i] += 0.3 * float32(r.NormFloat64())
			}
		}
		data.scale = 0.5
		cases = append(cases, layerCase{name: name, layer: l, inputs: inputs, output: output, data: data})
	}
	for _, s := range []blockShape{
		{batch: 2, sequence: 3, hidden: 8, heads: 2, inner: 13, causal: true},
		{batch: 2, sequence: 3, hidden: 8, heads: 2, inner: 13},
		{batch: 1, sequence: 1, hidden: 5, heads: 1, inner: 3, causal: true},
		{batch: 2, sequence: 5, hidden: 6, heads: 3, inner: 7, first: true},
		{batch: 3, sequence: 2, hidden: 4, heads: 4, inner: 9, pooled: true},
	} {
		n, inputs, out, data := s.rows()*s.hidden, []int{s.rows() * s.hidden}, s.rows()*s.hidden, batch{}
		if s.first {
			inputs, data.input = nil, random(r, n)
		}
		if s.pooled {
			out = s.batch * s.hidden
		}
		add(fmt.Sprintf("block/%+v", s), newBlock(s), inputs, out, data)
	}
	for _, s := range []mlpShape{
		{batch: 2, sequence: 2, hidden: 5, inner: 7},
		{batch: 1, sequence: 1, hidden: 1, inner: 1},
		{batch: 3, sequence: 1, hidden: 4, inner: 6, first: true},
		{batch: 3, sequence: 1, hidden: 4, inner: 6, last: true},
		{batch: 3, sequence: 1, hidden: 4, inner: 6, first: true, last: true},
		{batch: 2, sequence: 3, hidden: 4, inner: 3, pooled: true},
	} {
		n := s.rows() * s.hidden
		inputs, out, data := []int{n}, n, batch{}
		if s.first {
			inputs, data.input = nil, random(r, n)
		}
		if s.last {
			out, data.wanted = 0, random(r, n)
		}
		if s.pooled {
			out = s.batch * s.hidden
		}
		add(fmt.Sprintf("mlp/%+v", s), newMLP(s), inputs, out, data)
	}
	add("embedding", newEmbedding(2, 3, 4, 5), nil, 30, batch{tokens: tokens(r, 6, 4)})
	add("embedding of one", newEmbedding(1, 1, 1, 1), nil, 1, batch{tokens: tokens(r, 1, 1)})
	add("head", newHead(6, 5, 11), []int{30}, 0, batch{targets: tokens(r, 6, 11)})
	add("head of one token", newHead(1, 4, 1), []int{4}, 0, batch{targets: tokens(r, 1, 1)})
	add("join", newJoin(4, [2]int{5, 3}), []int{20, 12}, 0, batch{})
	add("join of one sample", newJoin(1, [2]int{2, 4}), []int{2, 4}, 0, batch{})
	return cases
}

// A run of a layer on one micro-batch.
type layerRun struct {
	out  []float32
	din  [][]float32
	loss float64
}

// poisoned returns n elements that make a result NaN if it reads them.
func poisoned(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// mode is how a test holds a record.
type mode int

const (
	whole mode = iota
	selective
	full
)

// train runs the three operations of a layer, with memory that is poisoned as soon as the
// contract of layer lets a stage use it for something else.
func (c *layerCase) train(m mode, in [][]float32, dout []float32) layerRun {
	f, l, data := c.layer.footprint(), c.layer, c.data
	if f.fixed {
		m = whole
	}
	for _, p := range l.parameters() {
		clear(p.grad)
	}
	var run layerRun
	r := &record{batch: &data, input: poisoned(f.input), retained: poisoned(f.retained),
		kept: poisoned(f.kept), scores: poisoned(f.scores), work: poisoned(f.work), rescore: m == selective}
	if c.output > 0 {
		run.out = poisoned(c.output)
	}
	l.forward(r, in, run.out)
	run.loss = data.loss
	r.work, r.added = poisoned(f.work), poisoned(f.added)
	switch m {
	case selective:
		r.scores = poisoned(f.scores)
	case full:
		r.retained, r.kept, r.scores = poisoned(f.retained), poisoned(f.kept), poisoned(f.scores)
		l.rebuild(r)
	}
	for _, n := range c.inputs {
		run.din = append(run.din, poisoned(n))
	}
	l.backwardInput(r, dout, run.din)
	r.kept, r.scores, r.work = nil, nil, poisoned(f.work)
	l.backwardWeight(r)
	return run
}

func (c *layerCase) data32(seed uint64) (in [][]float32, dout []float32) {
	r := rand.New(rand.NewPCG(seed, 9))
	for _, n := range c.inputs {
		in = append(in, random(r, n))
	}
	if c.output > 0 {
		dout = random(r, c.output)
	}
	return in, dout
}

func bits(x []float32) []uint32 {
	b := make([]uint32, len(x))
	for i, v := range x {
		b[i] = math.Float32bits(v)
	}
	return b
}

func gradients(l layer) [][]uint32 {
	var g [][]uint32
	for _, p := range l.parameters() {
		g = append(g, bits(p.grad))
	}
	return g
}

func TestRecomputationChangesNoBit(t *testing.T) {
	for _, c := range layerCases() {
		t.Run(c.name, func(t *testing.T) {
			in, dout := c.data32(5)
			want := c.train(whole, in, dout)
			grads := gradients(c.layer)
			for _, m := range []mode{whole, selective, full} {
				got := c.train(m, in, dout)
				if !slices.Equal(bits(got.out), bits(want.out)) || got.loss != want.loss {
					t.Errorf("mode %d: another output or loss", m)
				}
				for i := range want.din {
					if !slices.Equal(bits(got.din[i]), bits(want.din[i])) {
						t.Errorf("mode %d: another gradient of input %d", m, i)
					}
				}
				for i, g := range gradients(c.layer) {
					if !slices.Equal(g, grads[i]) {
						t.Errorf("mode %d: another gradient of %s", m, c.layer.parameters()[i].name)
					}
				}
			}
		})
	}
}

// loss64 is what finite differences are taken of: scale·loss, or Σ out·dout, of the reference.
func (c *layerCase) loss64(in [][]float64, parameters [][]float64, dout []float32) float64 {
	out, loss := reference(c, in, parameters)
	if c.output == 0 {
		return loss * float64(c.data.scale)
	}
	for i, v := range out {
		loss += v * float64(dout[i])
	}
	return loss
}

// TestGradients compares with central differences of an independent forward in 64 bits. The
// bound is relative to the largest element of the same tensor: sums of up to a hundred terms
// in 32 bits, against differences whose own error is below 1e-7.
func TestGradients(t *testing.T) {
	for _, c := range layerCases() {
		t.Run(c.name, func(t *testing.T) {
			in, dout := c.data32(7)
			got := c.train(whole, in, dout)
			in64, parameters := widen(in), [][]float64{}
			for _, p := range c.layer.parameters() {
				parameters = append(parameters, widen([][]float32{p.value})[0])
			}
			out, loss := reference(&c, in64, parameters)
			near(t, "out", got.out, out)
			if math.Abs(got.loss-loss) > 2e-6*(1+math.Abs(loss)) {
				t.Errorf("loss %v, want %v", got.loss, loss)
			}
			f := func() float64 { return c.loss64(in64, parameters, dout) }
			for i := range in64 {
				near(t, fmt.Sprint("gradient of input ", i), got.din[i], differences(in64[i], f))
			}
			for i, p := range c.layer.parameters() {
				near(t, "gradient of "+p.name, p.grad, differences(parameters[i], f))
			}
		})
	}
}

func widen(x [][]float32) [][]float64 {
	w := make([][]float64, len(x))
	for i := range x {
		for _, v := range x[i] {
			w[i] = append(w[i], float64(v))
		}
	}
	return w
}

func differences(x []float64, f func() float64) []float64 {
	const step = 1e-5
	d := make([]float64, len(x))
	for i, v := range x {
		x[i] = v + step
		up := f()
		x[i] = v - step
		d[i] = (up - f()) / (2 * step)
		x[i] = v
	}
	return d
}

func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	size := 0.01
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= 1e-5*size) {
			t.Errorf("%s[%d] = %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func TestLayersAllocateNothing(t *testing.T) {
	for _, c := range layerCases() {
		in, dout := c.data32(5)
		f, data := c.layer.footprint(), c.data
		r := &record{batch: &data, input: poisoned(f.input), retained: poisoned(f.retained),
			kept: poisoned(f.kept), scores: poisoned(f.scores), work: poisoned(f.work), added: poisoned(f.added)}
		out, din := make([]float32, c.output), in
		if allocated := testing.AllocsPerRun(5, func() {
			c.layer.forward(r, in, out)
			c.layer.rebuild(r)
			c.layer.backwardInput(r, dout, din)
			c.layer.backwardWeight(r)
		}); allocated != 0 {
			t.Errorf("%s: %v allocations", c.name, allocated)
		}
	}
}
