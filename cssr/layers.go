package cssr

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// Layers names the layers of each stage of a configuration with a model, under
// the given choices: the repeated layers as a range of numbers, embedding and head
// by their names, such as "embedding, 0-4". In a network of several parts the name of
// the part comes first, and numbers count within it: "decoder: 0-4, head". Layers
// that are a part of their own have its name: "loss". It returns nil for a
// configuration without a model. Errors and cost are those of [Pipeline].
func Layers(cfg *config.Config, choices Choices) ([]string, error) {
	cfg, err := choices.apply(cfg)
	if err != nil || cfg.Model == nil {
		return nil, err
	}
	l, err := newLayout(cfg, choices)
	if err != nil {
		return nil, err
	}
	names, block := make([]string, l.stages()), 0
	for s, stage := range l.cut.stages {
		part := &l.cut.parts[stage.Part]
		if part.Seat != network.Dealt {
			names[s] = part.Name
			continue
		}
		if stage.First == 0 {
			block = 0
		}
		names[s] = layerNames(part.Layers[stage.First:stage.End], &block)
		if part.Name != "" {
			names[s] = part.Name + ": " + names[s]
		}
	}
	return names, nil
}

// layerNames names consecutive layers. Block is the number of the first repeated
// layer among them, and afterwards that of the next one.
func layerNames(layers []network.Layer, block *int) string {
	var parts []string
	for i := 0; i < len(layers); i++ {
		if layers[i].Kind != network.Block {
			parts = append(parts, layers[i].Kind.String())
			continue
		}
		first := *block
		*block++
		for i+1 < len(layers) && layers[i+1].Kind == network.Block {
			i++
			*block++
		}
		parts = append(parts, numbers(first, *block-1))
	}
	return strings.Join(parts, ", ")
}

// numbers writes a range of numbers.
func numbers(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
