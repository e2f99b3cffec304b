package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/sat"
)

// checkFormula refuses, before the search, a formula that would be too large.
func (o *solveOptions) checkFormula(problem *model.Problem) error {
	if o.formula == "" {
		return nil
	}
	err := sat.New().Refuses(problem)
	var feature *solve.FeatureError
	if errors.As(err, &feature) {
		return fmt.Errorf("--dimacs %s: there are no formulas for problems with %s; leave it out", o.formula, feature.Feature)
	}
	return err
}

// writeFormula writes the formula that a plan better than the one found exists.
func (p *program) writeFormula(a *answer) error {
	name, r := a.options.formula, a.result
	objective := a.problem.Pipeline.Objective
	switch {
	case name == "":
		return nil
	case r.Plan == nil:
		p.note(false, "%s was not written: without a plan there is no %s to stay below", name, objective)
		return nil
	case r.Value == 0:
		return fmt.Errorf("--dimacs %s: the %s is 0, and nothing is below it, so there is no formula to write", name, objective)
	}
	err := p.write(name, func(w io.Writer) error { return sat.WriteDIMACS(w, a.problem, r.Value-1) })
	if err == nil {
		p.note(a.options.quiet, "%s: unsatisfiable would prove that no plan has a %s below %s",
			wordFor(name), objective, a.problem.FormatTime(r.Value))
	}
	return err
}
