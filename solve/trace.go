package solve

import (
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// A search proof is a list of nogoods: sets of facts that cannot all hold in any
// legal schedule. Each follows from rules of the problem and nogoods before it, by
// steps that can be verified one by one. docs/proof.md defines what every rule
// says.

// Fact says that a variable is at least, or at most, a value.
type Fact struct {
	Variable constraints.Variable
	AtLeast  bool // else at most
	Value    model.Time
}

// Not returns the opposite of a fact.
func (f Fact) Not() Fact {
	if f.AtLeast {
		return Fact{f.Variable, false, f.Value - 1}
	}
	return Fact{f.Variable, true, f.Value + 1}
}

// ProofRule names the argument by which the facts of a step exclude each other.
type ProofRule uint8

// The rules; docs/proof.md says what each demands.
const (
	LearnedRule  ProofRule = iota // they are a nogood told before: Step.Nogood
	EdgeRule                      // two variables are too close: Step.From and Step.To
	MonotoneRule                  // two neighbours of a sequence disagree on what stands before them
	OrderRule                     // an operation stands before one that it must wait for
	WindowRule                    // a device has more to do between Step.Begin and Step.End than there is time
	MemoryRule                    // when Step.Op starts, Step.Device holds more than its limit
	CycleRule                     // operations wait for each other in a circle: Step.Ops
	SpanRule                      // a device's first start and last end are further apart than the objective
	numProofRules
)

var proofRuleNames = [numProofRules]string{"learned", "edge", "monotone", "order", "window", "memory", "cycle", "span"}

func (r ProofRule) String() string { return proofRuleNames[r] }

// Step is a set of facts that a rule excludes. It is a nogood of its own.
type Step struct {
	Rule   ProofRule
	Nogood int64                // learned: its number
	From   constraints.Variable // edge, monotone, order: the earlier variable
	To     constraints.Variable // edge, monotone: the later one
	Device int32                // window, memory, span
	Op     model.OpID           // memory
	Ops    []model.OpID         // cycle
	Begin  model.Time           // window
	End    model.Time           // window
	Facts  []Fact               // unused by learned
}

// Trace receives a search proof while the search runs. Its methods are called
// from one goroutine; arguments are valid during the call only.
type Trace interface {
	// Learn tells a nogood. When its facts are assumed, each step but the last has
	// all of its facts but one implied by what is known so far and thereby excludes
	// that one, and the last has all of them implied. Nogoods are numbered from 0.
	// A nogood of a single fact is known from then on; one without facts says that
	// there is no schedule.
	Learn(facts []Fact, steps []Step)

	// Forget says that steps will not refer to a nogood any more.
	Forget(nogood int64)

	// Lower returns the largest value that the proof told so far excludes anything
	// below of, as far as it has been verified: model.Absent if nothing has been, and
	// Excluded if it shows that there is no schedule.
	Lower() model.Time
}

// Excluded is the lower bound of a problem without any schedule.
const Excluded model.Time = 1 << 62
