package cpu

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// fits tests that a problem is the pipeline of the blueprint, and has nothing that this
// package cannot execute.
func (l *layout) fits(p *model.Problem) error {
	pl := p.Pipeline
	if len(pl.Stages) != len(l.stages) {
		return &BlueprintError{-1, fmt.Sprintf("it has %s, the blueprint %d; --split-stages divides the costs of a stage and not its layers, set stages instead",
			model.Plural(len(pl.Stages), "stage"), len(l.stages))}
	}
	for s := range pl.Stages {
		if err := l.fitsStage(p, s); err != nil {
			return err
		}
	}
	switch {
	case len(pl.Operations) > 0:
		return &UnsupportedError{What: "with the operation " + pl.Operations[0].Name, Why: "it knows forward and backward operations only", Fix: "leave operations out, or use the emulated backend"}
	case slices.ContainsFunc(pl.Devices, func(d model.Device) bool { return d.Engine }):
		return &UnsupportedError{What: "with engines", Why: "it has devices only", Fix: "leave engines out, or use the emulated backend"}
	case !p.Identical:
		return &UnsupportedError{What: "micro-batches of different sizes", Why: "all have the same number of samples", Fix: "write micro_batches as a count, or use the emulated backend"}
	}
	return nil
}

// fitsStage tests a stage: what it reads, where it runs and which operations it has.
func (l *layout) fitsStage(p *model.Problem, s int) error {
	st := &p.Pipeline.Stages[s]
	after, want := slices.Sorted(slices.Values(st.After)), slices.Sorted(slices.Values(l.stages[s].before))
	if !slices.Equal(after, want) {
		return &BlueprintError{s, fmt.Sprintf("reads stages %v in the pipeline, and %v in the network", after, want)}
	}
	for _, r := range st.Replicas {
		if len(r.Devices) > 1 {
			return &UnsupportedError{
				What: fmt.Sprintf("stage %d on the devices %v together", s, r.Devices), Why: "it cannot divide the work of a layer",
				Fix: "place the stage on one device, or use the emulated backend",
			}
		}
		d := r.Durations
		halves := d.BackwardInput != model.Absent && d.BackwardWeight != model.Absent
		alone := (d.BackwardInput == model.Absent) != (d.BackwardWeight == model.Absent)
		if alone || !halves && d.BackwardFull == model.Absent {
			return &UnsupportedError{
				What: fmt.Sprintf("stage %d without a whole backward pass", s), Why: "all parameters are trained",
				Fix: "give the stage backward_input and backward_weight, or a backward_full",
			}
		}
	}
	return nil
}

// A copyPlan says how often a stage is there: once for each device on which some route meets it,
// in the order of routes. Routes that meet it on the same device share a copy.
type copyPlan struct {
	devices []int // by copy
	byRoute []int // the copy that each route uses
}

// copyPlans returns those of each stage of a pipeline that fits.
func copyPlans(pl *model.Pipeline) []copyPlan {
	list := make([]copyPlan, len(pl.Stages))
	for s := range list {
		replicas, c := pl.Stages[s].Replicas, &list[s]
		for route := range pl.NumRoutes() {
			d := replicas[min(route, len(replicas)-1)].Devices[0]
			i := slices.Index(c.devices, d)
			if i < 0 {
				i = len(c.devices)
				c.devices = append(c.devices, d)
			}
			c.byRoute = append(c.byRoute, i)
		}
	}
	return list
}
