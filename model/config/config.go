package config

// Upper limits of a configuration. They keep the size of a [Config], and of the
// problem made from it, within what a machine can hold.
const (
	// MaxDevices is the largest number of devices.
	MaxDevices = 1 << 16
	// MaxStages is the largest number of stages.
	MaxStages = 1 << 16
	// MaxMicroBatches is the largest number of micro-batches.
	MaxMicroBatches = 1 << 24
	// MaxOperations bounds stages × micro-batches × 4, so that an operation of any
	// kind can be numbered by a 32-bit integer.
	MaxOperations = 1<<31 - 1
)

// Config is a decoded configuration: plain data, every default filled in.
//
// Below, P is len(Devices), S is Stages and M is MicroBatches. All durations are in
// Unit. Sizes are bytes when SizesInBytes holds, else the bare numbers of the
// document. A Config is not changed after decoding and may be shared; it knows where
// its document wrote what, see [Config.Locate].
//
// Costs come from one of three sources. With `costs` or `profile`, Costs holds them
// and Model is nil. With `model`, Model, Cluster, Partition and Recompute are set,
// and Costs and Memory are nil: they follow from the network and the partition, by
// formulas or, beside a `profile`, by measurements, see [Config.Measured]. Then
// the pipeline may have more stages than S, each a part of the network of its own, which
// no list per stage counts: vocabulary layers that all devices share, and the loss of a
// two-branch network without a joint part.
type Config struct {
	Name         string    // free text, may be empty
	Devices      []Device  // 1 to MaxDevices
	MicroBatches int       // 1 to MaxMicroBatches
	Factors      []Decimal // on all durations, one per micro-batch, positive; nil when all are 1
	Stages       int       // 1 to MaxStages
	Placement    Placement
	Routes       []Placement // one per route, the first being Placement; nil when routes are not given
	RouteOf      []int       // the route of each micro-batch, no route without one; nil without Routes
	Edges        []Edge      // the stage graph, acyclic; nil for networks of several parts, whose partition decides it
	Unit         Unit
	SizesInBytes bool // some size was written in bytes, so all of them are

	Costs         []StageCosts // length S; nil with a model
	Backward      []Backward   // length S
	Communication Communication
	Memory        []StageMemory // length S; nil with a model, or when memory is not modelled
	Objective     Objective

	Operations []Operation // of the configuration's own, beside those of the stages

	Profile *Profile // the measured profile that filled Costs, or that of the layers of Model; else nil

	Model       *Model
	Cluster     *Cluster
	Partition   *Partition
	Recompute   []Recompute // length S; nil without a model
	GlobalBatch int         // samples per iteration; 0 when unknown

	Warnings []Warning // in document order; what is legal but worth a word

	root, profileRoot value // the documents, for Locate; without node where there is none
}

// Device is an actor: it runs one operation at a time.
type Device struct {
	Name     string   // free text, may be empty
	Limit    *Decimal // most memory it can hold; nil is unlimited
	Slowdown Decimal  // positive factor on the duration of what runs here; not yet applied to any cost
}

// Placement says where each stage sits.
type Placement struct {
	Rule PlacementRule
	// Devices holds, per stage, the devices that the stage occupies in ascending
	// order: one, or several that form a gang. Length S, no entry is empty.
	Devices [][]int
}

// PlacementRule names how stages are laid out over P devices.
type PlacementRule string

// The placement rules.
const (
	Linear PlacementRule = "linear" // stage s on device s; S = P
	Loop   PlacementRule = "loop"   // stage s on device s mod P
	Vee    PlacementRule = "v"      // 0 .. P-1, P-1 .. 0, 0 .. P-1, ...; S is a multiple of P
	Listed PlacementRule = "list"   // as the document lists
)

// Edge is an edge of the stage graph: To consumes what From produces.
type Edge struct {
	From, To int // stages, From != To
}

// StageCosts are the durations of one stage's operations for a micro-batch of
// factor 1 on a device of slowdown 1. An absent operation is nil.
type StageCosts struct {
	Forward        Decimal
	BackwardInput  *Decimal
	BackwardWeight *Decimal
	// BackwardFull is set when the stage can run one fused backward: the document
	// gives it, or it is BackwardInput + BackwardWeight. A stage that has it without
	// the other two runs fused always; a stage that has just one of the other two
	// never has it.
	BackwardFull *Decimal
	// Overlapped is the duration of a forward and a full backward that run as one
	// pair. It is set only beside BackwardFull.
	Overlapped *Decimal
}

// HasBackward reports whether the stage has a backward of any kind.
func (c StageCosts) HasBackward() bool {
	return c.BackwardWeight != nil || c.SendsGradient()
}

// SendsGradient reports whether the stage has an operation, backward_input or
// backward_full, that produces the gradient of its input.
func (c StageCosts) SendsGradient() bool {
	return c.BackwardInput != nil || c.BackwardFull != nil
}

// Backward is the way in which a stage that has both backward_input and
// backward_weight runs them.
type Backward string

// The ways to run a backward.
const (
	Split Backward = "split" // as two operations
	Fused Backward = "fused" // as one backward_full
	Auto  Backward = "auto"  // the solver chooses per stage and micro-batch
)

// Communication is what it takes to move data between devices.
//
// The latency from one device to another is that of the first of these which is
// given: their Link, the EdgeLatency of the stage edge, Latency. On one device it
// is 0.
type Communication struct {
	Latency Decimal
	// EdgeLatency holds one latency per entry of Config.Edges, from a profile; nil
	// when there is none.
	EdgeLatency []Decimal
	Links       []Link // no pair twice
	Blocking    bool   // a transfer occupies sender and receiver for its latency
}

// Link is the latency of one directed pair of devices.
type Link struct {
	From, To int // devices, From != To
	Latency  Decimal
}

// StageMemory is what one stage holds in memory.
type StageMemory struct {
	Activation Decimal // taken when a forward starts
	// FreedByBackwardInput is given back when a backward_input ends. When it is
	// negative, that much is taken when the backward_input starts.
	FreedByBackwardInput Decimal
	// FreedByBackwardWeight is Activation - FreedByBackwardInput, never negative.
	FreedByBackwardWeight Decimal
	Static                Decimal // held throughout, by each device of a gang in full
}

// Objective is the figure that a plan minimises.
type Objective string

// The objectives.
const (
	Makespan Objective = "makespan" // first start to last end over all devices
	Span     Objective = "span"     // the largest, over devices, of own first start to own last end
)
