package cpu

import (
	"math"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// gptOf, mlpOf and twoBranchOf are small networks, cut into one stage for each part.
func gptOf(layers int) *network.Blueprint {
	return &network.Blueprint{
		Kind:           "gpt",
		Stacks:         []network.Stack{{Layers: layers, Hidden: 16, Heads: 2, Sequence: 8, Vocabulary: 128}},
		MicroBatchSize: 2, DType: network.FP32,
		Stages: []network.Slice{{End: layers + 2}},
	}
}

func mlpOf(layers int) *network.Blueprint {
	return &network.Blueprint{
		Kind: "mlp", Stacks: []network.Stack{{Layers: layers, Hidden: 16, Sequence: 3}},
		MicroBatchSize: 4, DType: network.FP32,
		Stages: []network.Slice{{End: layers}},
	}
}

// twoBranchOf has a branch that reads vectors, and one that reads text.
func twoBranchOf(first, second int) *network.Blueprint {
	return &network.Blueprint{
		Kind: "two-branch",
		Stacks: []network.Stack{
			{Layers: first, Hidden: 24, Heads: 2, Sequence: 4},
			{Layers: second, Hidden: 16, Heads: 2, Sequence: 8, Vocabulary: 128},
		},
		MicroBatchSize: 4, DType: network.FP32,
		Stages: []network.Slice{{End: first}, {Part: 1, End: second + 1}, {Part: 2, End: 1}},
	}
}

// mlpBranchOf is twoBranchOf with the blocks of an mlp in the first branch.
func mlpBranchOf(first, second int) *network.Blueprint {
	b := twoBranchOf(first, second)
	b.Stacks[0].Heads, b.Stacks[0].Sequence = 0, 3
	return b
}

func sourceOf(t *testing.T, b *network.Blueprint, seed uint64) *source {
	t.Helper()
	l, err := newLayout(b)
	if err != nil {
		t.Fatal(err)
	}
	return newSource(l, seed)
}

// draw returns the data of a micro-batch.
func draw(s *source, iteration, m int) []*batch {
	var batches []*batch
	for p := range s.layout.parts {
		batches = append(batches, s.newBatch(p, 4))
	}
	s.fill(iteration, m, batches)
	return batches
}

// same reports whether two batches hold the same data.
func same(a, b []*batch) bool {
	return slices.EqualFunc(a, b, func(a, b *batch) bool {
		return slices.Equal(a.tokens, b.tokens) && slices.Equal(a.targets, b.targets) &&
			slices.Equal(a.input, b.input) && slices.Equal(a.wanted, b.wanted)
	})
}

// TestDataDependsOnItsNumbers tests that data depend on seed, iteration and micro-batch, and
// on nothing else.
func TestDataDependsOnItsNumbers(t *testing.T) {
	for _, b := range []*network.Blueprint{gptOf(1), mlpOf(2), twoBranchOf(1, 1)} {
		s := sourceOf(t, b, 7)
		data := draw(s, 3, 2)
		draw(s, 5, 0)
		if !same(data, draw(s, 3, 2)) || !same(data, draw(sourceOf(t, b, 7), 3, 2)) {
			t.Errorf("%s: the same numbers give other data", b.Kind)
		}
		for name, other := range map[string][]*batch{
			"seed": draw(sourceOf(t, b, 8), 3, 2), "iteration": draw(s, 2, 2), "micro-batch": draw(s, 3, 3),
		} {
			if same(data, other) {
				t.Errorf("%s: another %s gives the same data", b.Kind, name)
			}
		}
		if got := data[0].scale; got != 0.25 {
			t.Errorf("%s: the loss of one of 4 micro-batches has weight %v", b.Kind, got)
		}
	}
}

func TestText(t *testing.T) {
	for i := range len(text) {
		if text[i] >= minVocabulary {
			t.Fatalf("byte %d of the text is %d, above ASCII", i, text[i])
		}
	}
	if n := len(text); n < 4096 {
		t.Errorf("the text has %d bytes only", n)
	}
	b := draw(sourceOf(t, gptOf(1), 1), 0, 0)[0]
	for i := range b.tokens {
		if i%8 != 7 && b.targets[i] != b.tokens[i+1] {
			t.Errorf("the target of position %d is %d, the next token %d", i, b.targets[i], b.tokens[i+1])
		}
	}
	tokens := make([]int32, 3)
	if read(tokens, len(text)-1); tokens[0] != int32(text[len(text)-1]) || tokens[1] != int32(text[0]) {
		t.Error("the text does not begin again after its end")
	}
}

// TestViewsBelongTogether tests that both branches see the same piece of text: with the same
// bytes the vectors are the same, with others they differ, and their scale is about 1.
func TestViewsBelongTogether(t *testing.T) {
	s := sourceOf(t, twoBranchOf(1, 1), 1)
	const h, sequence = 24, 4
	byText := map[string][]float32{}
	sum, count := 0.0, 0
	for m := range 200 {
		data := draw(s, 0, m)
		for i := range 4 {
			bytes := ""
			for _, token := range data[1].tokens[i*8 : i*8+8] {
				bytes += string(rune(token))
			}
			rows := data[0].input[i*sequence*h : (i+1)*sequence*h]
			if before, ok := byText[bytes]; ok && !slices.Equal(before, rows) {
				t.Errorf("%q has two descriptions", bytes)
			}
			for other, before := range byText {
				if other != bytes && slices.Equal(before, rows) {
					t.Errorf("%q and %q have the same description", bytes, other)
				}
			}
			byText[bytes] = rows
			for _, x := range rows {
				sum += float64(x) * float64(x)
				count++
			}
		}
	}
	if v := sum / float64(count); math.Abs(v-1) > 0.1 {
		t.Errorf("the variance of the vectors is %.2f, not about 1", v)
	}
}
