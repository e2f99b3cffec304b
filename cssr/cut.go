package cssr

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// cut is the network of a model, cut into the stages of a layout.
type cut struct {
	parts  []network.Part
	stages []network.Stage // by stage of the layout

	recompute []network.Recompute // of the stages that a partition fills, in order
}

// cutModel cuts the network of cfg into stages. routes are, by route, the devices of the
// stages that a partition fills, in order; the stages between and after them that are
// parts of their own, shared vocabulary layers and the loss, are added here.
func (l *layout) cutModel(cfg *config.Config, choices Choices, routes [][][]int) error {
	dealt := united(routes)
	net, err := Network(cfg.Model, len(cfg.Devices))
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	parts, err := stageParts(cfg, net)
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	recompute, err := l.recomputeOf(cfg, choices, len(dealt))
	if err != nil {
		return err
	}
	partition, err := l.partitionOf(cfg, choices, parts, recompute, dealt)
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	cluster := clusterOf(cfg.Cluster)
	cluster.LinkLatency = startUp(cfg)
	stages, err := network.PartStages(parts, cluster, partition, recompute)
	if err != nil {
		return refusePartition(cfg, choices, err)
	}
	l.cut = &cut{parts, stages, recompute}
	l.after = network.StageGraph(parts, stages)
	for _, dealt := range routes {
		l.further = append(l.further, l.seat(len(cfg.Devices), dealt))
	}
	l.devices, l.further = l.further[0], l.further[1:]
	return nil
}

// stageParts returns the parts of a network that become stages: all of them, or those
// that are dealt where the vocabulary is shared in passes.
func stageParts(cfg *config.Config, net network.Network) ([]network.Part, error) {
	parts, err := net.Parts()
	if err != nil || cfg.Model.VocabularySharding != config.VocabularyPasses {
		return parts, err
	}
	dealt := slices.DeleteFunc(parts, func(p network.Part) bool { return p.Seat != network.Dealt })
	dealt[0].After = nil // a gpt has no other
	return dealt, nil
}

// united returns, by stage, the devices of all its replicas.
func united(routes [][][]int) [][]int {
	if len(routes) == 1 {
		return routes[0]
	}
	all := make([][]int, len(routes[0]))
	for s := range all {
		for _, devices := range routes {
			all[s] = append(all[s], devices[s]...)
		}
		slices.Sort(all[s])
		all[s] = slices.Compact(all[s])
	}
	return all
}

// seat returns the devices of the stages on a route, given those of the stages that a
// partition fills, and sets the origins of the stages. A stage that is a part of its
// own has the origin of the stage that it follows, or else of the first that a
// partition fills.
func (l *layout) seat(devices int, dealt [][]int) [][]int {
	var seats [][]int
	l.origins, l.dealt = nil, nil
	for s := range l.cut.stages {
		origin, on := 0, []int(nil)
		if after := l.after[s]; len(after) > 0 {
			last := after[len(after)-1]
			origin, on = l.origins[last], seats[last]
		}
		switch l.cut.parts[l.cut.stages[s].Part].Seat {
		case network.Dealt:
			next := len(l.dealt)
			origin, on = next/l.chunks, dealt[next]
			l.dealt = append(l.dealt, s)
		case network.Everywhere:
			on = make([]int, devices)
			for d := range on {
				on[d] = d
			}
		}
		l.origins = append(l.origins, origin)
		seats = append(seats, on)
	}
	return seats
}

// startUp returns the start-up of a transfer to the nanosecond, for the collectives
// within an operation; between stages it is exact, see clusterDelays.
func startUp(cfg *config.Config) time.Duration {
	second, ok := cfg.Unit.Seconds()
	if !ok {
		return 0
	}
	ns := cfg.Cluster.LinkLatency.Rat()
	ns.Mul(ns, second.Rat()).Mul(ns, big.NewRat(int64(time.Second), 1))
	value, _ := ns.Float64()
	if value >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(value))
}

