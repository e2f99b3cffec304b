package partition_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/partition"
	"pgregory.net/rapid"
)

// scored is a choice with its score.
type scored struct {
	partition.Choice
	score partition.Score
}

func compareScored(a, b scored) int {
	return cmp.Or(a.score.Compare(b.score), slices.Compare(a.Cut, b.Cut), slices.Compare(a.Recompute, b.Recompute), slices.Compare(a.Devices, b.Devices))
}

// all returns every choice that fits, in order.
func all(p *partition.Problem) []scored {
	modes := p.Recompute
	if modes == nil {
		modes = []network.Recompute{network.RecomputeNone}
	}
	stages := len(p.Group)
	c := partition.Choice{Cut: make([]int, stages), Recompute: make([]network.Recompute, stages), Devices: make([]int, stages)}
	var list []scored
	visit := func() {
		if partition.Fits(p, &c) {
			score, _ := partition.Evaluate(p, &c)
			list = append(list, scored{partition.Choice{Cut: slices.Clone(c.Cut), Recompute: slices.Clone(c.Recompute), Devices: slices.Clone(c.Devices)}, score})
		}
	}
	var stage func(s, rest int)
	stage = func(s, rest int) {
		if s == stages {
			if rest == 0 {
				visit()
			}
			return
		}
		for count := 1; count <= rest; count++ {
			for _, r := range modes {
				c.Cut[s], c.Recompute[s] = count, r
				stage(s+1, rest-count)
			}
		}
	}
	for _, seats := range assignments(p) {
		for s, g := range p.Group {
			c.Devices[s] = seats[g]
		}
		stage(0, len(p.Layers))
	}
	slices.SortFunc(list, compareScored)
	return list
}

// assignments returns the ways to give each group a device of its own.
func assignments(p *partition.Problem) [][]int {
	groups := slices.Max(p.Group) + 1
	if !p.FreeAssignment {
		own := make([]int, groups)
		for g := range own {
			own[g] = g
		}
		return [][]int{own}
	}
	var list [][]int
	var seat func(at []int)
	seat = func(at []int) {
		if len(at) == groups {
			list = append(list, slices.Clone(at))
			return
		}
		for d := range p.Devices {
			if !slices.Contains(at, d) {
				seat(append(at, d))
			}
		}
	}
	seat(nil)
	return list
}

// shape says what drawn problems look like.
type shape struct {
	layers, stages int
	placement      string // "linear", "loop", "v" or "any"
	free           bool
}

var shapes = map[string]shape{
	"linear": {layers: 6, stages: 4, placement: "linear"},
	"loop":   {layers: 6, stages: 4, placement: "loop"},
	"v":      {layers: 6, stages: 4, placement: "v"},
	"any":    {layers: 6, stages: 4, placement: "any"},
	"free":   {layers: 5, stages: 3, placement: "linear", free: true},
	"free-v": {layers: 5, stages: 4, placement: "v", free: true},
}

// draw returns a small problem, with memory that is often just not enough.
func draw(t *rapid.T, sh shape) *partition.Problem {
	small := func(name string, low, high int) int64 { return int64(rapid.IntRange(low, high).Draw(t, name)) }
	stages := int(small("stages", 1, sh.stages))
	layers := int(small("layers", stages, sh.layers))
	modes := int(small("modes", 1, 3))
	p := &partition.Problem{FreeAssignment: sh.free}
	var kinds []partition.Layer
	for range 2 {
		l := partition.Layer{Static: small("static", 0, 3), Tied: small("tied", 0, 1)}
		for r := range 3 {
			keep := small("activation", 0, 4)
			l.Modes = append(l.Modes, partition.Mode{
				Work: small("work", 0, 6) + int64(r), Activation: keep,
				Backward: small("backward", -int(keep), 2), Workspace: small("workspace", 0, 2),
			})
		}
		kinds = append(kinds, l)
	}
	for range layers {
		p.Layers = append(p.Layers, kinds[small("kind", 0, 1)])
	}
	for r := range modes {
		p.Recompute = append(p.Recompute, network.Recompute(r))
	}
	p.Group = drawGroups(t, sh, stages)
	for range stages {
		p.InFlight = append(p.InFlight, int(small("in flight", 1, 3)))
	}
	spare := 0
	if sh.free {
		spare = int(small("spare", 0, 1))
	}
	for range slices.Max(p.Group) + 1 + spare {
		p.Devices = append(p.Devices, partition.Device{Factor: small("factor", 1, 2), Limit: small("limit", 0, 40)})
	}
	return p
}

func drawGroups(t *rapid.T, sh shape, stages int) []int {
	switch sh.placement {
	case "loop":
		return partition.LoopGroups(stages, (stages+1)/2)
	case "v":
		return partition.VeeGroups(stages, (stages+1)/2)
	case "any":
		var groups []int
		next := 0
		for range stages {
			g := rapid.IntRange(0, next).Draw(t, "group")
			next = max(next, g+1)
			groups = append(groups, g)
		}
		return groups
	}
	return partition.LinearGroups(stages)
}

// each runs a property on problems of every shape.
func each(t *testing.T, property func(t *rapid.T, p *partition.Problem)) {
	for name, sh := range shapes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { property(t, draw(t, sh)) })
		})
	}
}
