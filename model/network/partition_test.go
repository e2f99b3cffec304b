package network_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// toy returns the layers of a small GPT with the given number of blocks.
func toy(t testing.TB, blocks int) []network.Layer {
	return chain(t, network.GPT{Layers: blocks, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 16, MicroBatchSize: 1})
}

func TestEven(t *testing.T) {
	for _, c := range []struct {
		blocks, stages int
		want           network.Partition
	}{
		{8, 4, network.Partition{3, 2, 2, 3}},
		{10, 4, network.Partition{4, 3, 2, 3}},
		{4, 4, network.Partition{2, 1, 1, 2}},
		{5, 1, network.Partition{7}},
	} {
		got := must[network.Partition](t)(network.Even(toy(t, c.blocks), c.stages))
		if !slices.Equal(got, c.want) {
			t.Errorf("%d blocks in %d stages: got %v, want %v", c.blocks, c.stages, got, c.want)
		}
	}
	mlp := chain(t, network.MLP{Layers: 5, Hidden: 4, MicroBatchSize: 1})
	if got := must[network.Partition](t)(network.Even(mlp, 2)); !slices.Equal(got, network.Partition{3, 2}) {
		t.Errorf("5 MLP blocks in 2 stages: got %v, want [3 2]", got)
	}
}

func TestListed(t *testing.T) {
	layers := toy(t, 6) // 8 with embedding and head
	for _, c := range []struct {
		counts []int
		want   network.Partition
	}{
		{[]int{2, 2, 2}, network.Partition{3, 2, 3}},
		{[]int{0, 3, 3, 0}, network.Partition{1, 3, 3, 1}},
		{[]int{1, 3, 3, 1}, network.Partition{1, 3, 3, 1}},
		{[]int{4, 4}, network.Partition{4, 4}},
		{[]int{6}, network.Partition{8}},
	} {
		given := slices.Clone(c.counts)
		got := must[network.Partition](t)(network.Listed(layers, given))
		if !slices.Equal(got, c.want) || !slices.Equal(given, c.counts) {
			t.Errorf("%v: got %v, want %v", c.counts, got, c.want)
		}
	}
}

func TestPartitionErrors(t *testing.T) {
	layers := toy(t, 6)
	listed := func(counts ...int) func() (network.Partition, error) {
		return func() (network.Partition, error) { return network.Listed(layers, counts) }
	}
	even := func(stages int) func() (network.Partition, error) {
		return func() (network.Partition, error) { return network.Even(layers, stages) }
	}
	balanced := func(stages int, o network.BalanceOptions) func() (network.Partition, error) {
		return func() (network.Partition, error) { return network.Balanced(layers, stages, o) }
	}
	for _, c := range []struct {
		name string
		call func() (network.Partition, error)
		want string
	}{
		{"no list", listed(), "cannot cut 6 layers, embedding and head into 0 stages: there must be at least 1 stage"},
		{"sum", listed(3, 4), "cannot cut 8 layers into 2 stages: the list adds up to 7; it must add up to the 6 blocks or to all layers"},
		{"negative", listed(7, -1), "cannot cut 8 layers into 2 stages: stage 1 cannot have -1 layers"},
		{"large", listed(9, 1), "cannot cut 8 layers into 2 stages: stage 0 cannot have 9 layers"},
		{"empty", listed(3, 0, 3), "cannot cut 8 layers into 3 stages: stage 1 would have 0 layers; each needs at least 1"},
		{"empty end", listed(0, 0, 6), "cannot cut 8 layers into 3 stages: stage 1 would have 0 layers; each needs at least 1"},
		{"even", even(7), "cannot cut 6 layers into 7 stages: each stage needs at least 1; use at most 6 stages"},
		{"even 0", even(0), "cannot cut 6 layers into 0 stages: there must be at least 1 stage"},
		{"balanced", balanced(9, network.BalanceOptions{}), "cannot cut 6 layers, embedding and head into 9 stages: each stage needs at least 1; use at most 8 stages"},
		{"slowdowns", balanced(2, network.BalanceOptions{Slowdown: []float64{1}}), "cannot cut 8 layers into 2 stages: slowdown has 1 entries; give one per stage"},
		{"slowdown", balanced(2, network.BalanceOptions{Slowdown: []float64{1, 0}}), "cannot cut 8 layers into 2 stages: stage 1 has the slowdown 0; it must be positive"},
		{"recomputes", balanced(2, network.BalanceOptions{Recompute: []network.Recompute{}}), "cannot cut 8 layers into 2 stages: recompute has 0 entries; give one per stage"},
		{"recompute", balanced(1, network.BalanceOptions{Recompute: []network.Recompute{8}}), "cannot cut 8 layers into 1 stage: stage 0 has the unknown recompute 8"},
	} {
		p, err := c.call()
		var typed *network.PartitionError
		if !errors.As(err, &typed) || err.Error() != c.want {
			t.Errorf("%s: got %v, %v\nwant %s", c.name, p, err, c.want)
		}
	}
}

// TestBalancedHead: a head of 9.8 blocks leaves no room for blocks beside it.
func TestBalancedHead(t *testing.T) {
	layers := chain(t, network.GPT{
		Layers: 24, Hidden: 2048, Heads: 16, Sequence: 1024, Vocabulary: 262144, MicroBatchSize: 1,
	})
	got := must[network.Partition](t)(network.Balanced(layers, 4, network.BalanceOptions{}))
	// 24 + 9.8 block units on 4 stages: 8, 8, 8 and the head alone.
	if want := (network.Partition{9, 8, 8, 1}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestBalancedOptions: slow stages and stages that recompute get fewer blocks. A
// block takes 3 units, or 4 with full recomputation.
func TestBalancedOptions(t *testing.T) {
	layers := chain(t, network.MLP{Layers: 13, Hidden: 8, FeedForward: 8, MicroBatchSize: 1})[1:] // 12 equal blocks
	for _, c := range []struct {
		name    string
		options network.BalanceOptions
		want    network.Partition
	}{
		{"alike", network.BalanceOptions{}, network.Partition{4, 4, 4}},
		{"slow", network.BalanceOptions{Slowdown: []float64{1, 4, 1}}, network.Partition{5, 1, 6}},
		{"recompute", network.BalanceOptions{Recompute: []network.Recompute{
			network.RecomputeFull, network.RecomputeFull, network.RecomputeNone,
		}}, network.Partition{3, 4, 5}},
		{"both", network.BalanceOptions{
			Recompute: []network.Recompute{network.RecomputeFull, network.RecomputeNone, network.RecomputeNone},
			Slowdown:  []float64{3, 1, 1},
		}, network.Partition{1, 5, 6}},
	} {
		got := must[network.Partition](t)(network.Balanced(layers, 3, c.options))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