// recomputeOf returns what each of the stages that a partition fills computes again.
func (l *layout) recomputeOf(cfg *config.Config, choices Choices, stages int) ([]network.Recompute, error) {
	if len(choices.Recompute) == 1 {
		return slices.Repeat(choices.Recompute, stages), nil
	}
	if choices.Recompute != nil {
		if len(choices.Recompute) != stages {
			return nil, (&ChoiceError{fmt.Sprintf("recompute %v", choices.Recompute),
				fmt.Sprintf("it has %d entries for %d stages", len(choices.Recompute), stages), "give one per stage, or one for all"}).
				at(cfg.Locate("stages", "devices"))
		}
		return choices.Recompute, nil
	}
	recompute := make([]network.Recompute, stages)
	for s := range recompute {
		var err error
		if recompute[s], err = network.ParseRecompute(string(cfg.Recompute[s/l.chunks])); err != nil {
			return nil, refuseNetwork(cfg, err)
		}
	}
	return recompute, nil
}

// partitionOf returns the layers of each stage that a partition fills.
func (l *layout) partitionOf(cfg *config.Config, choices Choices, parts []network.Part, recompute []network.Recompute, dealt [][]int) (network.Partition, error) {
	switch {
	case choices.Partition != nil:
		return network.Partition(slices.Clone(choices.Partition)), l.checkPartition(cfg, choices, len(dealt))
	case cfg.Partition.Rule == config.Even:
		return network.EvenParts(parts, len(dealt))
	case cfg.Partition.Rule == config.PartitionListed:
		return l.listed(cfg, parts)
	}
	slowdown := make([]float64, len(dealt))
	for s := range slowdown {
		slowdown[s] = slowest(cfg.Devices, dealt[s]).Float64()
	}
	return network.BalancedParts(parts, len(dealt), network.BalanceOptions{Recompute: recompute, Slowdown: slowdown})
}

// checkPartition tests whether a chosen partition has one number per stage.
func (l *layout) checkPartition(cfg *config.Config, choices Choices, stages int) error {
	if len(choices.Partition) == stages {
		return nil
	}
	return partitionChoice(choices, fmt.Sprintf("it has %d entries for %d stages", len(choices.Partition), stages)).
		at(cfg.Locate("stages", "devices"))
}

// refusePartition places an error about stages of a network; one about a chosen
// partition is a [ChoiceError].
func refusePartition(cfg *config.Config, choices Choices, err error) error {
	var partition *network.PartitionError
	if choices.Partition != nil && errors.As(err, &partition) {
		return partitionChoice(choices, partition.Problem).at(cfg.Locate("model.layers", "model"))
	}
	return refuseNetwork(cfg, err)
}

// partitionChoice returns a [ChoiceError] for Partition.
func partitionChoice(choices Choices, problem string) *ChoiceError {
	return &ChoiceError{fmt.Sprintf("partition %v", choices.Partition), problem, "give the layers of each stage, embedding and head counted"}
}

// listed returns the partition that the configuration lists.
func (l *layout) listed(cfg *config.Config, parts []network.Part) (network.Partition, error) {
	shared := cfg.Model.VocabularySharding.Shared()
	counts := listedLayers(cfg.Partition.Stages, l.chunks, !shared)
	empty := slices.Index(counts, 0)
	if empty < 0 {
		return network.ListedParts(parts, counts)
	}
	origin := empty / l.chunks
	place := cfg.Locate(fmt.Sprintf("partition[%d]", origin))
	if cfg.Partition.Stages[origin].Layers == 0 && shared {
		return nil, vocabularyError(cfg, fmt.Sprintf("stage %d has no other layer than those that all devices would share", origin),
			"give it a layer").at(place)
	}
	return nil, splitError(l.chunks, fmt.Sprintf("stage %d has fewer layers than chunks", origin), "use fewer chunks, or give it more layers").at(place)
}

// listedLayers returns the number of layers of each stage, embedding and head included
// if ends says so. The layers of a stage that is divided go to its chunks as evenly as
// possible, the first chunks having one more.
func listedLayers(shares []config.StageLayers, chunks int, ends bool) []int {
	counts := make([]int, chunks*len(shares))
	for s := range counts {
		share, chunk := shares[s/chunks], s%chunks
		counts[s] = share.Layers / chunks
		if chunk < share.Layers%chunks {
			counts[s]++
		}
		if ends && share.Embedding && chunk == 0 {
			counts[s]++
		}
		if ends && share.Head && chunk == chunks-1 {
			counts[s]++
		}
	}
	return counts
}
