package model

import "slices"

// Pipeline describes a training iteration as a person would: stages on
// devices, costs, memory and links. It is the self-contained source of a
// Problem and the form in which plan files carry one. All slices are read, never
// written, by Compile; a Pipeline must not change while a Problem made from it
// is in use.
type Pipeline struct {
	Name       string
	TimeUnit   Unit
	MemoryUnit Unit
	Objective  Objective

	Devices      []Device
	MicroBatches int

	// Factors scales all durations of a micro-batch by Factors[m]/FactorScale;
	// nil means that all micro-batches are alike. Its length is MicroBatches.
	Factors     []int64
	FactorScale int64

	// Routes gives the replica of every stage that a micro-batch runs through;
	// nil means replica 0 for all. Its length is MicroBatches.
	Routes []int

	Stages     []Stage
	Operations []Operation // beside those of the stages

	Latency  Time   // transfer delay between different devices
	Links    []Link // exceptions to Latency
	Blocking bool   // transfers are operations that occupy sender and receiver

	// Network describes, as a JSON object on one line, which layers of which network the
	// stages hold; empty if there is no network. This package only carries it; see
	// model/network.Blueprint.
	Network string
}

// Device runs one operation at a time.
type Device struct {
	Name  string // "" prints as the index
	Limit Bytes  // memory limit, Unlimited if none

	// Engine says that it is no device of its own but works beside one: a copy
	// engine, a link. It runs operations of the pipeline's own, holds no stage and no
	// memory, and there is no latency from or to it.
	Engine bool
}

// Link is a directed pair of devices with its own latency.
type Link struct {
	From, To int
	Latency  Time
}

// Stage is a slice of the network.
type Stage struct {
	After    []int     // stages whose output it reads: edges of the stage graph
	Replicas []Replica // one, or one for each route
	Backward Mode

	Activation   Bytes // taken when the forward starts
	FreedByInput Bytes // given back when backward input ends; negative: taken when it starts
	Static       Bytes // parameters, gradients, optimizer state; in full on each device of a gang
}

// Replica is a place where a stage runs.
type Replica struct {
	Devices   []int // several form a gang: its operations occupy all of them
	Durations Durations
}

// Durations holds the ticks of each operation, Absent where there is none.
type Durations struct {
	Forward        Time
	BackwardInput  Time
	BackwardWeight Time
	BackwardFull   Time // the fused backward; Absent if it cannot be fused
	Overlapped     Time // a forward and a full backward run as one pair; Absent if unknown
}

// Mode says whether the two halves of a stage's backward pass run apart.
type Mode uint8

// The modes of a backward pass.
const (
	Split Mode = iota // backward input, then backward weight at any later time
	Fused             // one operation whose input gradient leaves at its end
	Auto              // the plan decides for each micro-batch
)

var modeNames = []string{"split", "fused", "auto"}

func (m Mode) String() string { return modeNames[m] }

// Objective is the figure that a plan minimises.
type Objective uint8

// The objectives.
const (
	Makespan Objective = iota // first start to last end over all devices
	// Span is the largest, over devices, of own first start to own last end. A
	// plan is measured with every operation as early as its orders allow; starting
	// a device later could shorten its span, and is not looked for.
	Span
)

var objectiveNames = []string{"makespan", "span"}

func (o Objective) String() string { return objectiveNames[o] }

// ParseObjective is the inverse of String.
func ParseObjective(text string) (Objective, bool) {
	i := slices.Index(objectiveNames, text)
	return Objective(max(i, 0)), i >= 0
}

// NumRoutes returns the number of ways through the replicas, at least 1.
func (pl *Pipeline) NumRoutes() int {
	n := 1
	for _, s := range pl.Stages {
		n = max(n, len(s.Replicas))
	}
	return n
}

// Chain sets the stage graph to a chain in index order.
func Chain(stages []Stage) {
	for s := range stages {
		stages[s].After = nil
		if s > 0 {
			stages[s].After = []int{s - 1}
		}
	}
}

// linkTable answers latency queries between sets of devices.
type linkTable struct {
	latency Time
	links   map[[2]int]Time
}

func newLinkTable(pl *Pipeline) linkTable {
	t := linkTable{latency: pl.Latency, links: make(map[[2]int]Time, len(pl.Links))}
	for _, l := range pl.Links {
		t.links[[2]int{l.From, l.To}] = l.Latency
	}
	return t
}

// between returns the latency of the worst pair, and 0 for equal sets.
func (t linkTable) between(from, to []int32) Time {
	if slices.Equal(from, to) {
		return 0
	}
	worst := Time(0)
	for _, a := range from {
		for _, b := range to {
			if a == b {
				continue
			}
			lag := t.latency
			if len(t.links) > 0 {
				if own, ok := t.links[[2]int{int(a), int(b)}]; ok {
					lag = own
				}
			}
			worst = max(worst, lag)
		}
	}
	return worst
}
