package lower

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestShortestCycle compares with distances between all nodes.
func TestShortestCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const far = 1 << 20
		n := rapid.IntRange(1, 7).Draw(t, "nodes")
		next, distance := make([][]int, n), make([][]int, n)
		for a := range n {
			distance[a] = slices.Repeat([]int{far}, n)
			for b := range n {
				if a != b && rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					next[a] = append(next[a], b)
					distance[a][b] = 1
				}
			}
		}
		for via := range n {
			for a := range n {
				for b := range n {
					distance[a][b] = min(distance[a][b], distance[a][via]+distance[via][b])
				}
			}
		}
		want := far
		for a := range n {
			want = min(want, distance[a][a])
		}
		got := shortestCycle(next)
		if want == far {
			if got != nil {
				t.Fatalf("cycle %v of a graph that has none", got)
			}
			return
		}
		if len(got) != want {
			t.Fatalf("cycle %v, want one of %d nodes", got, want)
		}
		for i, a := range got {
			if b := got[(i+1)%len(got)]; !slices.Contains(next[a], b) {
				t.Fatalf("cycle %v, but %d does not wait for %d", got, a, b)
			}
		}
	})
}
