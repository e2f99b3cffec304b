package network_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
	"pgregory.net/rapid"
)

// sumCost returns the cost of a range as the sum of its layers times the factor
// of its stage. With small integers it is exact.
func sumCost(costs, factors []float64) network.RangeCost {
	prefix := make([]float64, len(costs)+1)
	for i, c := range costs {
		prefix[i+1] = prefix[i] + c
	}
	return func(stage, first, end int) float64 {
		return factors[stage] * (prefix[end] - prefix[first])
	}
}

// A score orders partitions as MinMax does.
type score struct {
	largest, squares float64
	partition        network.Partition
}

func (a score) less(b score) bool {
	if a.largest != b.largest {
		return a.largest < b.largest
	}
	if a.squares != b.squares {
		return a.squares < b.squares
	}
	return slices.Compare(a.partition, b.partition) < 0
}

func evaluate(p network.Partition, cost network.RangeCost) score {
	s := score{partition: slices.Clone(p)}
	first := 0
	for i, count := range p {
		c := cost(i, first, first+count)
		s.largest = max(s.largest, c)
		s.squares += c * c
		first += count
	}
	return s
}

// best tries every partition of n layers into stages.
func best(n, stages int, cost network.RangeCost) (least score) {
	p := make(network.Partition, 0, stages)
	var extend func(rest int)
	extend = func(rest int) {
		if len(p) == stages-1 {
			if s := evaluate(append(p, rest), cost); least.partition == nil || s.less(least) {
				least = s
			}
			return
		}
		for count := 1; count <= rest-(stages-len(p)-1); count++ {
			p = append(p, count)
			extend(rest - count)
			p = p[:len(p)-1]
		}
	}
	extend(n)
	return least
}

func TestMinMaxBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(integral(0, 12), 1, 9).Draw(t, "costs")
		stages := rapid.IntRange(1, len(costs)).Draw(t, "stages")
		factors := rapid.SliceOfN(integral(1, 5), stages, stages).Draw(t, "factors")
		cost := sumCost(costs, factors)
		p, err := network.MinMax(len(costs), stages, cost)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := evaluate(p, cost), best(len(costs), stages, cost); got.less(want) || want.less(got) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// integral generates small integers, with which all sums are exact.
func integral(low, high int) *rapid.Generator[float64] {
	return rapid.Map(rapid.IntRange(low, high), func(i int) float64 { return float64(i) })
}

// TestMinMaxHeavyForSlow has a layer that the slow stage in the middle cannot
// take: the furthest-reaching first stage would leave it just that layer.
func TestMinMaxHeavyForSlow(t *testing.T) {
	cost := sumCost([]float64{1, 1, 9, 1}, []float64{1, 10, 1})
	got := must[network.Partition](t)(network.MinMax(4, 3, cost))
	if want := (network.Partition{1, 1, 2}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMinMaxErrors(t *testing.T) {
	cost := func(stage, first, end int) float64 { return 1 }
	for _, stages := range []int{-1, 0, 4} {
		if p, err := network.MinMax(3, stages, cost); err == nil {
			t.Errorf("3 layers in %d stages: got %v, want an error", stages, p)
		}
	}
}

func BenchmarkBalanced(b *testing.B) {
	for _, c := range []struct {
		name               string
		blocks, vocabulary int
		stages             int
	}{
		{"typical", 96, 50304, 16},
		{"large", 1000, 50304, 256},
		{"large-heavy-head", 1000, 1 << 26, 256},
		{"largest", 65534, 50304, 4096},
	} {
		b.Run(fmt.Sprintf("%s/layers=%d/stages=%d", c.name, c.blocks, c.stages), func(b *testing.B) {
			layers := chain(b, network.GPT{
				Layers: c.blocks, Hidden: 4096, Heads: 32, Sequence: 2048, Vocabulary: c.vocabulary, MicroBatchSize: 1,
			})
			slowdown := make([]float64, c.stages)
			for s := range slowdown {
				slowdown[s] = 1 + 0.01*float64(s%7)
			}
			for b.Loop() {
				if _, err := network.Balanced(layers, c.stages, network.BalanceOptions{Slowdown: slowdown}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
