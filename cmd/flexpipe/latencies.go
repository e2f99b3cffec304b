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
// output or its gradient travels.
func eachNeighbours(pl *model.Pipeline, visit func(from, to int)) {
	for s := range pl.Stages {
		for _, before := range pl.Stages[s].After {
			for _, from := range pl.Stages[before].Replicas[0].Devices {
				for _, to := range pl.Stages[s].Replicas[0].Devices {
					if from != to {
						visit(from, to)
						visit(to, from)
					}
				}
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
