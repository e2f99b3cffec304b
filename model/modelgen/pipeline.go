package modelgen

import (
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
)

// RandomPipeline returns a small random pipeline that uses all that a pipeline
// can say: gangs, stage graphs, two routes, links, blocking transfers, factors,
// stages without some operations, in one of three cases operations of its own and
// engines, and memory limits under which a micro-batch alone fits, or all of them
// where a barrier asks for that. It compiles. The same seed gives the same pipeline.
func RandomPipeline(seed uint64, maxMicroBatches int) *model.Pipeline {
	pl := RandomStages(seed, maxMicroBatches)
	if rand.New(rand.NewPCG(seed, 0x09e8)).IntN(3) == 0 {
		AddOperations(pl, seed)
	}
	return pl
}

// RandomStages is RandomPipeline without operations of the pipeline's own.
func RandomStages(seed uint64, maxMicroBatches int) *model.Pipeline {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 0xf1e1d))}
	pl := &model.Pipeline{
		MicroBatches: 1 + g.IntN(maxMicroBatches),
		Latency:      g.time(3),
		Blocking:     g.one(3),
	}
	for range 1 + g.IntN(4) {
		pl.Devices = append(pl.Devices, model.Device{Limit: model.Unlimited})
	}
	pl.Stages = make([]model.Stage, 1+g.IntN(5))
	g.graph(pl)
	routes := 1
	if g.one(4) {
		routes = 2
	}
	backward := make([]bool, len(pl.Stages))
	for s := range pl.Stages {
		g.stage(pl, s, routes, backward)
	}
	g.microBatches(pl)
	g.links(pl)
	if g.one(2) {
		g.limits(pl)
	}
	return pl
}

type generator struct{ *rand.Rand }

// one is true in one of n cases.
func (g generator) one(n int) bool { return g.IntN(n) == 0 }

func (g generator) time(n int) model.Time { return model.Time(g.IntN(n)) }

// graph makes a chain, or in one of three cases a random acyclic graph.
func (g generator) graph(pl *model.Pipeline) {
	if !g.one(3) {
		model.Chain(pl.Stages)
		return
	}
	for s := range pl.Stages {
		for q := range s {
			if g.one(2) {
				pl.Stages[s].After = append(pl.Stages[s].After, q)
			}
		}
	}
}

// stage fills a stage whose predecessors are filled. backward says of each
// stage whether it has any backward operation.
func (g generator) stage(pl *model.Pipeline, s, routes int, backward []bool) {
	st := &pl.Stages[s]
	st.Backward = model.Mode(g.IntN(3))
	st.Activation = model.Bytes(g.IntN(4))
	st.FreedByInput = model.Bytes(g.IntN(int(st.Activation)+3) - 2)
	st.Static = model.Bytes(g.IntN(3))
	head := true // no predecessor needs a gradient
	for _, q := range st.After {
		head = head && !backward[q]
	}
	replicas := 1
	if routes > 1 && g.one(2) || s == 0 {
		replicas = routes
	}
	form := g.IntN(8)
	for range replicas {
		st.Replicas = append(st.Replicas, model.Replica{
			Devices: g.devices(len(pl.Devices)), Durations: g.durations(form, head),
		})
	}
	d := st.Replicas[0].Durations
	backward[s] = d.BackwardInput != model.Absent || d.BackwardWeight != model.Absent || d.BackwardFull != model.Absent
}

// devices draws one device, or in one of four cases a gang.
func (g generator) devices(n int) []int {
	size := 1
	if g.one(4) {
		size = min(n, 2+g.IntN(2))
	}
	return g.Perm(n)[:size]
}

// durations draws costs; form says which operations there are.
func (g generator) durations(form int, head bool) model.Durations {
	d := model.Durations{
		Forward: g.time(5), BackwardInput: g.time(5), BackwardWeight: g.time(5),
		BackwardFull: g.time(9), Overlapped: model.Absent,
	}
	switch {
	case form == 0 && head: // forward only
		d.BackwardInput, d.BackwardWeight, d.BackwardFull = model.Absent, model.Absent, model.Absent
	case form == 1 && head:
		d.BackwardInput = model.Absent
	case form == 2:
		d.BackwardWeight = model.Absent
	case form == 3:
		d.BackwardInput, d.BackwardWeight = model.Absent, model.Absent
	case form == 4:
		d.BackwardFull = model.Absent
	}
	return d
}

// microBatches draws routes and, in one of four cases, factors.
func (g generator) microBatches(pl *model.Pipeline) {
	factors := g.one(4)
	for range pl.MicroBatches {
		if n := pl.NumRoutes(); n > 1 {
			pl.Routes = append(pl.Routes, g.IntN(n))
		}
		if factors {
			pl.FactorScale = 1
			pl.Factors = append(pl.Factors, int64(1+g.IntN(3)))
		}
	}
}

func (g generator) links(pl *model.Pipeline) {
	for a := range pl.Devices {
		for b := range pl.Devices {
			if a != b && g.one(6) {
				pl.Links = append(pl.Links, model.Link{From: a, To: b, Latency: g.time(4)})
			}
		}
	}
}

// limits gives each device what one micro-batch needs at once, and a little.
func (g generator) limits(pl *model.Pipeline) {
	for d := range pl.Devices {
		pl.Devices[d].Limit = model.Bytes(g.IntN(6))
	}
	for _, st := range pl.Stages {
		for _, replica := range st.Replicas {
			for _, d := range replica.Devices {
				pl.Devices[d].Limit += st.Static + st.Activation + max(0, -st.FreedByInput)
			}
		}
	}
}
