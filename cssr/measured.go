package cssr

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// networkOf returns the network of a configuration with a model, with the costs of its
// profile if there is one. Errors are placed.
func networkOf(cfg *config.Config) (network.Network, error) {
	net, err := Network(cfg.Model, len(cfg.Devices))
	if err != nil {
		return nil, refuseNetwork(cfg, err)
	}
	if !cfg.Measured() {
		return net, nil
	}
	if err := checkMeasuredNetwork(cfg, net); err != nil {
		return nil, err
	}
	m := measuredOf(cfg.Profile, net)
	if _, err := m.Parts(); err != nil {
		return nil, refuseNetwork(cfg, err)
	}
	if err := checkMeasuredKinds(cfg, net); err != nil {
		return nil, err
	}
	return m, nil
}

// checkMeasuredKinds tests that a profile has the backward operations which layers have by
// their formulas: one that was not measured is not one that takes no time.
func checkMeasuredKinds(cfg *config.Config, net network.Network) error {
	parts, err := net.Parts()
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	next := 0
	for p := range parts {
		for i := range parts[p].Layers {
			l, d := &parts[p].Layers[i], &cfg.Profile.Layers[next].Durations
			for _, half := range []struct {
				name     string
				work     float64
				measured *config.Measurement
			}{{"backward_input", l.BackwardInput, d.BackwardInput}, {"backward_weight", l.BackwardWeight, d.BackwardWeight}} {
				if half.work > 0 && half.measured == nil {
					return cfg.Locate(fmt.Sprintf("profile.layers[%d].durations", next)).Refuse(
						fmt.Sprintf("%s has no %s, which this layer of the network has", l.Name, half.name),
						"measure it, or write that its median is 0", nil)
				}
			}
			next++
		}
	}
	return nil
}

// measuredOf returns a network with the costs of a profile.
func measuredOf(p *config.Profile, net network.Network) network.Measured {
	m := network.Measured{Network: net, Layers: make([]network.Measurement, len(p.Layers))}
	for i := range p.Layers {
		l := &p.Layers[i]
		m.Layers[i] = network.Measurement{
			Part: l.Part, Name: l.Name,
			Forward:        p.Nanoseconds(&l.Durations.Forward),
			BackwardInput:  p.Nanoseconds(l.Durations.BackwardInput),
			BackwardWeight: p.Nanoseconds(l.Durations.BackwardWeight),
			Activation:     l.Memory.Activation, Retained: l.Memory.Retained, Work: l.Memory.Work,
			Selective: checkpointOf(p, l.Durations.RecomputeSelective, l.Memory.Selective, l.Memory.SelectiveWork),
			Full:      checkpointOf(p, l.Durations.RecomputeFull, l.Memory.Full, l.Memory.FullWork),
		}
	}
	return m
}

// checkpointOf returns a measured recomputation, nil if there is none.
func checkpointOf(p *config.Profile, duration *config.Measurement, size *int64, work int64) *network.Checkpoint {
	if size == nil {
		return nil
	}
	return &network.Checkpoint{Bytes: *size, FLOPs: p.Nanoseconds(duration), Work: work}
}

// checkMeasuredNetwork tests that the network which a profile says it measured, if it says
// so, has the layers of the model.
func checkMeasuredNetwork(cfg *config.Config, net network.Network) error {
	if cfg.Profile.Network == "" {
		return nil
	}
	measured, err := profileBlueprint(cfg)
	if err != nil {
		return err
	}
	theirs, err := measured.Network()
	if err != nil {
		return refuseProfileNetwork(cfg, err)
	}
	want, err := net.Parts()
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	got, err := theirs.Parts()
	if err != nil {
		return refuseProfileNetwork(cfg, err)
	}
	if string(cfg.Model.DType) != measured.DType.String() || !reflect.DeepEqual(got, want) {
		return cfg.Locate("profile.network").Refuse("another network than the model of the configuration was measured",
			"measure again, or describe the network that was measured", nil)
	}
	return nil
}

// profileBlueprint returns the description of the network that a profile holds.
func profileBlueprint(cfg *config.Config) (*network.Blueprint, error) {
	b, err := network.DecodeBlueprint(string(cfg.Profile.Network))
	if err != nil {
		return nil, refuseProfileNetwork(cfg, err)
	}
	return b, nil
}

// refuseProfileNetwork places an error about the network of a profile.
func refuseProfileNetwork(cfg *config.Config, err error) error {
	return cfg.Locate("profile.network").Refuse(err.Error(), "write it as a plan file has it, or leave it out", err)
}

// profileNetwork returns the network behind stages that were measured as they are; it is
// empty if the profile does not say, or if chunks divide the stages.
func profileNetwork(cfg *config.Config, l *layout) (string, error) {
	if cfg.Profile == nil || cfg.Profile.Network == "" {
		return "", nil
	}
	b, err := profileBlueprint(cfg)
	if err != nil {
		return "", err
	}
	if len(b.Stages) != cfg.Stages {
		return "", cfg.Locate("profile.network").Refuse(
			fmt.Sprintf("it has the layers of %s, and %d were measured", model.Plural(len(b.Stages), "stage"), cfg.Stages),
			"list the layers of each stage, or leave it out", nil)
	}
	if l.chunks > 1 {
		return "", nil
	}
	return b.Encode()
}

// Recomputable returns the ways to recompute that the layers of a model have costs for, in
// ascending order: all by formulas, else those that were measured. Errors are those of
// [Pipeline].
func Recomputable(cfg *config.Config) ([]network.Recompute, error) {
	all := []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}
	if !cfg.Measured() {
		return all, nil
	}
	net, err := networkOf(cfg)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r network.Recompute) bool { return net.(network.Measured).Lacks(r) >= 0 }), nil
}

// checkRecompute tests that recomputation was measured where layers are.
func checkRecompute(cfg *config.Config, choices Choices, net network.Network, recompute []network.Recompute) error {
	m, ok := net.(network.Measured)
	if !ok {
		return nil
	}
	for s, r := range recompute {
		if slices.Contains(recompute[:s], r) {
			continue
		}
		layer := m.Lacks(r)
		if layer < 0 {
			continue
		}
		problem := fmt.Sprintf("%s was not measured with recomputation %v", m.Layers[layer].Name, r)
		const remedy = "measure it, or choose one that was"
		if choices.Recompute != nil {
			return (&ChoiceError{fmt.Sprintf("recompute %v", choices.Recompute), problem, remedy}).at(cfg.Locate("profile.layers"))
		}
		return cfg.Locate("recompute").Refuse(problem, remedy, nil)
	}
	return nil
}
