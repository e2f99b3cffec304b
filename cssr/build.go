package cssr

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// Build returns the problem of a configuration under the given choices: its
// [Pipeline], compiled.
//
// Errors are those of Pipeline, and a [*config.Error] that wraps the error of
// [model.Compile] for totals that 64 bits cannot hold, and for operations of the
// configuration's own that cannot be.
func Build(cfg *config.Config, choices Choices) (*model.Problem, error) {
	pl, err := Pipeline(cfg, choices)
	if err != nil {
		return nil, err
	}
	p, err := model.Compile(pl)
	if err != nil {
		return nil, refuseCompiled(cfg, choices, err)
	}
	return p, nil
}

// Pipeline returns a configuration under the given choices in whole numbers. A
// tick is the largest step in which all durations, on their devices and with the
// factors of the micro-batches, and all latencies are whole; the unit of memory
// is that of all sizes. Hence costs that are all ten times as long give the same
// ticks, and TimeUnit and MemoryUnit lead back to the numbers of the
// configuration exactly.
//
// cfg must be one that package config decoded. It is read only; the pipeline
// shares nothing with it. Cost O(stages + micro-batches), beside the partition
// of a model, see [network.Balanced].
//
// An error is a [*config.Error], which says where in the document the configuration
// asks for something impossible. It wraps a [*ChoiceError], a [*ScaleError], a
// [*network.FieldError] or a [*network.PartitionError]
// where there is one behind it. A choice that no configuration allows is a plain
// *ChoiceError.
func Pipeline(cfg *config.Config, choices Choices) (*model.Pipeline, error) {
	cfg, err := choices.apply(cfg)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(cfg, choices)
	if err != nil {
		return nil, err
	}
	d, err := newDraft(cfg, l)
	if err != nil {
		return nil, err
	}
	if err := d.chooseBackward(cfg, choices.Backward); err != nil {
		return nil, err
	}
	if err := d.addOperations(cfg, l); err != nil {
		return nil, err
	}
	if err := d.addPasses(cfg, l); err != nil {
		return nil, err
	}
	pl, err := d.pipeline(cfg)
	if err != nil {
		return nil, err
	}
	if pl.Network, err = l.network(cfg); err != nil {
		return nil, refuseNetwork(cfg, err)
	}
	pl.Objective = objectives[cfg.Objective]
	if choices.Objective != nil {
		pl.Objective = *choices.Objective
	}
	return pl, nil
}

// newDraft returns the exact pipeline of the stages of l.
func newDraft(cfg *config.Config, l *layout) (*draft, error) {
	if cfg.Model != nil {
		return draftModel(cfg, l)
	}
	return draftCosts(cfg, l), nil
}
