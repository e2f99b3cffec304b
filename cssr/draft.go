package cssr

import (
	"fmt"
	"math/big"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// draft is a pipeline in exact numbers: durations and latencies in the unit of
// the configuration, sizes in bytes or bare numbers. The numbers may be shared
// between stages and are not written to.
type draft struct {
	times  source
	sizes  source
	stages []draftStage
	delays *delays
	routes []int // the route of each micro-batch; nil for a single one

	operations []draftOperation
	engines    []string                // names of the engines, which follow the devices
	owned      map[string]map[int]bool // the stages of each kind of the configuration's own
}

// draftStage is a stage of a draft.
type draftStage struct {
	origin   int // stage of the configuration
	after    []int
	replicas []draftReplica // one for each route
	mode     model.Mode

	durations [numDurations]*big.Rat // on a device of slowdown 1; nil where there is no such operation
	sizes     [numSizes]*big.Rat
}

// draftReplica is a place where a stage runs.
type draftReplica struct {
	devices  []int
	slowdown *big.Rat // the largest among its devices
}

// on returns a duration of the stage on a replica, nil if there is no such operation.
func (s *draftStage) on(r *draftReplica, duration int) *big.Rat {
	t := s.durations[duration]
	if t == nil || r.slowdown.Cmp(big.NewRat(1, 1)) == 0 {
		return t
	}
	return new(big.Rat).Mul(t, r.slowdown)
}

// The durations of a stage.
const (
	forward = iota
	backwardInput
	backwardWeight
	backwardFull
	overlapped
	numDurations
)

var durationKeys = [numDurations]string{"forward", "backward_input", "backward_weight", "backward_full", "overlapped"}

// The sizes of a stage.
const (
	activation = iota
	freedByInput
	static
	numSizes
)

var sizeKeys = [numSizes]string{"activation", "freed_by_backward_input", "static"}

var modes = map[config.Backward]model.Mode{
	config.Split: model.Split, config.Fused: model.Fused, config.Auto: model.Auto,
}

var objectives = map[config.Objective]model.Objective{config.Makespan: model.Makespan, config.Span: model.Span}

// emptyDraft returns a draft of a layout without durations, sizes and delays.
func emptyDraft(cfg *config.Config, l *layout) *draft {
	return &draft{times: costSource(cfg), sizes: memorySource(cfg), stages: newStages(cfg, l), routes: l.routeOf}
}

// newStages returns the stages of a layout, without durations and sizes.
func newStages(cfg *config.Config, l *layout) []draftStage {
	stages := make([]draftStage, l.stages())
	for s := range stages {
		st := &stages[s]
		st.origin, st.after = l.origin(s), l.after[s]
		for _, devices := range l.replicas(s) {
			st.replicas = append(st.replicas, draftReplica{devices, slowest(cfg.Devices, devices).Rat()})
		}
		st.mode = modes[cfg.Backward[st.origin]]
		for i := range st.sizes {
			st.sizes[i] = new(big.Rat)
		}
	}
	return stages
}

// draftCosts returns the draft of a configuration with costs or a profile.
func draftCosts(cfg *config.Config, l *layout) *draft {
	d := emptyDraft(cfg, l)
	d.delays = costDelays(cfg, l)
	share := big.NewRat(1, int64(l.chunks))
	for s := range d.stages {
		st := &d.stages[s]
		c := &cfg.Costs[st.origin]
		for i, n := range [numDurations]*config.Decimal{&c.Forward, c.BackwardInput, c.BackwardWeight, c.BackwardFull, c.Overlapped} {
			st.durations[i] = product(n, share)
		}
		if cfg.Memory == nil {
			continue
		}
		m := &cfg.Memory[st.origin]
		for i, n := range [numSizes]*config.Decimal{&m.Activation, &m.FreedByBackwardInput, &m.Static} {
			st.sizes[i] = product(n, share)
		}
	}
	return d
}

// product returns n · factor, or nil for nil.
func product(n *config.Decimal, factor *big.Rat) *big.Rat {
	if n == nil {
		return nil
	}
	r := n.Rat()
	return r.Mul(r, factor)
}

// chooseBackward sets the mode of the stages that have both halves of a
// backward; nil keeps what there is.
func (d *draft) chooseBackward(cfg *config.Config, mode *model.Mode) error {
	if mode == nil {
		return nil
	}
	for s := range d.stages {
		if !d.stages[s].choose(*mode) {
			origin := d.stages[s].origin
			err := &ChoiceError{"backward " + mode.String(), fmt.Sprintf("stage %d has a backward_full only", origin),
				"give its backward_input and backward_weight"}
			return err.at(d.times.site(backwardFull, origin).place(cfg))
		}
	}
	return nil
}

// choose sets the mode of a stage if it has both halves of a backward. It
// returns false if the mode asks for halves that do not exist.
func (s *draftStage) choose(mode model.Mode) bool {
	input, weight, full := s.durations[backwardInput], s.durations[backwardWeight], s.durations[backwardFull]
	if input == nil || weight == nil {
		return mode != model.Split || full == nil
	}
	s.mode = mode
	if full == nil && mode != model.Split {
		s.durations[backwardFull] = new(big.Rat).Add(input, weight)
	}
	return true
}

// slowest returns the largest slowdown in a gang.
func slowest(devices []config.Device, gang []int) config.Decimal {
	most := devices[gang[0]].Slowdown
	for _, d := range gang[1:] {
		if devices[d].Slowdown.Cmp(most) > 0 {
			most = devices[d].Slowdown
		}
	}
	return most
}
