package modelgen

import (
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
)

// AddOperations draws operations of a pipeline's own, one at least, adds engines for
// them, and raises limits by what they need. The pipeline has none before. The same seed
// gives the same operations.
func AddOperations(pl *model.Pipeline, seed uint64) {
	g := operations{generator{rand.New(rand.NewPCG(seed, 0x09e7))}, pl}
	if g.one(2) {
		g.recompute(g.IntN(len(pl.Stages)))
	}
	if g.one(3) {
		g.offload(g.IntN(len(pl.Stages)))
	}
	if g.one(3) {
		g.collective(g.IntN(len(pl.Stages)))
	}
	if g.one(4) {
		g.beside()
	}
	if g.one(4) {
		g.load(g.IntN(len(pl.Stages)))
	}
	if g.one(4) {
		g.barrier(g.IntN(len(pl.Stages)))
	}
	if g.one(3) || len(pl.Operations) == 0 {
		g.step()
	}
}

type operations struct {
	generator
	pl *model.Pipeline
}

func (g operations) add(o model.Operation) { g.pl.Operations = append(g.pl.Operations, o) }

// engine adds an engine and returns its number.
func (g operations) engine(name string) int {
	g.pl.Devices = append(g.pl.Devices, model.Device{Name: name, Limit: model.Unlimited, Engine: true})
	return len(g.pl.Devices) - 1
}

// own draws devices that are no engines.
func (g operations) own() []int {
	n := 0
	for n < len(g.pl.Devices) && !g.pl.Devices[n].Engine {
		n++
	}
	return g.devices(n)
}

// room raises the limits of devices; one of a gang may be named twice.
func (g operations) room(devices []int, more model.Bytes) {
	for _, d := range devices {
		if l := &g.pl.Devices[d].Limit; *l < model.Unlimited {
			*l += more
		}
	}
}

// homes lists the devices of all replicas of a stage.
func (g operations) homes(s int) []int {
	var all []int
	for _, r := range g.pl.Stages[s].Replicas {
		all = append(all, r.Devices...)
	}
	return all
}

// ends returns what to wait for at the end of a stage, and whether it has a
// backward.
func (g operations) ends(s int) (model.Ref, bool) {
	d := g.pl.Stages[s].Replicas[0].Durations
	if d.BackwardInput == model.Absent && d.BackwardWeight == model.Absent && d.BackwardFull == model.Absent {
		return model.Ref{Kind: "forward", Stage: s}, false
	}
	return model.Ref{Kind: "backward", Stage: s}, true
}

// recompute takes memory that the backward gives back.
func (g operations) recompute(s int) {
	end, backward := g.ends(s)
	o := model.Operation{Name: "recompute", Letter: "R", Stage: s, Duration: g.time(4), After: []model.Ref{{Kind: "forward", Stage: s}}}
	if backward {
		o.Before = []model.Ref{end}
		o.Takes = model.Bytes(g.IntN(3))
		g.room(g.homes(s), o.Takes)
	}
	g.add(o)
}

// offload moves a part of the activation out by an engine, and back by it or
// another one.
func (g operations) offload(s int) {
	end, backward := g.ends(s)
	if !backward {
		return
	}
	moved := model.Bytes(g.IntN(int(g.pl.Stages[s].Activation) + 1))
	out := g.engine("out")
	in := out
	if g.one(2) {
		in = g.engine("in")
	}
	g.add(model.Operation{Name: "offload", Letter: "OUT", Stage: s, Devices: []int{out}, Duration: g.time(4), Gives: moved, Fixed: g.one(2),
		After: []model.Ref{{Kind: "forward", Stage: s}}})
	g.add(model.Operation{Name: "reload", Letter: "IN", Stage: s, Devices: []int{in}, Duration: g.time(4), Takes: moved,
		After: []model.Ref{{Kind: "offload", Stage: s, Lag: g.time(2)}}, Before: []model.Ref{end}})
}

// collective runs on several devices, after the forward or the backward of a stage.
func (g operations) collective(s int) {
	end, _ := g.ends(s)
	if g.one(2) {
		end = model.Ref{Kind: "forward", Stage: s}
	}
	o := model.Operation{Name: "all_reduce", Letter: "AR", Stage: s, Devices: g.own(), Duration: g.time(4), After: []model.Ref{end}}
	o.Takes = model.Bytes(g.IntN(2))
	o.Gives = o.Takes
	g.room(o.Devices, o.Takes)
	g.add(o)
}

// beside belongs to no stage.
func (g operations) beside() {
	s := g.IntN(len(g.pl.Stages))
	o := model.Operation{Name: "log", Letter: "LOG", Stage: -1, Devices: g.own(), Duration: g.time(3),
		After: []model.Ref{{Kind: "forward", Stage: s, Lag: g.time(2)}}}
	if last := len(g.pl.Stages) - 1; s < last {
		o.Before = []model.Ref{{Kind: "forward", Stage: last, Lag: g.time(2)}}
	}
	g.add(o)
}

// load runs once, before the forwards of a stage, and holds memory while it runs;
// in one of two cases an engine does it.
func (g operations) load(s int) {
	o := model.Operation{Name: "load", Letter: "LOAD", Stage: s, Single: true, Duration: g.time(4), Takes: model.Bytes(g.IntN(3)),
		Before: []model.Ref{{Kind: "forward", Stage: s, Lag: g.time(2)}}}
	if g.one(2) {
		o.Devices = []int{g.engine("disk")}
	}
	g.room(g.homes(s), o.Takes)
	g.add(o)
}

// barrier lets no backward of a stage start before all its forwards have ended. All
// micro-batches are live then.
func (g operations) barrier(s int) {
	end, backward := g.ends(s)
	if !backward {
		return
	}
	o := model.Operation{Name: "loss", Letter: "LOSS", Stage: s, Single: true, Duration: g.time(4),
		After: []model.Ref{{Kind: "forward", Stage: s, Lag: g.time(2)}}, Before: []model.Ref{end}}
	if g.one(3) {
		o.Devices = g.own()
	}
	for q, st := range g.pl.Stages {
		more := st.Activation
		for _, other := range g.pl.Operations {
			if other.Stage == q && !other.Single {
				more += max(0, other.Takes-other.Gives)
			}
		}
		g.room(g.homes(q), more*model.Bytes(g.pl.MicroBatches-1))
	}
	g.add(o)
}

// step runs once, after all else.
func (g operations) step() {
	o := model.Operation{Name: "step", Letter: "STEP", Stage: -1, Single: true, Devices: g.own(), Duration: g.time(5)}
	for s := range g.pl.Stages {
		end, _ := g.ends(s)
		o.After = append(o.After, end)
	}
	g.add(o)
}
