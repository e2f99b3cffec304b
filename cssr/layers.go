package cssr

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// Layers names the layers of each stage of a configuration with a model, under
// the given choices: the repeated layers as a range of numbers, embedding and head
// by their names, such as "embedding, 0-4". It returns nil for a configuration
// without a model. Errors and cost are those of [Pipeline].
func Layers(cfg *config.Config, choices Choices) ([]string, error) {
	if cfg.Model == nil {
		return nil, nil
	}
	l, err := newLayout(cfg, choices)
	if err != nil {
		return nil, err
	}
	stages, layers, err := networkStages(cfg, l)
	if err != nil {
		return nil, err
	}
	names, block := make([]string, len(stages)), 0
	for s, stage := range stages {
		names[s] = layerNames(layers[stage.First:stage.End], &block)
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
