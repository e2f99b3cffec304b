// Package solve defines what solving a problem means: the statuses, the result,
// and what a claim of optimality rests on. Engines live in its subpackages.
package solve

import "github.com/flexpipe/flexpipe/model"

// Status is the outcome of a solve. Every status is a result, none an error.
type Status uint8

// The statuses.
const (
	Unknown    Status = iota // the limit came before any plan
	Feasible                 // a plan, not proved best
	Optimal                  // a plan and a proof that none is better
	Infeasible               // a proof that no plan exists
)

var statusNames = []string{"unknown", "feasible", "optimal", "infeasible"}

func (s Status) String() string { return statusNames[s] }

// Proof is what a claim of optimality or infeasibility rests on.
type Proof string

// The kinds of proof.
const (
	NoProof    Proof = ""
	BoundProof Proof = "bound" // a bound that the judge's side recomputes
)

// Result is the outcome of a solve. Plan, Timeline and Metrics are nil unless the
// status is Optimal or Feasible; a plan in a Result has passed the judge.
type Result struct {
	Status   Status
	Plan     *model.Plan
	Timeline *model.Timeline
	Metrics  *model.Metrics

	Value model.Time // of the objective, in ticks
	Bound model.Time // proven lower bound of the objective, in ticks

	Engine      string // what found the plan or the proof: bound, heuristic, ...
	Rule        string // which heuristic found the plan
	Proof       Proof
	BoundReason string // one sentence: what the bound rests on
	Reason      string // one sentence: why infeasible or unknown, or what ended the search
}

// Gap returns (value - bound) / value, and 0 when the value is 0.
func (r *Result) Gap() float64 {
	if r.Value == 0 {
		return 0
	}
	return float64(r.Value-r.Bound) / float64(r.Value)
}
