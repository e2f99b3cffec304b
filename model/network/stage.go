package network

import "time"

// A Stage is the cost of a range of layers on one device of a cluster. Times and
// activations are those of one micro-batch, on a device without slowdown.
type Stage struct {
	// First and End are the half-open range of its layers.
	First, End int
	// Part is the number of the part that the layers belong to; 0 in a single chain.
	Part int

	// Forward, BackwardInput and BackwardWeight are durations. Recomputation is
	// part of BackwardInput, and what devices exchange that share layers is part of
	// each.
	Forward, BackwardInput, BackwardWeight time.Duration

	// Activation is the bytes taken when the forward starts.
	Activation int64
	// FreedByBackwardInput is the bytes given back when backward input ends; if
	// negative, minus the bytes taken when it starts. Backward weight gives
	// back the rest.
	FreedByBackwardInput int64
	// Static is the bytes of parameters, gradients and optimizer state.
	Static int64
	// Workspace is the bytes that its largest layer needs for the moment beyond all of
	// the above, to recompute and as scratch. A device runs one operation at a time, so
	// that the largest of its stages is enough; counted like Static it is on the safe side.
	Workspace int64

	// Output is the bytes sent to the next stage, and received back as their
	// gradient. 0 for the last stage.
	Output int64
}

// BackwardFull returns the duration of the fused backward,
// BackwardInput + BackwardWeight: the same matrix products, and recomputation
// once.
func (s Stage) BackwardFull() time.Duration { return s.BackwardInput + s.BackwardWeight }

// Stages returns the stages of layers cut by partition, in O(len(layers)).
// Recompute has one entry per stage, or is nil for none. Durations are rounded
// once per operation of a stage, from the sum over its layers, to at least 1 ns where
// there is work; see [Cluster.Duration]. To them comes what devices that share layers
// exchange, see [Cluster.Exchange].
//
// It returns an error if the cluster is not valid, if the partition does not
// cover the layers with at least one in every stage, or if a duration is out of
// range.
func Stages(layers []Layer, cluster Cluster, partition Partition, recompute []Recompute) ([]Stage, error) {
	if err := cluster.Validate(); err != nil {
		return nil, err
	}
	if err := partition.check(len(layers)); err != nil {
		return nil, err
	}
	if err := checkRecompute(recompute, len(layers), len(partition)); err != nil {
		return nil, err
	}
	stages := make([]Stage, len(partition))
	first := 0
	for s, count := range partition {
		stage, err := newStage(layers, first, first+count, cluster, recomputeOf(recompute, s))
		if err != nil {
			return nil, err
		}
		stages[s] = stage
		first += count
	}
	return stages, nil
}

// newStage returns the stage of layers[first:end].
func newStage(layers []Layer, first, end int, cluster Cluster, r Recompute) (Stage, error) {
	var sum Cost
	for i := first; i < end; i++ {
		sum = sum.plus(layers[i].Cost(r))
	}
	stage := Stage{
		First: first, End: end,
		Activation:           sum.Activation + sum.Context,
		FreedByBackwardInput: sum.FreedByBackwardInput,
		Static:               staticBytes(layers, first, end),
		Workspace:            sum.Workspace,
		Output:               layers[end-1].Output,
	}
	for op, to := range [...]struct {
		flops float64
		time  *time.Duration
	}{{sum.Forward, &stage.Forward}, {sum.BackwardInput, &stage.BackwardInput}, {sum.BackwardWeight, &stage.BackwardWeight}} {
		var err error
		if *to.time, err = operationTime(layers[first:end], op, to.flops, cluster); err != nil {
			return Stage{}, err
		}
	}
	return stage, nil
}

// operationTime returns how long an operation of flops on layers takes, exchanges
// included. op is its index in [Layer.Exchanged].
func operationTime(layers []Layer, op int, flops float64, cluster Cluster) (time.Duration, error) {
	sum, err := cluster.Duration(flops)
	if err != nil {
		return 0, err
	}
	for i := range layers {
		t, err := cluster.Exchange(layers[i].Exchanged[op], layers[i].Shards)
		if err != nil {
			return 0, err
		}
		if t > maxDuration-sum {
			return 0, &FieldError{"cluster", "flops", cluster.FLOPs, "an operation would take more than 292 years"}
		}
		sum += t
	}
	return sum, nil
}

// plus returns the cost of two layers on the same stage.
func (c Cost) plus(d Cost) Cost {
	return Cost{
		Forward:              c.Forward + d.Forward,
		BackwardInput:        c.BackwardInput + d.BackwardInput,
		BackwardWeight:       c.BackwardWeight + d.BackwardWeight,
		Activation:           c.Activation + d.Activation,
		FreedByBackwardInput: c.FreedByBackwardInput + d.FreedByBackwardInput,
		Workspace:            max(c.Workspace, d.Workspace),
		Context:              max(c.Context, d.Context),
	}
}

// staticBytes returns the training state of layers[first:end]. Tied parameters
// are a copy unless the first layer of the part, their owner, is there too.
func staticBytes(layers []Layer, first, end int) int64 {
	var sum int64
	for i := first; i < end; i++ {
		l := &layers[i]
		count := l.Parameters
		if first > 0 {
			count += l.Tied
		}
		sum += count * l.StateBytes
	}
	return sum
}
