package network_test

import (
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
)

// gpt1b is the smallest model of the Zero Bubble paper (arXiv:2401.10241) with 24
// blocks; the paper takes two of them out for embedding and head.
var gpt1b = network.GPT{
	Layers: 24, Hidden: 2304, Heads: 24, Sequence: 1024, Vocabulary: 50304, MicroBatchSize: 1,
}

// a100 is a cluster of 8-device nodes with the peak of an A100 in bfloat16.
var a100 = network.Cluster{
	FLOPs: 312e12, Efficiency: 0.45,
	LinkBandwidth: 25e9, LinkLatency: 5 * time.Microsecond, DevicesPerNode: 8, NodeBandwidth: 12e9,
}

// chain returns the layers of n.
func chain(t testing.TB, n network.Network) []network.Layer {
	t.Helper()
	parts, err := n.Parts()
	if err != nil {
		t.Fatal(err)
	}
	var layers []network.Layer
	for _, p := range parts {
		layers = append(layers, p.Layers...)
	}
	return layers
}

// must returns a function that fails the test on an error and returns the value.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
