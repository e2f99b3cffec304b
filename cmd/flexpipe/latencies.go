package main

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// latencies says how long transfers between neighbouring stages take: in nodes of
// so many devices and between them, 0 if all devices are alike.
func latencies(p *model.Problem, perNode int) string {
	within, between := latencyRange{}, latencyRange{}
	links := map[[2]int]model.Time{}
	for _, l := range p.Pipeline.Links {
		links[[2]int{l.From, l.To}] = l.Latency
	}
	visit := func(from, to int) {
		t, own := links[[2]int{from, to}]
		if !own {
			t = p.Pipeline.Latency
		}
		if perNode > 0 && from/perNode != to/perNode {
			between.add(t)
		} else {
			within.add(t)
		}
	}
	eachNeighbours(p.Pipeline, visit)
	switch {
	case !within.any && !between.any:
		return "none, all stages share a device"
	case !between.any:
		return "latency " + within.text(p)
	case !within.any:
		return "latency " + between.text(p) + " between nodes"
	}
	return fmt.Sprintf("latency %s within a node, %s between nodes", within.text(p), between.text(p))
}

// eachNeighbours calls visit for each pair of different devices between which an
// output or its gradient travels, on any route.
func eachNeighbours(pl *model.Pipeline, visit func(from, to int)) {
	routes := pl.NumRoutes()
	on := func(stage, route int) []int {
		replicas := pl.Stages[stage].Replicas
		return replicas[min(route, len(replicas)-1)].Devices
	}
	for s := range pl.Stages {
		for _, before := range pl.Stages[s].After {
			for route := range routes {
				eachPair(on(before, route), on(s, route), visit)
			}
		}
	}
}

// eachPair calls visit for each pair of different devices of two gangs, both ways.
func eachPair(gang, other []int, visit func(from, to int)) {
	for _, from := range gang {
		for _, to := range other {
			if from != to {
				visit(from, to)
				visit(to, from)
			}
		}
	}
}

// latencyRange is what lies between the least and the greatest of some latencies.
type latencyRange struct {
	any         bool
	least, most model.Time
}

func (r *latencyRange) add(t model.Time) {
	if !r.any {
		r.least, r.most = t, t
	}
	r.any, r.least, r.most = true, min(r.least, t), max(r.most, t)
}

func (r *latencyRange) text(p *model.Problem) string {
	if r.least == r.most {
		return p.FormatTime(r.most)
	}
	return p.TimeUnit().Format(int64(r.least)) + " to " + p.FormatTime(r.most)
}
