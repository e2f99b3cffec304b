// Package solve defines what solving a problem means: the statuses, the result,
// what a claim of optimality rests on, what an engine is, and how it tells its
// proof. Engines live in its subpackages.
package solve

import (
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
)

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
	NoProof      Proof = ""
	BoundProof   Proof = "bound"   // a bound that the judge's side recomputes
	CheckedProof Proof = "checked" // a search proof, every step verified by independent code
	SearchProof  Proof = "search"  // a search proof that was not verified
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

	Engine      string // what found the plan or the proof: bound, heuristic, lcg, sat, ...
	Rule        string // which heuristic found the plan
	Proof       Proof
	BoundReason string // one sentence: what the bound rests on
	Reason      string // one sentence: why infeasible or unknown, or what ended the search
	Stats       Stats
}

// Stats tells how much work a search was.
type Stats struct {
	Conflicts int64 // contradictions met
	Learned   int64 // nogoods learned from them
}

// Gap returns (value - bound) / value, and 0 when the value is 0.
func (r *Result) Gap() float64 {
	if r.Value == 0 {
		return 0
	}
	return float64(r.Value-r.Bound) / float64(r.Value)
}

// NewResult returns a result that holds the bound of the judge's side alone, or
// status Infeasible if that side proves that no plan exists.
func NewResult(p *model.Problem) *Result {
	if no := bound.Infeasible(p); no != nil {
		return excluded(no)
	}
	lower := bound.Lower(p)
	return &Result{Bound: lower.Value, BoundReason: lower.Reason}
}

func excluded(no *bound.Infeasibility) *Result {
	return &Result{Status: Infeasible, Engine: "bound", Proof: BoundProof, Reason: no.Reason}
}

// Begin returns the result that an engine starts from: with the bound that the options
// give, or that of the judge's side if they give none, and with their incumbent, whose
// engine is then called incumbent. Status Infeasible means that the judge's side proves
// that no plan exists.
//
// Errors: those of Offer for the incumbent.
func Begin(p *model.Problem, o *Options) (*Result, error) {
	r := &Result{Bound: o.Bound, BoundReason: "the options give it", Proof: o.Basis}
	if o.Bound <= 0 {
		r = NewResult(p)
	} else if no := bound.Infeasible(p); no != nil {
		r = excluded(no)
	}
	if r.Status == Infeasible || o.Incumbent == nil {
		return r, nil
	}
	if _, err := r.Offer(p, o.Incumbent, "incumbent"); err != nil {
		return nil, fmt.Errorf("the incumbent: %w", err)
	}
	return r, nil
}

// Offer evaluates a plan, has the judge test every rule, and keeps it if it is
// better than the plan that r holds, or the first. It reports whether it did. A
// plan that meets the bound makes the result Optimal: by BoundProof, unless Raise
// has raised the bound. Engine then says what found the plan, or bound if the
// heuristics did.
//
// Errors: those of model.Evaluate, one that wraps *constraints.RuleError for a
// plan that breaks a rule, and one for a value below the bound, which is a fault
// of the bound.
func (r *Result) Offer(p *model.Problem, plan *model.Plan, engine string) (bool, error) {
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		return false, err
	}
	if err := constraints.Check(p, plan, tl).Err(); err != nil {
		return false, fmt.Errorf("the judge rejects the plan: %w", err)
	}
	metrics := model.Measure(p, plan, tl)
	value := metrics.Value(p.Pipeline.Objective)
	if value < r.Bound {
		return false, fmt.Errorf("the bound %d is above the value %d of a judged plan: this is a fault of the bound", r.Bound, value)
	}
	if r.Plan != nil && value >= r.Value {
		return false, nil
	}
	r.Status, r.Plan, r.Timeline, r.Metrics, r.Value, r.Engine = Feasible, plan, tl, metrics, value, engine
	r.settle()
	return true, nil
}

// Raise notes a lower bound that a search proved. It does nothing if the bound of
// r is as high. Errors: one for a bound above the value of the plan that r holds.
func (r *Result) Raise(value model.Time, engine string, proof Proof) error {
	if value <= r.Bound {
		return nil
	}
	if r.Plan != nil && value > r.Value {
		return fmt.Errorf("%s proves the bound %d above the value %d of a judged plan: this is a fault of the engine", engine, value, r.Value)
	}
	r.Bound, r.Proof = value, proof
	r.BoundReason = fmt.Sprintf("a search by %s excludes every smaller value", engine)
	if r.settle() {
		r.Engine = engine
	}
	return nil
}

// Exclude notes that a search proved that no plan exists. Errors: one if r holds a
// plan.
func (r *Result) Exclude(engine string, proof Proof) error {
	if r.Plan != nil {
		return fmt.Errorf("%s proves that there is no plan, the judge accepted one: this is a fault of the engine", engine)
	}
	r.Status, r.Engine, r.Proof, r.BoundReason = Infeasible, engine, proof, ""
	r.Reason = fmt.Sprintf("a search by %s excludes every order of the operations", engine)
	return nil
}

// settle makes the result Optimal when value and bound meet.
func (r *Result) settle() bool {
	if r.Plan == nil || r.Value != r.Bound {
		return false
	}
	r.Status = Optimal
	if r.Proof == NoProof {
		r.Proof = BoundProof
		if r.Engine == "heuristic" {
			r.Engine = "bound"
		}
	}
	return true
}
