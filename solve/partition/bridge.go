package partition

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// FromNetwork returns layers with their costs on a cluster, in nanoseconds and bytes,
// with all ways to recompute. Forward, backward input and backward weight are rounded
// for each layer, where network.Stages rounds for each stage: the two differ by up to
// 1.5 ns for each layer.
//
// Errors are those of the cluster.
func FromNetwork(layers []network.Layer, cluster network.Cluster) ([]Layer, error) {
	if err := cluster.Validate(); err != nil {
		return nil, err
	}
	list := make([]Layer, len(layers))
	for i := range layers {
		l := &layers[i]
		list[i] = Layer{Static: l.Parameters * l.StateBytes, Tied: l.Tied * l.StateBytes}
		for _, r := range []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull} {
			m, err := modeOf(l.Cost(r), cluster)
			if err != nil {
				return nil, err
			}
			list[i].Modes = append(list[i].Modes, m)
		}
	}
	return list, nil
}

// modeOf returns a cost on a cluster. What backward input takes at its start, Backward
// has; what it gives back, does not lower the peak.
func modeOf(c network.Cost, cluster network.Cluster) (Mode, error) {
	m := Mode{Activation: c.Activation, Backward: -c.FreedByBackwardInput, Workspace: c.Workspace}
	for _, flops := range []float64{c.Forward, c.BackwardInput, c.BackwardWeight} {
		t, err := cluster.Duration(flops)
		if err != nil {
			return Mode{}, err
		}
		m.Work += int64(t)
	}
	return m, nil
}

// A ConfigError reports a configuration that has no partition to choose.
type ConfigError struct{ Problem string }

func (e *ConfigError) Error() string { return "partition: " + e.Problem }

// FromConfig returns the problem of cutting the model of a configuration under the
// given choices, whose partition and recomputation are left aside, with the given ways
// to recompute to choose from. Times are in nanoseconds, divided by the common
// denominator of all slowdowns, see [Device]. In flight are as many micro-batches as
// 1F1B has, interleaved where the placement is a loop of several laps; where it is
// another with several stages per device, as many as 1F1B has with a device for each
// stage, which suffices for it but is not the least. Layers that all devices share
// count with what they hold on each, and their work, which is the same on all, not at
// all.
//
// Errors: a [*ConfigError] for a network of several chains, with several routes, with a
// gang, with numbers that are too fine, with idle devices, or with recomputation that a
// profile did not measure; else those of
// [cssr.NewDeal].
func FromConfig(cfg *config.Config, choices cssr.Choices, recompute []network.Recompute) (*Problem, error) {
	if cfg.Model == nil {
		return nil, &ConfigError{"the configuration lists costs of stages; give a model, of which layers can be cut"}
	}
	if len(cfg.Routes) > 1 || choices.Bidirectional {
		return nil, &ConfigError{"stages have replicas on several routes; give one route"}
	}
	deal, err := cssr.NewDeal(cfg, choices)
	if err != nil {
		return nil, err
	}
	if err := checkMeasured(cfg, recompute); err != nil {
		return nil, err
	}
	chain, counts := network.DealtLayers(deal.Parts)
	if len(counts) != 1 {
		return nil, &ConfigError{fmt.Sprintf("the network has %d chains of layers; one can be cut here", len(counts))}
	}
	p := &Problem{Recompute: recompute}
	if p.Layers, err = FromNetwork(chain, deal.Cluster); err != nil {
		return nil, err
	}
	for s, gang := range deal.Devices {
		if len(gang) > 1 {
			return nil, &ConfigError{fmt.Sprintf("stage %d is on a gang of %d devices; place each stage on one", s, len(gang))}
		}
		p.Group = append(p.Group, gang[0])
	}
	p.InFlight = inFlight(p.Group, len(cfg.Devices), deal.MicroBatches)
	if p.Devices, err = devicesOf(cfg.Devices); err != nil {
		return nil, err
	}
	if err := p.reserve(deal.Shared); err != nil {
		return nil, err
	}
	for d := range cfg.Devices {
		if !slices.Contains(p.Group, d) {
			return nil, &ConfigError{fmt.Sprintf("device %d runs no stage; leave it out, or give it one", d)}
		}
	}
	return p, p.Check()
}

// checkMeasured tests that there are costs of the ways to recompute.
func checkMeasured(cfg *config.Config, recompute []network.Recompute) error {
	known, err := cssr.Recomputable(cfg)
	if err != nil {
		return err
	}
	for _, r := range recompute {
		if !slices.Contains(known, r) {
			return &ConfigError{fmt.Sprintf("the profile has no costs of recomputation %v; leave it out, or measure it", r)}
		}
	}
	return nil
}

// reserve takes what each device holds of shared layers off its limit: parameters, and
// the activations of one micro-batch.
func (p *Problem) reserve(held int64) error {
	for d := range p.Devices {
		limit := &p.Devices[d].Limit
		if held == 0 || *limit == 0 {
			continue
		}
		if *limit -= held; *limit <= 0 {
			return &ConfigError{fmt.Sprintf("the layers that all devices share take %d bytes, more than device %d has", held, d)}
		}
	}
	return nil
}

func inFlight(groups []int, devices, microBatches int) []int {
	if slices.Equal(groups, LoopGroups(len(groups), devices)) && len(groups)%devices == 0 {
		return Interleaved(len(groups), devices, microBatches)
	}
	return OneForwardOneBackward(len(groups), microBatches)
}

// devicesOf brings slowdowns to a common denominator, and limits to whole bytes,
// rounded down.
func devicesOf(list []config.Device) ([]Device, error) {
	denominator := big.NewInt(1)
	for _, d := range list {
		den := d.Slowdown.Rat().Denom()
		gcd := new(big.Int).GCD(nil, nil, denominator, den)
		denominator.Mul(denominator, new(big.Int).Div(den, gcd))
	}
	devices := make([]Device, len(list))
	for i, d := range list {
		factor := new(big.Rat).Mul(d.Slowdown.Rat(), new(big.Rat).SetInt(denominator))
		if !factor.Num().IsInt64() {
			return nil, &ConfigError{fmt.Sprintf("device %d has the slowdown %v, too fine beside the others; round it to fewer digits", i, d.Slowdown)}
		}
		devices[i].Factor = factor.Num().Int64()
		if d.Limit == nil {
			continue
		}
		limit := d.Limit.Rat()
		bytes := new(big.Int).Div(limit.Num(), limit.Denom())
		if bytes.IsInt64() && bytes.Sign() > 0 {
			devices[i].Limit = bytes.Int64()
		} else if bytes.Sign() == 0 {
			return nil, &ConfigError{fmt.Sprintf("device %d has a limit below one byte; leave it out", i)}
		}
	}
	return devices, nil
}
