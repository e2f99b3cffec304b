package partition

import (
	"math"
	"slices"
)

// A frontier is a problem prepared for dynamic programming from group to group.
// Boundary b lies between stages b-1 and b; boundaries 0 and len(Group) are fixed.
type frontier struct {
	p       *Problem
	t       *table
	n       int
	slots   []slot
	classes []class
	narrow  bool // states fit in 64 bits; else there are far too many to see all
}

// A slot is a group of stages in its turn.
type slot struct {
	stages []int // ascending
	set    []int // boundaries that this slot is the first to touch, ascending
	open   []int // boundaries touched so far that later slots touch again, ascending
	class  int   // of its device; -1 if the assignment is free
}

// A class is devices that are alike.
type class struct {
	factor, limit int64
	devices       []int
}

// newFrontier prepares p.
func newFrontier(p *Problem) *frontier {
	f := &frontier{p: p, t: newTable(p), n: len(p.Layers)}
	classOf := f.classify()
	last := make([]int, len(p.Group)+1) // by boundary: the last group that touches it
	for s, g := range p.Group {
		last[s], last[s+1] = max(last[s], g), max(last[s+1], g)
	}
	touched := make([]bool, len(p.Group)+1)
	touched[0], touched[len(p.Group)] = true, true
	for g := range p.groups() {
		at := slot{class: -1}
		if !p.FreeAssignment {
			at.class = classOf[g]
		}
		for s, group := range p.Group {
			if group == g {
				at.stages = append(at.stages, s)
			}
		}
		for _, s := range at.stages {
			for _, b := range []int{s, s + 1} {
				if !touched[b] {
					touched[b] = true
					at.set = append(at.set, b)
				}
			}
		}
		for b := 1; b < len(p.Group); b++ {
			if touched[b] && last[b] > g {
				at.open = append(at.open, b)
			}
		}
		f.slots = append(f.slots, at)
	}
	f.narrow = f.states() < math.MaxInt64/2
	return f
}

// classify sets classes, in the order of their first devices, and returns that of
// each device.
func (f *frontier) classify() []int {
	of := make([]int, len(f.p.Devices))
	for d, device := range f.p.Devices {
		factor, limit := device.factor(), device.Limit
		if limit == 0 {
			limit = math.MaxInt64
		}
		c := slices.IndexFunc(f.classes, func(c class) bool { return c.factor == factor && c.limit == limit })
		if c < 0 {
			c = len(f.classes)
			f.classes = append(f.classes, class{factor: factor, limit: limit})
		}
		f.classes[c].devices = append(f.classes[c].devices, d)
		of[d] = c
	}
	return of
}

// states is an upper bound of the states between two slots, at which keys end.
func (f *frontier) states() float64 {
	most := 1.0
	for i := range f.slots {
		most = max(most, math.Pow(float64(f.n+1), float64(len(f.slots[i].open))))
	}
	return most * 2 * f.counts()
}

// counts is the number of ways to use up devices of the classes.
func (f *frontier) counts() float64 {
	ways := 1.0
	if f.p.FreeAssignment {
		for i := range f.classes {
			ways *= float64(len(f.classes[i].devices) + 1)
		}
	}
	return ways
}

// rate returns the work that slots from slot on, or the devices left, can do when
// none works longer than limit.
func (f *frontier) rate(slot int, used []int, limit int64) int64 {
	var sum int64
	add := func(c, times int) {
		for range times {
			sum = min(maxTotal, sum+min(maxTotal, limit/f.classes[c].factor))
		}
	}
	if f.p.FreeAssignment {
		for c := range f.classes {
			add(c, len(f.classes[c].devices)-used[c])
		}
		return sum
	}
	for _, s := range f.slots[slot:] {
		add(s.class, 1)
	}
	return sum
}

// seat gives each slot a device of its class: its own, or the first one left.
func (f *frontier) seat(c *Choice, classOf []int) {
	taken := make([]int, len(f.classes))
	for i, class := range classOf {
		d := i
		if f.p.FreeAssignment {
			d = f.classes[class].devices[taken[class]]
			taken[class]++
		}
		for _, s := range f.slots[i].stages {
			c.Devices[s] = d
		}
	}
}
