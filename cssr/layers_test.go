package cssr_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
)

func TestLayers(t *testing.T) {
	const gpt = `
micro_batches: 2
model: {kind: gpt, layers: 5, hidden: 64, heads: 4, sequence: 8, vocabulary: 16, micro_batch_size: 1}
cluster: {flops: 1e12, link_bandwidth: 25e9}
`
	for _, c := range []struct {
		text    string
		choices cssr.Choices
		want    []string
	}{
		{"devices: 4" + mlpText, cssr.Choices{}, []string{"0", "1", "2", "3"}},
		{"devices: 2\npartition: even" + mlpText, cssr.Choices{}, []string{"0-1", "2-3"}},
		{"devices: 2\npartition: even" + mlpText, cssr.Choices{SplitStages: 2}, []string{"0", "1", "2", "3"}},
		{"devices: 2\npartition: [3, 2]" + gpt, cssr.Choices{}, []string{"embedding, 0-2", "3-4, head"}},
		{"devices: 1" + gpt, cssr.Choices{}, []string{"embedding, 0-4, head"}},
		{"devices: 3\npartition: [embedding, 5, head]" + gpt, cssr.Choices{}, []string{"embedding", "0-4", "head"}},
		{"devices: 1\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}", cssr.Choices{}, nil},
	} {
		got, err := cssr.Layers(decode(t, c.text), c.choices)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		equal(t, c.text, got, c.want)
	}
	if _, err := cssr.Layers(decode(t, "devices: 2"+mlpText), cssr.Choices{SplitStages: 3}); err == nil {
		t.Error("more chunks than layers: no error")
	}
}
