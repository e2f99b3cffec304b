package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readEdges reads the stage graph. It defaults to that of the profile or the
// network, else to the chain.
func (d *decoder) readEdges() bool {
	v := d.root.get("edges")
	if v.absent() {
		return d.defaultEdges()
	}
	if d.config.Model != nil {
		v.fail("the model gives the stage graph", "leave it out")
		return false
	}
	items, ok := v.items("write a list of pairs of stages such as [[0, 1], [1, 2]]")
	if !ok {
		return false
	}
	edges := make([]Edge, 0, len(items))
	for _, item := range items {
		edge, ok := d.readEdge(item)
		if !ok {
			return false
		}
		edges = append(edges, edge)
	}
	d.config.Edges = edges
	return checkEdges(v, d.config.Stages, edges, items)
}

// readEdge reads one pair of stages.
func (d *decoder) readEdge(v value) (Edge, bool) {
	const remedy = "write a pair of stages such as [0, 1]"
	ends, ok := v.items(remedy)
	if !ok {
		return Edge{}, false
	}
	if len(ends) != 2 {
		v.fail("an edge with "+plural(len(ends), "end"), remedy)
		return Edge{}, false
	}
	from, known := ends[0].index(d.config.Stages, "stage")
	to, ok := ends[1].index(d.config.Stages, "stage")
	return Edge{From: from, To: to}, known && ok
}

// checkEdges fails for edges that do not make up a stage graph. The list v holds
// them, each at its item.
func checkEdges(v value, stages int, edges []Edge, items []value) bool {
	first := make(map[Edge]value, len(edges))
	for i, edge := range edges {
		if edge.From == edge.To {
			items[i].fail(fmt.Sprintf("stage %d cannot feed itself", edge.From), "leave the edge out")
			return false
		}
		if earlier, seen := first[edge]; seen {
			items[i].fail(fmt.Sprintf("the edge from %d to %d stands in %s already", edge.From, edge.To, earlier.path), "list it once")
			return false
		}
		first[edge] = items[i]
	}
	if cycle := findCycle(stages, edges); cycle != nil {
		v.fail("the edges close a cycle: "+arrows(cycle), "leave one of these edges out")
		return false
	}
	return true
}

// defaultEdges sets the stage graph that holds when the configuration gives none.
// For networks of several parts that is nil: it depends on the partition.
func (d *decoder) defaultEdges() bool {
	if d.profile != nil && d.profile.result.Edges != nil {
		d.config.Edges = d.profile.edges()
		return true
	}
	if d.config.Model != nil && len(d.config.Model.Parts) > 1 {
		return true
	}
	d.config.Edges = make([]Edge, d.config.Stages-1)
	for stage := range d.config.Edges {
		d.config.Edges[stage] = Edge{From: stage, To: stage + 1}
	}
	return true
}

// findCycle returns the stages along a cycle, the first repeated at the end, or nil
// when the graph has none. It takes stages away that no remaining edge leads to
// (Kahn, 1962); what stays has a predecessor each, and walking back over those
// closes a cycle. O(stages + edges).
func findCycle(stages int, edges []Edge) []int {
	incoming, outgoing := make([]int, stages), make([][]int, stages)
	for _, edge := range edges {
		incoming[edge.To]++
		outgoing[edge.From] = append(outgoing[edge.From], edge.To)
	}
	var free []int
	for stage, count := range incoming {
		if count == 0 {
			free = append(free, stage)
		}
	}
	for taken := 0; taken < len(free); taken++ {
		for _, next := range outgoing[free[taken]] {
			if incoming[next]--; incoming[next] == 0 {
				free = append(free, next)
			}
		}
	}
	if len(free) == stages {
		return nil
	}
	return walkBack(incoming, edges)
}

// walkBack returns a cycle among the stages that still have incoming edges.
func walkBack(incoming []int, edges []Edge) []int {
	predecessor := map[int]int{}
	start := -1
	for _, edge := range edges {
		if incoming[edge.From] > 0 && incoming[edge.To] > 0 {
			predecessor[edge.To] = edge.From
			start = edge.To
		}
	}
	position, walk := map[int]int{}, []int{}
	for stage := start; ; stage = predecessor[stage] {
		if at, seen := position[stage]; seen {
			walk = append(walk[at:], stage)
			break
		}
		position[stage] = len(walk)
		walk = append(walk, stage)
	}
	slices.Reverse(walk)
	return walk
}

// arrows writes a path, its middle left out when it is long.
func arrows(path []int) string {
	names := make([]string, 0, maxNamed+1)
	for i, stage := range path {
		switch {
		case i < maxNamed || i == len(path)-1:
			names = append(names, strconv.Itoa(stage))
		case i == maxNamed:
			names = append(names, "...")
		}
	}
	return strings.Join(names, " -> ")
}
