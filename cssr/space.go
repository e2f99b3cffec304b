package cssr

// Space is a set of points: the product of its lists, each a dimension in which
// schedules differ. An empty list leaves the choice to the tuner, which takes what
// makes sense for a configuration; a list of one fixes the dimension.
type Space struct {
	Placements      []string   // linear, loop, v
	Chunks          []int      // stages per device
	Backwards       []string   // split, fused, auto
	Vocabulary      []string   // where embedding and head sit, see [Choices]
	MicroBatchSizes []int      // samples; the batch of an iteration stays as it is
	Partitions      []string   // layers of the stages: as configured, balanced, even, or fit (see package partition)
	Recompute       []string   // none, selective, full: in all stages; fit: in as few as memory asks for
	Types           [][]string // computation-type priorities, as in [Policy]
	Traversals      []string   // stage-traversal priorities by name
	Groups          []int      // micro-batches of a group; 0: all in one
	InFlight        []float64  // bound of an actor, as a multiple of what keeps an even pipeline busy; 0: none
	Weights         []string   // policies of weight gradients by name
	Patience        []int      // eighths that actors wait
}
