package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// TestExp visits every 499th number between the limits: errors are in units of the last place
// of the true value.
func TestExp(t *testing.T) {
	worst := 0.0
	for _, sign := range []uint32{0, 1 << 31} {
		for b := uint32(0); b < math.Float32bits(expMax); b += 499 {
			x := math.Float32frombits(sign | b)
			if x < -86 {
				break
			}
			want := math.Exp(float64(x))
			if want > math.MaxFloat32 {
				continue
			}
			_, exponent := math.Frexp(want)
			worst = max(worst, math.Abs(float64(exp(x))-want)/math.Ldexp(1, exponent-24))
		}
	}
	if worst > 2 {
		t.Errorf("exp is %.2f units in the last place off", worst)
	}
	t.Logf("largest error: %.2f units in the last place", worst)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range [][2]float32{{0, 1}, {-inf, 0}, {inf, inf}, {89, inf}, {-87, 0}, {nan, nan}} {
		if got := exp(c[0]); math.Float32bits(got) != math.Float32bits(c[1]) && !(c[1] != c[1] && got != got) {
			t.Errorf("exp(%v) = %v, want %v", c[0], got, c[1])
		}
	}
}

func TestGELUOfLargeNumbers(t *testing.T) {
	u, g := []float32{-1e4, -30, 0, 30, 1e4}, make([]float32, 5)
	gelu(g, u)
	geluBackward(u, []float32{1, 1, 1, 1, 1})
	if want := []float32{0, 0, 0, 30, 1e4}; !slices.Equal(g, want) {
		t.Errorf("gelu %v, want %v", g, want)
	}
	if want := []float32{0, 0, 0.5, 1, 1}; !slices.Equal(u, want) {
		t.Errorf("gradient %v, want %v", u, want)
	}
}

func TestSoftmaxOfLargeNumbers(t *testing.T) {
	x := []float32{1e30, -1e30, 3, 1e30}
	softmax(x, 2, 2, 1, true)
	if want := []float32{1, 0, 0, 1}; !slices.Equal(x, want) {
		t.Errorf("softmax %v, want %v", x, want)
	}
}

func TestCrossEntropyIsStable(t *testing.T) {
	logits := []float32{1000, 0, -1000}
	if loss := crossEntropy(logits, []int32{2}, 3, 1); loss != 2000 {
		t.Errorf("loss %v, want 2000", loss)
	}
	if want := []float32{1, 0, -1}; !slices.Equal(logits, want) {
		t.Errorf("gradient %v, want %v", logits, want)
	}
}

// TestParametersAreThoseOfTheNetwork compares counts with package network.
func TestParametersAreThoseOfTheNetwork(t *testing.T) {
	g := network.GPT{Layers: 1, Hidden: 12, Heads: 3, Sequence: 5, Vocabulary: 17, FeedForward: 7, MicroBatchSize: 2, DType: network.FP32}
	branches := network.TwoBranch{MicroBatchSize: 3, DType: network.FP32, Branches: [2]network.Stack{
		{Layers: 1, Hidden: 10, Heads: 2, Sequence: 4}, {Layers: 1, Hidden: 6, FeedForward: 5},
	}}
	m := network.MLP{Layers: 1, Hidden: 6, FeedForward: 5, MicroBatchSize: 2, DType: network.FP32}
	compare(t, g, newEmbedding(2, 5, 17, 12),
		newBlock(blockShape{batch: 2, sequence: 5, hidden: 12, heads: 3, inner: 7}), newHead(10, 12, 17))
	compare(t, m, newMLP(mlpShape{batch: 2, sequence: 1, hidden: 6, inner: 5}))
	compare(t, branches,
		newBlock(blockShape{batch: 3, sequence: 4, hidden: 10, heads: 2, inner: 40}),
		newMLP(mlpShape{batch: 3, sequence: 1, hidden: 6, inner: 5}), newJoin(3, [2]int{10, 6}))
}

func compare(t *testing.T, of interface {
	Parts() ([]network.Part, error)
}, layers ...layer) {
	t.Helper()
	parts, err := of.Parts()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		for _, want := range part.Layers {
			var count int64
			for _, p := range layers[0].parameters() {
				count += int64(p.rows) * int64(p.cols)
			}
			if count != want.Parameters {
				t.Errorf("%T %s: %d parameters, want %d", of, want.Name, count, want.Parameters)
			}
			layers = layers[1:]
		}
	}
}

