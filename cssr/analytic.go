package cssr

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// UnsupportedModelError reports a kind of network whose costs are not known.
type UnsupportedModelError struct{ Kind config.ModelKind }

func (e *UnsupportedModelError) Error() string {
	return fmt.Sprintf("%s is not supported yet; use gpt or mlp, or give costs and edges of its stages", e.Kind)
}

// Network returns the network that m describes, or an [*UnsupportedModelError].
// Its numbers are checked where its layers are listed, see [network.Network].
func Network(m *config.Model) (network.Network, error) {
	dtype, err := network.ParseDType(string(m.DType))
	if err != nil {
		return nil, fmt.Errorf("model.dtype: %w", err)
	}
	if !m.Kind.HasCosts() {
		return nil, &UnsupportedModelError{m.Kind}
	}
	part := m.Parts[0]
	if m.Kind == config.GPT {
		return network.GPT{
			Layers: part.Layers, Hidden: part.Hidden, Heads: part.Heads, Sequence: part.Sequence,
			Vocabulary: part.Vocabulary, FeedForward: part.FeedForward, TiedEmbedding: part.TiedEmbedding,
			MicroBatchSize: m.MicroBatchSize, DType: dtype,
		}, nil
	}
	return network.MLP{
		Layers: part.Layers, Hidden: part.Hidden, FeedForward: part.FeedForward, Sequence: part.Sequence,
		MicroBatchSize: m.MicroBatchSize, DType: dtype,
	}, nil
}

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
	stages, _, err := networkStages(cfg, l)
	if err != nil {
		return nil, err
	}
	second, ok := cfg.Unit.Seconds()
	if !ok {
		return nil, cfg.Locate("unit").Refuse(fmt.Sprintf("a model takes physical time, not %ss", cfg.Unit), "use ns, us, ms or s", nil)
	}
	nanosecond := new(big.Rat).Quo(big.NewRat(1, int64(time.Second)), second.Rat())
	inUnit := func(t time.Duration) *big.Rat {
		return new(big.Rat).Mul(new(big.Rat).SetInt64(int64(t)), nanosecond)
	}
	d := emptyDraft(cfg, l)
	for s := range stages {
		d.stages[s].fill(&stages[s], inUnit)
	}
	d.delays, err = clusterDelays(cfg, l, stages, inUnit)
	return d, err
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

// networkStages returns the costs of each stage of a layout, and the layers that
// they hold.
func networkStages(cfg *config.Config, l *layout) ([]network.Stage, []network.Layer, error) {
	net, err := Network(cfg.Model)
	if err != nil {
		return nil, nil, refuseNetwork(cfg, err)
	}
	layers, err := net.Chain()
	if err != nil {
		return nil, nil, refuseNetwork(cfg, err)
	}
	recompute := make([]network.Recompute, l.stages())
	for s := range recompute {
		if recompute[s], err = network.ParseRecompute(string(cfg.Recompute[l.origin(s)])); err != nil {
			return nil, nil, refuseNetwork(cfg, err)
		}
	}
	partition, err := partitionOf(cfg, l, layers, recompute)
	if err != nil {
		return nil, nil, refuseNetwork(cfg, err)
	}
	stages, err := network.Stages(layers, clusterOf(cfg.Cluster), partition, recompute)
	if err != nil {
		return nil, nil, refuseNetwork(cfg, err)
	}
	return stages, layers, nil
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
		section := "model"
		if field.Owner == "cluster" {
			section = field.Owner
		}
		return cfg.Locate(section+"."+field.Field, section).Refuse(fmt.Sprintf("%v: %s", field.Value, field.Problem), "", err)
	case errors.As(err, &partition):
		return cfg.Locate("partition", "model.layers").Refuse(err.Error(), "", err)
	}
	return cfg.Locate("model.kind").Refuse(err.Error(), "", err)
}

// partitionOf returns the layers of each stage.
func partitionOf(cfg *config.Config, l *layout, layers []network.Layer, recompute []network.Recompute) (network.Partition, error) {
	switch cfg.Partition.Rule {
	case config.Even:
		return network.Even(layers, l.stages())
	case config.PartitionListed:
		counts := listedLayers(cfg.Partition.Stages, l)
		if empty := slices.Index(counts, 0); empty >= 0 {
			return nil, splitError(l.chunks, fmt.Sprintf("stage %d has fewer layers than chunks", l.origin(empty)), "use fewer chunks, or give it more layers").
				at(cfg.Locate(fmt.Sprintf("partition[%d]", l.origin(empty))))
		}
		return network.Listed(layers, counts)
	}
	slowdown := make([]float64, l.stages())
	for s := range slowdown {
		slowdown[s] = slowest(cfg.Devices, l.everyDevice(s)).Float64()
	}
	return network.Balanced(layers, l.stages(), network.BalanceOptions{Recompute: recompute, Slowdown: slowdown})
}

// listedLayers returns the number of layers of each stage, embedding and head
// included. The layers of a stage that is divided go to its chunks as evenly as
// possible, the first chunks having one more.
func listedLayers(shares []config.StageLayers, l *layout) []int {
	counts := make([]int, l.stages())
	for s := range counts {
		share, chunk := shares[l.origin(s)], s%l.chunks
		counts[s] = share.Layers / l.chunks
		if chunk < share.Layers%l.chunks {
			counts[s]++
		}
		if share.Embedding && chunk == 0 {
			counts[s]++
		}
		if share.Head && chunk == l.chunks-1 {
			counts[s]++
		}
	}
	return counts
}
