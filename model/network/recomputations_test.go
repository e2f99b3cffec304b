package network_test

import (
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// TestRecomputations: without attention there is nothing to select.
func TestRecomputations(t *testing.T) {
	stack := network.Stack{Layers: 2, Hidden: 16, FeedForward: 32}
	attentive := network.Stack{Layers: 2, Hidden: 16, Heads: 2, Sequence: 8}
	none, selective, full := network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull
	for name, test := range map[string]struct {
		net  network.Network
		want []network.Recompute
	}{
		"gpt":              {gpt1b, []network.Recompute{none, selective, full}},
		"mlp":              {network.MLP{Layers: 2, Hidden: 16, FeedForward: 32, MicroBatchSize: 2}, []network.Recompute{none, full}},
		"branches of mlps": {network.TwoBranch{Branches: [2]network.Stack{stack, stack}, MicroBatchSize: 2}, []network.Recompute{none, full}},
		"one branch":       {network.TwoBranch{Branches: [2]network.Stack{stack, attentive}, MicroBatchSize: 2}, []network.Recompute{none, selective, full}},
	} {
		got, err := network.Recomputations(test.net)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, error %v, want %v", name, got, err, test.want)
		}
	}
	if _, err := network.Recomputations(network.MLP{}); err == nil {
		t.Error("no error for an mlp of no size")
	}
}
