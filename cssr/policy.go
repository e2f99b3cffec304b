package cssr

// Policy says what an actor (device) prefers among the operations that are ready,
// and how much it may have in flight. It is plain data in the terms of a designer
// of schedules, and holds for any problem: kinds stand by their names. [Policy.Rule]
// resolves it against a problem. The zero value runs kinds in the order of the kind
// table, early stages first, without bounds.
//
// A list by device or by stage may have a single entry that holds for all.
type Policy struct {
	// Types ranks the computation types, the most urgent first, by letter or name as
	// in the kind table: F, I, W and B are forward, backward_input, backward_weight
	// and backward_full. Types that are not listed follow in the order of the table.
	Types []string

	// Exceptions replace Types for some actors, in some phases.
	Exceptions []Exception

	// Traversal ranks the stages of an actor among operations of one type.
	Traversal Traversal

	// Group is the number of micro-batches that an actor takes through all its
	// stages, type by type, before the next ones; 0 puts all in one group. A Wave
	// has no groups.
	Group int

	// InFlight bounds, by device, the forwards that have started and whose gradient
	// has not left their stage, over all stages of the device; 0: no bound. The
	// oldest micro-batch is exempt, so that a bound delays but never blocks.
	InFlight []int

	// Memory lowers, by device, the memory limit.
	Memory []Share

	// Patience lets an actor wait for a more urgent operation that is known to
	// become ready soon.
	Patience []Wait

	// Weights says when gradients of weights run; its mode overrules their place in
	// Types.
	Weights Weights

	// Fuse chooses, by stage, the fused backward where the problem leaves the choice.
	Fuse []bool
}

// Exception is a priority of computation types that holds in some cases. One for
// an actor and a phase goes before one for an actor, and that before one for a
// phase.
type Exception struct {
	Actor int   // device, or AnyActor
	Phase Phase // AnyPhase: in all
	Types []string
}

// AnyActor stands for all devices in an Exception.
const AnyActor = -1

// Phase is a part of the work of an actor.
type Phase uint8

// The phases of an actor. A gang is in the phase of its first device.
const (
	AnyPhase Phase = iota
	WarmUp         // before the actor starts its first gradient
	Steady         // between the two others
	CoolDown       // after the actor has started its last forward
	numPhases
)

var phaseNames = [numPhases]string{AnyPhase: "any", WarmUp: "warm-up", Steady: "steady", CoolDown: "cool-down"}

func (f Phase) String() string { return nameAt(phaseNames[:], f) }

// Traversal is the order in which an actor visits its stages.
type Traversal uint8

const (
	// BreadthFirst prefers the stages that the data meets first: forwards of early
	// stages, gradients of late ones.
	BreadthFirst Traversal = iota
	// DepthFirst prefers what is furthest along: forwards of late stages, gradients
	// of early ones.
	DepthFirst
	// Wave follows the oldest micro-batch along all stages.
	Wave
	numTraversals
)

var traversalNames = [numTraversals]string{"breadth-first", "depth-first", "wave"}

func (t Traversal) String() string { return nameAt(traversalNames[:], t) }

// Share is a part of the memory of a device: so many percent of its limit, or an
// amount.
type Share struct {
	Number int64
	Unit   string // "%", a unit of bytes such as "GB" or "GiB", or "": as in the configuration
}

// Wait lets an actor wait before it starts an operation of a kind, if a more
// urgent one is known to become ready within Eighths/8 of the duration of what it
// would start. It knows of operations whose predecessors have all started.
type Wait struct {
	Kind    string // letter or name; "" for all kinds that no other entry names
	Eighths int    // 0 never waits, 8 waits for whatever would be delayed otherwise
}

// Weights says when gradients of weights run.
type Weights struct {
	Mode WeightMode
	Most []int // by device, with Deferred: how many may be outstanding; nil: any number
}

// WeightMode is a policy of weight gradients. A weight gradient is outstanding once
// the gradient of its stage's input has started.
type WeightMode uint8

const (
	// WeightsByType leaves weight gradients where Types has them.
	WeightsByType WeightMode = iota
	// AtOnce runs weight gradients before anything else.
	AtOnce
	// Deferred runs weight gradients when nothing else is ready, but before
	// anything else while more are outstanding than allowed.
	Deferred
	// Fill runs weight gradients when nothing else is ready, and only where they
	// delay nothing that is known to come: where they fill a bubble.
	Fill
	numWeightModes
)

var weightNames = [numWeightModes]string{"by-type", "at-once", "deferred", "fill"}

func (m WeightMode) String() string { return nameAt(weightNames[:], m) }

// nameAt returns the name of a value, "?" for one out of range.
func nameAt[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "?"
}