func TestInitializeDependsOnItsSeedOnly(t *testing.T) {
	values := func(seed uint64) (all []uint32) {
		l := newBlock(blockShape{batch: 1, sequence: 1, hidden: 4, heads: 1, inner: 4})
		initialize(l, rand.New(rand.NewPCG(seed, 0)))
		for _, p := range l.parameters() {
			all = append(all, bits(p.value)...)
		}
		return all
	}
	if !slices.Equal(values(1), values(1)) || slices.Equal(values(1), values(2)) {
		t.Error("values do not depend on the seed, or on something else")
	}
}

func BenchmarkKernels(b *testing.B) {
	const n, h, f, s, v = 512, 128, 512, 128, 8192
	r := rand.New(rand.NewPCG(1, 1))
	x, y, stats, sums := random(r, n*h), random(r, n*h), make([]float32, 2*n), make([]float32, 2*h)
	gamma, u, g := random(r, h), random(r, n*f), random(r, n*f)
	scores, logits, targets := random(r, 4*s*s), random(r, n*v), tokens(r, n, v)
	for _, k := range []struct {
		name     string
		elements int
		run      func()
	}{
		{"norm forward", n * h, func() { normForward(y, x, gamma, gamma, stats) }},
		{"norm backward", n * h, func() { normBackward(y, nil, y, x, gamma, stats, sums) }},
		{"gelu", n * f, func() { gelu(g, u) }},
		{"gelu backward", n * f, func() { geluBackward(u, g) }},
		{"softmax", 4 * s * s, func() { softmax(scores, 4*s, s, 0.1, false) }},
		{"softmax backward", 4 * s * s, func() { softmaxBackward(scores, g, 4*s, s, 0.1) }},
		{"cross entropy", n * v, func() { crossEntropy(logits, targets, v, 1) }},
		{"exp", n * f, func() {
			for i, v := range u {
				g[i] = exp(v)
			}
		}},
		{"math.Exp", n * f, func() {
			for i, v := range u {
				g[i] = float32(math.Exp(float64(v)))
			}
		}},
	} {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				k.run()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*k.elements), "ns/element")
		})
	}
}

// BenchmarkLayers has the work of package network, at 4 samples of 128 positions of width 128.
func BenchmarkLayers(b *testing.B) {
	g := network.GPT{Layers: 1, Hidden: 128, Heads: 4, Sequence: 128, Vocabulary: 8192, MicroBatchSize: 4, DType: network.FP32}
	chain, err := g.Chain()
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	benchmarkLayer(b, "block", newBlock(blockShape{batch: 4, sequence: 128, hidden: 128, heads: 4, inner: 512, causal: true}), chain[1], batch{})
	benchmarkLayer(b, "head", newHead(512, 128, 8192), chain[2], batch{targets: tokens(r, 512, 8192)})
}

func benchmarkLayer(b *testing.B, name string, l layer, work network.Layer, data batch) {
	r := rand.New(rand.NewPCG(1, 1))
	initialize(l, r)
	data.scale = 1
	const n = 512 * 128
	f := l.footprint()
	x, out, din := random(r, n), make([]float32, n), make([]float32, n)
	in, dins := [][]float32{x}, [][]float32{din}
	rec := &record{batch: &data, input: make([]float32, f.input), retained: make([]float32, f.retained),
		kept: make([]float32, f.kept), scores: make([]float32, f.scores), work: make([]float32, f.work)}
	run := func(kind string, flops float64, op, restore func()) {
		b.Run(name+"/"+kind, func(b *testing.B) {
			for b.Loop() {
				op()
				b.StopTimer()
				restore()
				b.StartTimer()
			}
			gigaflops(b, flops)
		})
	}
	forward := func() { l.forward(rec, in, out) }
	backward := func() { l.backwardInput(rec, x, dins) }
	run("forward", work.Forward, forward, func() {})
	run("backward input", work.BackwardInput, backward, forward)
	backward()
	run("backward weight", work.BackwardWeight, func() { l.backwardWeight(rec) }, func() {})
}
