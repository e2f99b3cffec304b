package main

import (
	"errors"
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
)

// verdict is what check finds out about a plan file.
type verdict struct {
	file     *model.PlanFile
	timeline *model.Timeline // nil: the orders have none
	metrics  *model.Metrics  // nil with the timeline
	bound    bound.Bound     // computed anew, or proved by the proof file
	proof    *proofVerdict   // nil: there is no proof file

	orders   error               // why the orders have no timeline
	report   *constraints.Report // of the orders at their earliest times, or of the orders alone
	channels []channelVerdict    // of the programs of the devices; nil: there are none
	recorded []string            // what the file says of its times and figures that is wrong
	wrong    int                 // how much of that there is
}

// mostRecorded is the number of wrong times that a verdict spells out.
const mostRecorded = 5

// judge evaluates the orders of a plan file and tests everything but the recorded
// bound.
func judge(file *model.PlanFile) *verdict {
	v := &verdict{file: file, bound: bound.Lower(file.Problem)}
	for _, text := range file.Misfits {
		v.differ("the times in the file belong to other orders: %s", text)
	}
	tl, err := model.Evaluate(file.Problem, file.Plan)
	if err != nil {
		v.orders, v.report = err, constraints.CheckOrders(file.Problem, file.Plan)
		return v
	}
	v.report = constraints.Check(file.Problem, file.Plan, tl)
	v.timeline, v.metrics = tl, model.Measure(file.Problem, file.Plan, tl)
	v.compareTimes()
	v.compareValue()
	return v
}

func (v *verdict) compareTimes() {
	if v.file.Times == nil {
		return
	}
	wrong, first := 0, model.OpID(-1)
	recorded, actual := v.file.Times.Start, v.timeline.Start
	for i, start := range actual {
		if op := model.OpID(i); recorded[op] != start {
			if wrong++; first < 0 || start < actual[first] {
				first = op
			}
		}
	}
	if wrong == 0 {
		return
	}
	p, differ := v.file.Problem, "differs:"
	if wrong > 1 {
		differ = "differ, first"
	}
	v.differ("%s %s %s: %s recorded, %s by its orders; delete `times` and `figures` if you edited the plan",
		model.Plural(wrong, "recorded time"), differ, p.Name(first), p.FormatRecorded(recorded[first]), p.FormatRecorded(actual[first]))
}

func (v *verdict) compareValue() {
	f, p := v.file.Figures, v.file.Problem
	o := p.Pipeline.Objective
	if value := v.metrics.Value(o); f != nil && f.Value != value {
		v.differ("the file records a %s of %s, it is %s", o, p.FormatRecorded(f.Value), p.FormatRecorded(value))
	}
}

// compareBound tests what the file records as proved. Less than what is proved
// is true, too, so a weaker bound, as of an older version, is no fault.
func (v *verdict) compareBound() {
	f, p := v.file.Figures, v.file.Problem
	switch {
	case f == nil:
	case f.Bound < 0:
		v.differ("the file records a bound of %s; no time is below 0", p.FormatRecorded(f.Bound))
	case f.Bound > v.bound.Value:
		v.differ("the file records a bound of %s, which is not proved; what is proved is %s", p.FormatRecorded(f.Bound), p.FormatRecorded(v.bound.Value))
	}
}

func (v *verdict) differ(format string, args ...any) {
	if v.wrong++; v.wrong <= mostRecorded {
		v.recorded = append(v.recorded, fmt.Sprintf(format, args...))
	}
}

// total returns the number of violations.
func (v *verdict) total() int {
	n := v.wrong + v.report.Total() + len(v.channelBreaches(true))
	if v.stuck() {
		n++
	}
	if v.proof != nil && v.proof.fault != "" {
		n++
	}
	return n
}

// stuck reports whether the orders cannot run for a reason of its own: one that
// names an operation too often, or lacks one, breaks another rule.
func (v *verdict) stuck() bool {
	var cycle *model.CycleError
	complete := errors.As(v.orders, &cycle) && !cycle.Missing
	return v.orders != nil && (complete || v.report.OK())
}

// brokenRules reports whether the orders themselves, not what the file records of
// them, break a rule.
func (v *verdict) brokenRules() bool { return v.orders != nil || !v.report.OK() }

func (v *verdict) ok() bool { return v.total() == 0 }

// ruleResult says how a plan does by a rule.
type ruleResult struct {
	Rule       string `json:"rule"`
	Statement  string `json:"statement"`
	Tested     bool   `json:"tested"`
	Violations int    `json:"violations"`
	Warnings   int    `json:"warnings,omitempty"` // of a rule that a plan may break
}

// The rules of check beside those of the judge.
const (
	ruleOrders        = "runnable"
	ordersStatement   = "The orders of the devices, together with the precedences, can run to the end."
	ruleRecorded      = "recorded"
	recordedStatement = "Times and figures in the file are those that follow from its orders, and its bound is proved."
)

func (v *verdict) rules() []ruleResult {
	runs := ruleResult{Rule: ruleOrders, Statement: ordersStatement, Tested: v.orders == nil}
	if v.stuck() {
		runs.Tested, runs.Violations = true, 1
	}
	list := []ruleResult{runs}
	for _, r := range constraints.Rules() {
		list = append(list, ruleResult{
			Rule: r.Name, Statement: r.Statement,
			Tested: v.timeline != nil || !r.Rule.NeedsTimes(), Violations: v.report.Counts[r.Rule],
		})
	}
	list = append(list, v.channelRules()...)
	tested := v.wrong > 0 || (v.orders == nil && (v.file.Times != nil || v.file.Figures != nil))
	list = append(list, ruleResult{Rule: ruleRecorded, Statement: recordedStatement, Tested: tested, Violations: v.wrong})
	if v.proof == nil {
		return list
	}
	verified := ruleResult{Rule: ruleProof, Statement: proofStatement, Tested: true}
	if v.proof.fault != "" {
		verified.Violations = 1
	}
	return append(list, verified)
}

// breach is a violation as check shows it.
type breach struct {
	Rule    string   `json:"rule"`
	Device  *int     `json:"device"` // null: at no single device
	Ops     []string `json:"operations"`
	Message string   `json:"message"`
}

func (v *verdict) breaches() []breach {
	list := []breach{}
	if v.stuck() {
		list = append(list, orderBreach(v.orders))
	}
	for i := range v.report.Violations {
		r := &v.report.Violations[i]
		b := breach{Rule: r.Rule.String(), Ops: opNames(v.file.Problem, r), Message: r.Message}
		if r.Device >= 0 {
			b.Device = &r.Device
		}
		list = append(list, b)
	}
	list = append(list, v.channelBreaches(true)...)
	for _, text := range v.recorded {
		list = append(list, breach{Rule: ruleRecorded, Ops: []string{}, Message: text})
	}
	if v.proof != nil && v.proof.fault != "" {
		list = append(list, breach{Rule: ruleProof, Ops: []string{}, Message: v.proof.fault})
	}
	return list
}

// orderBreach tells why orders cannot run.
func orderBreach(err error) breach {
	b := breach{Rule: ruleOrders, Ops: []string{}, Message: err.Error()}
	var cycle *model.CycleError
	var entry *model.PlanError
	switch {
	case errors.As(err, &cycle):
		b.Ops = cycle.Ops
	case errors.As(err, &entry):
		b.Ops, b.Device = []string{entry.Op}, &entry.Device
	}
	return b
}
