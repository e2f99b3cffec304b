package heuristics_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// judge evaluates a plan, fails the test if it breaks a rule, and returns its
// figures.
func judge(t *testing.T, p *model.Problem, plan *model.Plan) *model.Metrics {
	t.Helper()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if report := constraints.Check(p, plan, tl); !report.OK() {
		t.Fatal(report.Err())
	}
	return model.Measure(p, plan, tl)
}
