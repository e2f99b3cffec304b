package network

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// leastByTable returns the smallest largest cost by a table of all ends of all
// stages: O(S·n²).
func leastByTable(layers, stages int, cost RangeCost) float64 {
	least := make([]float64, layers+1)
	for i := range least[1:] {
		least[i+1] = math.Inf(1)
	}
	for s := range stages {
		next := make([]float64, layers+1)
		for end := range next {
			next[end] = math.Inf(1)
			for first := range end {
				next[end] = min(next[end], max(least[first], cost(s, first, end)))
			}
		}
		least = next
	}
	return least[layers]
}

// Layers that a slow stage cannot hold alone, in any order, do not mislead the probe.
func TestProbe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, 9}), 1, 24).Draw(t, "weights")
		stages := rapid.IntRange(1, len(weights)).Draw(t, "stages")
		factors := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 1, 2, 7}), stages, stages).Draw(t, "factors")
		cost := func(stage, first, end int) (sum float64) {
			for _, w := range weights[first:end] {
				sum += w
			}
			return factors[stage] * sum
		}
		p := &probe{layers: len(weights), stages: stages, cost: cost, ends: make([]int, stages)}
		limit := p.leastLimit()
		if want := leastByTable(len(weights), stages, cost); limit != want {
			t.Fatalf("least limit %g, want %g", limit, want)
		}
		parts, first := p.partition(limit), 0
		if err := parts.check(len(weights)); err != nil {
			t.Fatal(err)
		}
		for s, count := range parts {
			if c := cost(s, first, first+count); c > limit {
				t.Fatalf("%v: stage %d costs %g, above %g", parts, s, c, limit)
			}
			first += count
		}
	})
}

// Networks as large as configurations may describe take no tables of layers × stages.
func TestMinMaxLarge(t *testing.T) {
	const layers = 1 << 16
	for _, c := range []struct {
		stages  int
		slowest float64
		want    float64
	}{
		{2000, 1, 33},
		{4096, 1, 16},
		{4096, 7, 44}, // the least L for which the sum of ⌊L/f⌋ over the factors f of the stages is 2^16
		{40000, 3, 3},
		{layers, 1, 1},
	} {
		cost := func(stage, first, end int) float64 {
			return (1 + float64(stage%int(c.slowest))) * float64(end-first)
		}
		parts, err := MinMax(layers, c.stages, cost)
		if err != nil {
			t.Fatal(err)
		}
		largest, first := 0.0, 0
		for s, count := range parts {
			largest = max(largest, cost(s, first, first+count))
			first += count
		}
		if err := parts.check(layers); err != nil || largest != c.want {
			t.Errorf("%d stages: largest cost %g, want %g; %v", c.stages, largest, c.want, err)
		}
	}
}
