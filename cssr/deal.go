package cssr

import (
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// Deal is what a partition of a model has to cut.
type Deal struct {
	Parts   []network.Part
	Cluster network.Cluster
	Devices [][]int // by stage that a partition fills: where it sits, on any route

	MicroBatches int

	// Shared is the bytes that each device holds of layers that all devices share:
	// training state, and the activations of one micro-batch.
	Shared int64
}

// NewDeal returns what a partition of the model of cfg has to cut under the given
// choices; those of partition and recomputation do not matter. Errors are those of
// [Pipeline]; a configuration without a model gives a *[ChoiceError].
func NewDeal(cfg *config.Config, choices Choices) (*Deal, error) {
	if cfg.Model == nil {
		return nil, (&ChoiceError{"partition", "the costs are those of given stages", "describe a model on a cluster instead"}).
			at(cfg.Locate("costs", "profile"))
	}
	cfg, err := choices.apply(cfg)
	if err != nil {
		return nil, err
	}
	if choices.SplitStages != 0 {
		if err := checkSplit(cfg, choices.SplitStages); err != nil {
			return nil, err
		}
	}
	d := &Deal{Cluster: clusterOf(cfg.Cluster), MicroBatches: cfg.MicroBatches}
	d.Cluster.LinkLatency = startUp(cfg)
	l := layout{chunks: max(choices.SplitStages, 1)}
	first, err := place(cfg, l.chunks*cfg.Stages, choices.Placement)
	if err != nil {
		return nil, err
	}
	routes, err := l.routes(cfg, choices, first)
	if err != nil {
		return nil, err
	}
	d.Devices = united(routes)
	net, err := networkOf(cfg)
	if err != nil {
		return nil, err
	}
	all, err := net.Parts()
	if err != nil {
		return nil, refuseNetwork(cfg, err)
	}
	d.Shared = sharedBytes(all)
	if d.Parts, err = stageParts(cfg, net); err != nil {
		return nil, refuseNetwork(cfg, err)
	}
	return d, nil
}

// sharedBytes returns what a device holds of the layers that all devices share.
func sharedBytes(parts []network.Part) int64 {
	held := int64(0)
	for i := range parts {
		if parts[i].Seat != network.Everywhere {
			continue
		}
		for l := range parts[i].Layers {
			layer := &parts[i].Layers[l]
			held += layer.Parameters*layer.StateBytes + layer.Activation + layer.Work
		}
	}
	return held
}

// Cut returns the layers of each stage that a rule for the partition, balanced or even,
// gives the model of cfg under the given choices, whose partition does not matter.
// Errors are those of [Pipeline].
func Cut(cfg *config.Config, choices Choices, rule config.PartitionRule) (network.Partition, error) {
	ruled := *cfg
	ruled.Partition, choices.Partition = &config.Partition{Rule: rule}, nil
	chosen, err := choices.apply(&ruled)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(chosen, choices)
	if err != nil {
		return nil, err
	}
	cut := make(network.Partition, len(l.dealt))
	for i, s := range l.dealt {
		cut[i] = l.cut.stages[s].End - l.cut.stages[s].First
	}
	return cut, nil
}
