package cssr

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// Network returns the network that m describes, on so many devices, which share its
// vocabulary if m says so. Its numbers are checked where its layers are listed, see
// [network.Network].
func Network(m *config.Model, devices int) (network.Network, error) {
	b, err := blueprintOf(m, devices)
	if err != nil {
		return nil, err
	}
	return b.Network()
}

// blueprintOf returns the description of the network of m, without stages.
func blueprintOf(m *config.Model, devices int) (*network.Blueprint, error) {
	dtype, err := network.ParseDType(string(m.DType))
	if err != nil {
		return nil, fmt.Errorf("model.dtype: %w", err)
	}
	b := &network.Blueprint{
		Kind: string(m.Kind), MicroBatchSize: m.MicroBatchSize, DType: dtype,
		Vocabulary: string(m.VocabularySharding),
	}
	if m.VocabularySharding.Shared() {
		b.Shards = devices
	}
	for i := range m.Parts {
		b.Stacks = append(b.Stacks, stackOf(&m.Parts[i]))
	}
	return b, nil
}

// stackOf returns the sizes of a part; an mlp has no heads.
func stackOf(p *config.Part) network.Stack {
	return network.Stack{
		Layers: p.Layers, Hidden: p.Hidden, Heads: p.Heads, Sequence: p.Sequence,
		FeedForward: p.FeedForward, Vocabulary: p.Vocabulary, TiedEmbedding: p.TiedEmbedding,
	}
}

// network describes the layers of the stages as text, for [model.Pipeline.Network]; it is
// empty without a model.
func (l *layout) network(cfg *config.Config) (string, error) {
	if l.cut == nil {
		return "", nil
	}
	b, err := blueprintOf(cfg.Model, len(cfg.Devices))
	if err != nil {
		return "", err
	}
	for _, stage := range l.cut.stages {
		b.Stages = append(b.Stages, network.Slice{Part: stage.Part, First: stage.First, End: stage.End})
	}
	for i, s := range l.dealt {
		b.Stages[s].Recompute = l.cut.recompute[i]
	}
	return b.Encode()
}
