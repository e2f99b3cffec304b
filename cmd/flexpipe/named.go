package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// named builds a named schedule and judges it beside the bound.
func named(problem *model.Problem, s *heuristics.Schedule) (*solve.Result, error) {
	plan, err := s.Build(problem)
	if err != nil {
		return nil, err
	}
	r, err := portfolio.JudgePlan(problem, plan)
	var broken *constraints.RuleError
	if errors.As(err, &broken) {
		return nil, refuseNamed(problem, plan, s, broken)
	}
	if err != nil {
		return nil, err
	}
	if r.Status == solve.Infeasible {
		lines, err := overLimits(problem, plan, "schedule "+s.Name)
		if err != nil {
			return nil, err
		}
		r.Reason += "; " + lines[len(lines)-1] + " for schedule " + s.Name
	}
	r.Rule = s.Name
	return r, nil
}

// refuseNamed words the violations of a named schedule. If all of them are about memory limits, it
// returns a *limitError.
func refuseNamed(problem *model.Problem, plan *model.Plan, s *heuristics.Schedule, broken *constraints.RuleError) error {
	if broken.Report.Counts[constraints.RuleMemory] < broken.Report.Total() {
		return fmt.Errorf("schedule %s breaks a rule here: %w\n%sit", s.Name, broken, searchInstead)
	}
	lines, err := overLimits(problem, plan, "schedule "+s.Name)
	if err != nil {
		return err
	}
	return &limitError{lines}
}

// searchInstead is the remedy for named schedules that do not keep something.
const searchInstead = "leave out --schedule to search for a plan that keeps "

// limitError is why a named schedule is no plan: it needs more memory than the limits allow.
type limitError struct {
	lines []string // each device, and what would fit
}

func (e *limitError) Error() string {
	return strings.Join(append(slices.Clone(e.lines), searchInstead+"the limits"), "\n")
}

// mostOver is the number of devices over their limit that are named.
const mostOver = 8

// overLimits says which devices a plan takes over their limits, how far, and what
// would fit.
func overLimits(p *model.Problem, plan *model.Plan, what string) (lines []string, err error) {
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		return nil, err
	}
	most, over := model.Bytes(0), 0
	for d, dm := range model.Measure(p, plan, tl).Devices {
		if dm.Peak <= p.Limits[d] {
			continue
		}
		most = max(most, dm.Peak)
		if over++; over <= mostOver {
			lines = append(lines, fmt.Sprintf("%s needs %s on %s, limit %s", what, sizeUp(p, dm.Peak), p.DeviceName(d), p.FormatMemory(p.Limits[d])))
		}
	}
	if over > mostOver {
		lines = append(lines, "and "+model.Plural(over-mostOver, "more device"))
	}
	return append(lines, "it fits with a limit of "+sizeUp(p, most)), nil
}

// sizeUp writes an amount of memory that is needed.
func sizeUp(p *model.Problem, n model.Bytes) string { return p.Pipeline.MemoryUnit.SizeUp(int64(n)) }

// scope says which plans a bound is about if a named schedule leaves some of the
// configuration's out; "" if it does not.
func scope(cfg *config.Config, problem *model.Problem, o *solveOptions) string {
	if o.schedule == nil {
		return ""
	}
	configured := o.choices
	configured.Backward = nil
	var added []string
	pl, err := cssr.Pipeline(cfg, configured)
	for s := range problem.Pipeline.Stages {
		if err != nil || pl.Stages[s].Backward != problem.Pipeline.Stages[s].Backward {
			added = append(added, "with backward: "+o.schedule.Backward.String())
			break
		}
	}
	if o.choices.Bidirectional {
		added = append(added, "on a second route, over the devices in reverse")
	}
	if added == nil {
		return ""
	}
	return "plans " + strings.Join(added, " and ")
}
