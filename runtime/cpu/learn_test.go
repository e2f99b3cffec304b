package cpu

import (
	"context"
	"math"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// TestLossFalls trains small networks for a while. A gpt that knew only how often each byte
// comes would reach the entropy of that distribution; to get below, it must have learned what
// follows what. Two branches that give away nothing about which views belong together have
// the loss ln b on b samples; two thirds of it is out of reach without having learned that.
// The squared error of an mlp has to fall to a tenth.
func TestLossFalls(t *testing.T) {
	const size = 16
	tests := []struct {
		b     *network.Blueprint
		rate  float64
		steps int
		limit func(first float64) float64
	}{
		{gptOf(2), 0.01, 40, func(float64) float64 { return unigramEntropy() }},
		{mlpOf(3), 0.01, 60, func(first float64) float64 { return first / 10 }},
		{twoBranchOf(1, 1), 0.003, 100, func(float64) float64 { return math.Log(size) * 2 / 3 }},
	}
	for _, test := range tests {
		if test.b.Kind == "two-branch" && testing.Short() {
			continue // takes longest
		}
		b := *test.b
		b.MicroBatchSize = size
		o := Options{Seed: 1, Optimizer: AdamW{LearningRate: test.rate, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8}}
		r, err := Unpipelined(&b, 4, o)
		if err != nil {
			t.Fatal(err)
		}
		var losses []float64
		for i := range test.steps {
			loss, err := r.Iterate(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, loss)
		}
		last, limit := mean(losses[test.steps-5:]), test.limit(losses[0])
		t.Logf("%s: the loss falls from %.3f to %.3f, the limit is %.3f", b.Kind, losses[0], last, limit)
		if last > limit {
			t.Errorf("%s: the loss is %.3f at first and %.3f after %d steps, want at most %.3f", b.Kind, losses[0], last, test.steps, limit)
		}
	}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// unigramEntropy returns the entropy of the bytes of the text, in nats.
func unigramEntropy() float64 {
	counts := make([]float64, minVocabulary)
	for i := range len(text) {
		counts[text[i]]++
	}
	h := 0.0
	for _, c := range counts {
		if p := c / float64(len(text)); p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// TestGPTLooksBackOnly tests that what a gpt makes of a position does not depend on the tokens
// after it, which are what it has to predict, nor on those of another sample.
func TestGPTLooksBackOnly(t *testing.T) {
	b := cut(t, gptOf(2), 2)
	l, err := newLayout(b)
	if err != nil {
		t.Fatal(err)
	}
	r := newReference(l, 1, make([]copyPlan, 2), Options{Seed: 1})
	output := func(token int32) []float32 {
		r.begin(0)
		r.batches[0][0].tokens[5] = token
		out := make([]float32, l.outputOf(0))
		if err := r.copies[0][0].forward(t.Context(), 0, nil, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	const h = 16
	x, y := output('a'), output('b')
	if !sameBits(x[:5*h], y[:5*h]) {
		t.Error("positions before 5 depend on token 5")
	}
	for place := 5; place < 8; place++ {
		if sameBits(x[place*h:(place+1)*h], y[place*h:(place+1)*h]) {
			t.Errorf("position %d does not depend on token 5", place)
		}
	}
	if !sameBits(x[8*h:], y[8*h:]) {
		t.Error("a sample depends on another one")
	}
}
