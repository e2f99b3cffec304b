package bound

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// mixed improves a finding for micro-batches that differ, by the one-machine
// problems in which each micro-batch keeps its own durations. Heads and tails are
// longest paths within a micro-batch: nothing is known of the order of different
// ones.
//
// Cost O(distinct factors · (rows + precedences)), for the span times devices;
// it gives up beyond a fixed effort.
func mixed(p *model.Problem, objective model.Objective, best *finding) {
	classes := classesOf(p)
	if len(classes)*len(p.Rows) > windowVisits {
		return
	}
	for i := range classes {
		classes[i].prepare(p)
	}
	if objective == model.Makespan {
		for i := range classes {
			classes[i].front.fromZero(0)
			classes[i].back.fromZero(0)
		}
	}
	budget := headVisits
	for _, d := range busiest(p) {
		if objective == model.Span {
			if budget -= len(classes) * len(p.Rows); budget < 0 {
				return
			}
		}
		var jobs []job
		for i := range classes {
			c := &classes[i]
			if objective == model.Span {
				c.front.fromDevice(d, 0)
				c.back.fromDevice(d, 0)
			}
			jobs = c.appendJobs(jobs, d, i == 0)
		}
		best.improve(jackson(jobs), d)
	}
}

// class holds the micro-batches with one factor.
type class struct {
	factor      int64
	count       []int // by route
	pick        []int // by route: the index of one of them within the route, or -1
	front, back *heads
}

// classesOf sorts the micro-batches by factor.
func classesOf(p *model.Problem) []class {
	pl := p.Pipeline
	routes := pl.NumRoutes()
	index := map[int64]int{}
	position := make([]int, routes)
	var classes []class
	for m, f := range pl.Factors {
		route := 0
		if pl.Routes != nil {
			route = pl.Routes[m]
		}
		i, seen := index[f]
		if !seen {
			i = len(classes)
			index[f] = i
			classes = append(classes, class{factor: f, count: make([]int, routes), pick: slices.Repeat([]int{-1}, routes)})
		}
		classes[i].count[route]++
		classes[i].pick[route] = position[route]
		position[route]++
	}
	return classes
}

// prepare builds the graphs of one micro-batch of the class for each route.
func (c *class) prepare(p *model.Problem) {
	sides := [2]*heads{}
	for i, reversed := range []bool{false, true} {
		g := newGraph(p, 1, reversed, c.pick)
		for q := range g.rows {
			g.rows[q].total = g.rows[q].count
		}
		sides[i] = newPaths(g)
	}
	c.front, c.back = sides[0], sides[1]
}

// appendJobs appends the work of the class on a device, and that of no micro-batch if
// once.
func (c *class) appendJobs(jobs []job, d int, once bool) []job {
	g := c.front.g
	for _, q := range g.on[d] {
		n := &g.rows[q]
		if n.count == 0 || n.single && !once {
			continue
		}
		times := c.count[n.route]
		if n.single {
			times = 1
		}
		mirror := int32(len(g.rows)-1) - q
		jobs = append(jobs, job{c.front.at(q, 0), model.Time(times) * n.length, c.back.at(mirror, 0)})
	}
	return jobs
}
