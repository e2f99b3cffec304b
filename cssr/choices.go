package cssr

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// Choices replace what a configuration says about the shape of its problem. The
// zero value replaces nothing.
type Choices struct {
	// Backward is the mode of each stage that has both halves of a backward; nil
	// as configured. Where it is not Split, a stage without a backward_full gets
	// one of backward_input + backward_weight. A stage that has a backward_full
	// only cannot be Split.
	Backward *model.Mode

	// SplitStages is the number of chunks that each stage is divided into; 0 and
	// 1 leave the stages whole. It keeps the model's order: chunk k of stage s
	// becomes stage s·SplitStages + k. A model is partitioned anew, whatever its
	// stage graph; other costs and sizes are divided exactly, which needs a graph
	// that is a chain.
	//
	// Unless Placement says otherwise, the chunks are laid out by the rule of the
	// configuration, a list being repeated: with linear and loop, chunk number j
	// in the order of the model sits on device j mod P, as in interleaved
	// schedules.
	SplitStages int

	// Placement is the rule that lays out the stages, after SplitStages: linear,
	// loop or v; "" as configured. Gangs cannot be laid out by a rule.
	Placement string

	// Bidirectional adds a second route, on which stage s sits on device P-1-d of P
	// devices if it sits on device d on the first (Li, Hoefler: Chimera, SC 2021).
	// The first half of the micro-batches takes the first route. It needs a single
	// route without gangs, and two micro-batches.
	Bidirectional bool

	// The following need a configuration with a model. Below, S is the number of stages
	// of the configuration times SplitStages. Stages that are parts of their own, shared
	// vocabulary layers and the loss of two branches, are not among them.

	// Partition is the number of layers of each of the S stages, over all parts in
	// order; embedding and head count as layers unless all devices share them. A stage
	// holds layers of one part. nil as configured.
	Partition []int

	// Recompute says what each of the S stages computes again, a single entry what all
	// do; nil as configured.
	Recompute []network.Recompute

	// MicroBatchSize is the samples of a micro-batch; 0 as configured. It divides the
	// configuration's global_batch, and there are global_batch / MicroBatchSize
	// micro-batches, none of which has a factor.
	MicroBatchSize int

	// Vocabulary says where embedding and head are computed, as vocabulary_sharding in
	// a configuration: none, stage or passes; "" as configured.
	Vocabulary string

	// Objective is the figure to minimise; nil as configured.
	Objective *model.Objective
}

// ChoiceError reports a choice that the configuration does not allow.
type ChoiceError struct {
	Choice  string // such as "split-stages 2"
	Problem string
	Remedy  string
}

func (e *ChoiceError) Error() string {
	return fmt.Sprintf("%s: %s; %s", e.Choice, e.Problem, e.Remedy)
}

// at returns the error at the place of the configuration that does not allow the
// choice.
func (e *ChoiceError) at(place config.Place) error {
	return place.Refuse(e.Choice+": "+e.Problem, e.Remedy, e)
}
