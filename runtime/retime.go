package runtime

import (
	"fmt"
	"math"

	"github.com/flexpipe/flexpipe/model"
)

// StageCosts are measured costs of a stage: durations of one micro-batch in nanoseconds, and
// sizes in bytes as in [model.Stage].
type StageCosts struct {
	Forward, BackwardInput, BackwardWeight, BackwardFull float64
	Activation, FreedByInput, Static                     int64
	// Work is space that every operation uses anew, and not part of Static.
	Work int64
}

// Retime returns a problem with the same operations as p, numbered alike, so that a plan of
// one is a plan of the other, but with the costs given for each stage, in nanoseconds and
// bytes, and latency nanoseconds between any two devices. Operations that a stage of p does
// not have it does not get. Limits are left out: they are in another unit.
//
// It refuses problems with costs that stages do not tell: blocking transfers, operations of
// the pipeline's own, unequal micro-batches.
func Retime(p *model.Problem, stages []StageCosts, latency float64) (*model.Problem, error) {
	pl := *p.Pipeline
	switch {
	case len(stages) != len(pl.Stages):
		return nil, fmt.Errorf("costs of %s for a problem of %d", model.Plural(len(stages), "stage"), len(pl.Stages))
	case pl.Blocking:
		return nil, fmt.Errorf("blocking transfers: their length has not been measured")
	case len(pl.Operations) > 0:
		return nil, fmt.Errorf("operation %s: costs of stages do not tell how long it takes", pl.Operations[0].Name)
	case pl.Factors != nil:
		return nil, fmt.Errorf("unequal micro-batches: costs of stages are those of one size")
	}
	pl.TimeUnit = model.Unit{Name: "ns", Multiplier: 1, Divisor: 1}
	pl.MemoryUnit = model.Unit{Name: "B", Multiplier: 1, Divisor: 1}
	pl.Latency, pl.Links = ticks(latency), nil
	pl.Devices = append([]model.Device(nil), pl.Devices...)
	for d := range pl.Devices {
		pl.Devices[d].Limit = model.Unlimited
	}
	pl.Stages = append([]model.Stage(nil), pl.Stages...)
	for s := range pl.Stages {
		pl.Stages[s] = stages[s].apply(pl.Stages[s])
	}
	return model.Compile(&pl)
}

// apply returns a stage with the costs.
func (c *StageCosts) apply(s model.Stage) model.Stage {
	s.Activation, s.FreedByInput, s.Static = model.Bytes(c.Activation), model.Bytes(c.FreedByInput), model.Bytes(c.Static)
	s.Replicas = append([]model.Replica(nil), s.Replicas...)
	for r := range s.Replicas {
		d := &s.Replicas[r].Durations
		for _, entry := range []struct {
			to   *model.Time
			cost float64
		}{{&d.Forward, c.Forward}, {&d.BackwardInput, c.BackwardInput}, {&d.BackwardWeight, c.BackwardWeight}, {&d.BackwardFull, c.BackwardFull}} {
			if *entry.to != model.Absent {
				*entry.to = ticks(entry.cost)
			}
		}
		d.Overlapped = model.Absent
	}
	return s
}

// ticks rounds nanoseconds.
func ticks(ns float64) model.Time { return model.Time(math.Round(ns)) }
