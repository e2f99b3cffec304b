// Package modelgen makes problems for tests, fuzzing and benchmarks: named
// regular ones, seeded random ones, and random plans. It serves tests only.
package modelgen

import (
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
)

// Spec describes a regular pipeline in ticks and bare memory units. Slices have
// one value per stage, or a single value for all; nil memory slices mean 0.
type Spec struct {
	Devices, MicroBatches int
	Placement             [][]int // nil: stage s on device s mod Devices
	F, I, W, B            []model.Time
	Activation, FreedByI  []model.Bytes
	Static                []model.Bytes
	Limit                 []model.Bytes // by device; nil: none
	Latency               model.Time
	Backward              model.Mode
	Blocking              bool
	Objective             model.Objective
	Factors               []int64
}

// Pipeline returns the pipeline of a spec with as many stages as the longest
// list or placement, at least one for each device; the stage graph is the chain.
// A nil B is I+W.
func Pipeline(s Spec) *model.Pipeline {
	stages := max(s.Devices, len(s.Placement), len(s.F), len(s.I), len(s.W), len(s.Activation))
	if s.Placement != nil {
		stages = len(s.Placement)
	} else {
		s.Placement = model.LoopPlacement(stages, s.Devices)
	}
	pl := &model.Pipeline{
		MicroBatches: s.MicroBatches, Latency: s.Latency, Blocking: s.Blocking,
		Objective: s.Objective, Factors: s.Factors, FactorScale: 1,
	}
	for d := range s.Devices {
		pl.Devices = append(pl.Devices, model.Device{Limit: at(s.Limit, d, model.Unlimited)})
	}
	for k := range stages {
		d := model.Durations{
			Forward: at(s.F, k, 1), BackwardInput: at(s.I, k, 1), BackwardWeight: at(s.W, k, 1),
			BackwardFull: model.Absent, Overlapped: model.Absent,
		}
		if d.BackwardInput != model.Absent && d.BackwardWeight != model.Absent {
			d.BackwardFull = at(s.B, k, d.BackwardInput+d.BackwardWeight)
		}
		pl.Stages = append(pl.Stages, model.Stage{
			Replicas:     []model.Replica{{Devices: s.Placement[k], Durations: d}},
			Backward:     s.Backward,
			Activation:   at(s.Activation, k, 0),
			FreedByInput: at(s.FreedByI, k, 0),
			Static:       at(s.Static, k, 0),
		})
	}
	model.Chain(pl.Stages)
	return pl
}

func at[T any](list []T, i int, none T) T {
	switch {
	case len(list) == 0:
		return none
	case len(list) == 1:
		return list[0]
	default:
		return list[i]
	}
}

// Problem compiles the pipeline of a spec. It panics on a spec that does not
// compile: that is a mistake of the test.
func Problem(s Spec) *model.Problem {
	p, err := model.Compile(Pipeline(s))
	if err != nil {
		panic(err)
	}
	return p
}

// Unit returns the problem with F = I = W = 1 and one stage per device.
func Unit(devices, microBatches int) *model.Problem {
	return Problem(Spec{Devices: devices, MicroBatches: microBatches})
}

// Random returns a small random spec: 1 to 4 devices, up to 2 chunks on each, up
// to maxMicroBatches micro-batches, uneven costs, any placement by name, and in
// about half the cases a memory limit under which a micro-batch alone fits.
func Random(seed uint64, maxMicroBatches int) Spec {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	s := Spec{Devices: 1 + r.IntN(4), MicroBatches: 1 + r.IntN(maxMicroBatches), Latency: model.Time(r.IntN(3))}
	chunks := 1 + r.IntN(2)
	stages := s.Devices * chunks
	s.Placement = model.LoopPlacement(stages, s.Devices)
	if r.IntN(2) == 0 {
		s.Placement, _ = model.VPlacement(stages, s.Devices)
	}
	s.Backward = model.Mode(r.IntN(3))
	for range stages {
		s.F = append(s.F, model.Time(r.IntN(5)))
		s.I = append(s.I, model.Time(r.IntN(5)))
		s.W = append(s.W, model.Time(r.IntN(5)))
		s.Activation = append(s.Activation, model.Bytes(1+r.IntN(3)))
	}
	for _, a := range s.Activation {
		s.FreedByI = append(s.FreedByI, model.Bytes(r.IntN(int(a)+2)-1))
	}
	if r.IntN(2) == 0 {
		s.Limit = randomLimits(r, s)
	}
	return s
}

// randomLimits gives each device what one micro-batch needs at once, and a little.
func randomLimits(r *rand.Rand, s Spec) []model.Bytes {
	limits := make([]model.Bytes, s.Devices)
	for k, devices := range s.Placement {
		limits[devices[0]] += s.Activation[k] + max(0, -s.FreedByI[k])
	}
	for d := range limits {
		limits[d] += model.Bytes(r.IntN(8))
	}
	return limits
}
