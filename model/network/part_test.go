package network_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// branched returns parts of so many blocks, with one operation each way.
func branched(blocks ...int) []network.Part {
	parts := make([]network.Part, len(blocks))
	for p, n := range blocks {
		parts[p].Name = string(rune('a' + p))
		for range n {
			parts[p].Layers = append(parts[p].Layers, network.Layer{Forward: 1, BackwardInput: 1, BackwardWeight: 1})
		}
	}
	return parts
}

// Each part gets stages in proportion to its work, and at least one.
func TestPartsShareStages(t *testing.T) {
	for _, c := range []struct {
		blocks []int
		stages int
		want   network.Partition
	}{
		{[]int{6, 6}, 4, network.Partition{3, 3, 3, 3}},
		{[]int{9, 3}, 4, network.Partition{3, 3, 3, 3}},
		{[]int{24, 12, 1}, 4, network.Partition{12, 12, 12, 1}},
		{[]int{4, 1, 1}, 3, network.Partition{4, 1, 1}},
		{[]int{2, 2}, 4, network.Partition{1, 1, 1, 1}},
		{[]int{10, 2}, 5, network.Partition{3, 3, 2, 2, 2}},
	} {
		for name, rule := range map[string]func() (network.Partition, error){
			"balanced": func() (network.Partition, error) {
				return network.BalancedParts(branched(c.blocks...), c.stages, network.BalanceOptions{})
			},
			"even": func() (network.Partition, error) { return network.EvenParts(branched(c.blocks...), c.stages) },
		} {
			got := must[network.Partition](t)(rule())
			if largest := slices.Max(got); largest != slices.Max(c.want) || !keepsToParts(got, c.blocks) {
				t.Errorf("%s, %v in %d stages: got %v, want as %v", name, c.blocks, c.stages, got, c.want)
			}
		}
	}
}

// keepsToParts reports whether each part ends with a stage.
func keepsToParts(p network.Partition, sizes []int) bool {
	s := 0
	for _, left := range sizes {
		for ; left > 0 && s < len(p); s++ {
			left -= p[s]
		}
		if left != 0 {
			return false
		}
	}
	return s == len(p)
}

// TestBalancedPartsIsExact compares with all partitions of small random networks, with
// slow devices and recomputation.
func TestBalancedPartsIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		parts := branched(1+random.IntN(4), 1+random.IntN(4), 1+random.IntN(3))[:2+random.IntN(2)]
		var sizes []int
		for p := range parts {
			sizes = append(sizes, len(parts[p].Layers))
			for i := range parts[p].Layers {
				l := &parts[p].Layers[i]
				l.Forward = float64(1 + random.IntN(20))
				l.Full.FLOPs = l.Forward
			}
		}
		layers, _ := network.DealtLayers(parts)
		stages := len(parts) + random.IntN(len(layers)-len(parts)+1)
		options := network.BalanceOptions{Recompute: make([]network.Recompute, stages), Slowdown: make([]float64, stages)}
		for s := range stages {
			options.Recompute[s] = network.Recompute(2 * random.IntN(2))
			options.Slowdown[s] = float64(1 + random.IntN(3))
		}
		got := must[network.Partition](t)(network.BalancedParts(parts, stages, options))
		if value, best := worst(layers, got, options), bestWorst(layers, sizes, stages, options); value != best || !keepsToParts(got, sizes) {
			t.Errorf("%v in %d stages: got %v with %g, best is %g", sizes, stages, got, value, best)
		}
	}
}

// worst returns the largest work of a stage.
func worst(layers []network.Layer, p network.Partition, o network.BalanceOptions) float64 {
	most, first := 0.0, 0
	for s, n := range p {
		sum := 0.0
		for _, l := range layers[first : first+n] {
			sum += l.Cost(o.Recompute[s]).FLOPs()
		}
		most, first = max(most, o.Slowdown[s]*sum), first+n
	}
	return most
}

// bestWorst returns the least worst over all partitions that keep to the parts.
func bestWorst(layers []network.Layer, sizes []int, stages int, o network.BalanceOptions) float64 {
	best := 1e300
	var cut func(p network.Partition, left int)
	cut = func(p network.Partition, left int) {
		if len(p) == stages {
			if left == 0 && keepsToParts(p, sizes) {
				best = min(best, worst(layers, p, o))
			}
			return
		}
		for n := 1; n <= left; n++ {
			cut(append(slices.Clone(p), n), left-n)
		}
	}
	cut(nil, len(layers))
	return best
}

func TestListedParts(t *testing.T) {
	parts := partsOf(t, translator) // embedding and 2 blocks; embedding, 3 blocks and head
	for _, c := range []struct{ counts, want []int }{
		{[]int{2, 3}, []int{3, 5}},
		{[]int{1, 1, 1, 2}, []int{2, 1, 2, 3}},
		{[]int{3, 5}, []int{3, 5}},
		{[]int{1, 2, 1, 3, 1}, []int{1, 2, 1, 3, 1}},
	} {
		if got := must[network.Partition](t)(network.ListedParts(parts, c.counts)); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.counts, got, c.want)
		}
	}
}

func TestPartErrors(t *testing.T) {
	parts := partsOf(t, translator)
	for name, call := range map[string]func() (network.Partition, error){
		"fewer stages than parts": func() (network.Partition, error) { return network.BalancedParts(parts, 1, network.BalanceOptions{}) },
		"even, too few":           func() (network.Partition, error) { return network.EvenParts(parts, 1) },
		"even, too many":          func() (network.Partition, error) { return network.EvenParts(parts, 6) },
		"more stages than layers": func() (network.Partition, error) { return network.BalancedParts(parts, 9, network.BalanceOptions{}) },
		"slowdowns do not fit": func() (network.Partition, error) {
			return network.BalancedParts(parts, 3, network.BalanceOptions{Slowdown: []float64{1}})
		},
		"a stage of two parts":     func() (network.Partition, error) { return network.ListedParts(parts, []int{1, 2, 2}) },
		"all in one":               func() (network.Partition, error) { return network.ListedParts(parts, []int{5}) },
		"neither layers nor block": func() (network.Partition, error) { return network.ListedParts(parts, []int{3, 3}) },
		"an empty stage":           func() (network.Partition, error) { return network.ListedParts(parts, []int{2, 3, 0}) },
	} {
		p, err := call()
		var refused *network.PartitionError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v, %v; want a PartitionError", name, p, err)
		}
	}
	for _, p := range []network.Partition{{4, 4}, {3, 4}, {3, 6}, {8}, {3, 5, 0}} {
		var refused *network.PartitionError
		if _, err := network.PartStages(parts, a100, p, nil); !errors.As(err, &refused) {
			t.Errorf("%v: error is %v, want a PartitionError", p, err)
		}
	}
	if _, err := network.PartStages(parts, a100, network.Partition{3, 5}, []network.Recompute{0}); err == nil {
		t.Error("one recompute for two stages: no error")
	}
}
