package cssr

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// clusterOf returns the hardware of a configuration with a model. Link latency
// is left out: it is exact in the configuration, and added to latencies there.
func clusterOf(c *config.Cluster) network.Cluster {
	return network.Cluster{
		FLOPs:          c.FLOPS.Float64(),
		Efficiency:     c.Efficiency.Float64(),
		LinkBandwidth:  c.LinkBandwidth.Float64(),
		DevicesPerNode: c.DevicesPerNode,
		NodeBandwidth:  c.NodeBandwidth.Float64(),
	}
}

// draftModel returns the draft of a configuration with a model.
func draftModel(cfg *config.Config, l *layout) (*draft, error) {
	if _, ok := cfg.Unit.Seconds(); !ok {
		return nil, cfg.Locate("unit").Refuse(fmt.Sprintf("a model takes physical time, not %ss", cfg.Unit), "use ns, us, ms or s", nil)
	}
	inUnit := func(t time.Duration) *big.Rat { return inUnitOf(cfg, t) }
	d := emptyDraft(cfg, l)
	for s := range d.stages {
		d.stages[s].fill(&l.cut.stages[s], inUnit)
	}
	var err error
	d.delays, err = clusterDelays(cfg, l, l.cut.stages, inUnit)
	return d, err
}

// inUnitOf returns a time in the unit of a configuration with a model.
func inUnitOf(cfg *config.Config, t time.Duration) *big.Rat {
	second, ok := cfg.Unit.Seconds()
	if !ok {
		return new(big.Rat) // refused by draftModel
	}
	nanosecond := new(big.Rat).Quo(big.NewRat(1, int64(time.Second)), second.Rat())
	return nanosecond.Mul(nanosecond, new(big.Rat).SetInt64(int64(t)))
}

// fill takes over durations and sizes. The workspace of recomputation counts as
// static, which is on the safe side where a device has several stages: it needs
// only the largest workspace among them at a time.
func (s *draftStage) fill(from *network.Stage, inUnit func(time.Duration) *big.Rat) {
	s.durations[forward] = inUnit(from.Forward)
	s.durations[backwardInput] = inUnit(from.BackwardInput)
	s.durations[backwardWeight] = inUnit(from.BackwardWeight)
	s.durations[backwardFull] = inUnit(from.BackwardFull())
	s.sizes[activation] = new(big.Rat).SetInt64(from.Activation)
	s.sizes[freedByInput] = new(big.Rat).SetInt64(from.FreedByBackwardInput)
	s.sizes[static] = new(big.Rat).SetInt64(from.Static + from.Workspace)
}

// clusterDelays returns the latencies of the outputs that stages send each
// other.
func clusterDelays(cfg *config.Config, l *layout, stages []network.Stage, inUnit func(time.Duration) *big.Rat) (*delays, error) {
	cluster, start := clusterOf(cfg.Cluster), cfg.Cluster.LinkLatency.Rat()
	d, err := edgeDelays(cfg, l, func(from, _, sender, receiver int) (*big.Rat, error) {
		if sender == receiver {
			return new(big.Rat), nil
		}
		t, err := cluster.Latency(sender, receiver, stages[from].Output)
		if err != nil {
			return nil, err
		}
		sum := inUnit(t)
		return sum.Add(sum, start), nil
	})
	if err != nil {
		return nil, refuseNetwork(cfg, err)
	}
	d.settle(cfg.Communication.Links)
	return d, nil
}

// refuseNetwork places an error about a network at the key that it is about.
func refuseNetwork(cfg *config.Config, err error) error {
	var placed *config.Error
	var field *network.FieldError
	var partition *network.PartitionError
	switch {
	case errors.As(err, &placed):
		return err
	case errors.As(err, &field):
		section := "model." + field.Owner // a part
		switch field.Owner {
		case "cluster":
			section = field.Owner
		case string(config.GPT), string(config.MLP):
			section = "model"
		}
		return cfg.Locate(section+"."+field.Field, section).Refuse(fmt.Sprintf("%v: %s", field.Value, field.Problem), "", err)
	case errors.As(err, &partition):
		return cfg.Locate("partition", "model.layers").Refuse(err.Error(), "", err)
	}
	return cfg.Locate("model.kind").Refuse(err.Error(), "", err)
}
