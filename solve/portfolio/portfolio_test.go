package portfolio_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// hard is a problem on which heuristics and bound do not meet.
func hard() *model.Problem {
	v, _ := model.VPlacement(8, 4)
	return modelgen.Problem(modelgen.Spec{Devices: 4, MicroBatches: 8, Placement: v, Latency: 1,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{8}})
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		problem *model.Problem
		status  solve.Status
		proof   solve.Proof
		reason  string
	}{
		{"bound met", modelgen.Unit(4, 8), solve.Optimal, solve.BoundProof, ""},
		{"bound not met", hard(), solve.Feasible, solve.NoProof, ""},
		{"a device is too small", modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2,
			Activation: []model.Bytes{3}, Limit: []model.Bytes{3, 2}}), solve.Infeasible, solve.BoundProof, "device 1"},
		{"too large", modelgen.Unit(4096, 65536), solve.Unknown, solve.NoProof, "805306368 operations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := portfolio.Solve(context.Background(), c.problem, portfolio.Options{Seed: 1, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != c.status || r.Proof != c.proof || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("status %v, proof %q, reason %q", r.Status, r.Proof, r.Reason)
			}
			if hasPlan := r.Plan != nil; hasPlan != (c.status == solve.Optimal || c.status == solve.Feasible) {
				t.Errorf("plan: %v", hasPlan)
			}
			if r.Status == solve.Optimal && r.Gap() != 0 || r.Status == solve.Feasible && r.Gap() <= 0 {
				t.Errorf("gap %v", r.Gap())
			}
		})
	}
}

// TestLimits demands a plan even if the deadline passes before the first one, and
// none after a cancellation.
func TestLimits(t *testing.T) {
	late, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	if r, err := portfolio.Solve(late, hard(), portfolio.Options{}); err != nil || r.Status != solve.Feasible {
		t.Errorf("deadline in the past: %v, %v", r, err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := portfolio.Solve(gone, hard(), portfolio.Options{}); err != nil || r.Status != solve.Unknown || r.Reason == "" {
		t.Errorf("canceled: %v, %v", r, err)
	}
}

func TestJudgePlan(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 2, Activation: []model.Bytes{1}, Limit: []model.Bytes{1}})
	f, i, w := 0, 1, 2
	good := &model.Plan{Order: [][]model.OpID{{p.Op(f, 0), p.Op(i, 0), p.Op(w, 0), p.Op(f, 1), p.Op(i, 1), p.Op(w, 1)}}}
	if r, err := portfolio.JudgePlan(p, good); err != nil || r.Status != solve.Optimal || r.Value != 6 {
		t.Errorf("a good plan: %+v, %v", r, err)
	}
	greedy := &model.Plan{Order: [][]model.OpID{{p.Op(f, 0), p.Op(f, 1), p.Op(i, 0), p.Op(w, 0), p.Op(i, 1), p.Op(w, 1)}}}
	_, err := portfolio.JudgePlan(p, greedy)
	var broken *constraints.RuleError
	if !errors.As(err, &broken) || broken.Report.Violations[0].Rule != constraints.RuleMemory {
		t.Errorf("a plan over the limit: %v", err)
	}
}
