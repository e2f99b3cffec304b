package portfolio_test

import (
	"bytes"
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
	"github.com/flexpipe/flexpipe/solve/proof"
)

// hard is a problem on which heuristics and bound do not meet.
func hard() *model.Problem {
	v, _ := model.VPlacement(8, 4)
	return modelgen.Problem(modelgen.Spec{Devices: 4, MicroBatches: 8, Placement: v, Latency: 1,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{8}})
}

// either is a problem in which two branches share a device: whichever comes first must
// find more memory there than each alone would need, which no bound sees.
func either(limit model.Bytes) *model.Problem {
	pl := modelgen.Pipeline(modelgen.Spec{
		Devices: 2, MicroBatches: 2, Placement: [][]int{{0}, {0}, {1}},
		F: []model.Time{1, 2, 2}, I: []model.Time{2, 1, 2}, Latency: 1,
		Activation: []model.Bytes{2, 2, 0}, FreedByI: []model.Bytes{-1, -1, 0}, Limit: []model.Bytes{limit, 9},
	})
	pl.Stages[1].After, pl.Stages[2].After = nil, []int{0, 1}
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}

// fenced is either with a barrier between its forwards and its backwards on device 0.
func fenced(limit model.Bytes) *model.Problem {
	pl := either(limit).Pipeline
	pl.Operations = []model.Operation{{Name: "fence", Letter: "X", Stage: -1, Devices: []int{0}, Single: true,
		After:  []model.Ref{{Kind: "forward", Stage: 0}, {Kind: "forward", Stage: 1}},
		Before: []model.Ref{{Kind: model.Backward, Stage: 0}, {Kind: model.Backward, Stage: 1}}}}
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}

// patience is far more than any of the searches takes that have to end by themselves.
const patience = time.Minute

func TestStatuses(t *testing.T) {
	small := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Activation: []model.Bytes{3}, Limit: []model.Bytes{3, 2}})
	for _, c := range []struct {
		name    string
		problem *model.Problem
		options portfolio.Options
		status  solve.Status
		proof   solve.Proof
		engine  string
		reason  string
	}{
		{"bound met", modelgen.Unit(4, 8), portfolio.Options{}, solve.Optimal, solve.BoundProof, "bound", ""},
		{"bound not met", hard(), portfolio.Options{}, solve.Optimal, solve.CheckedProof, "lcg", ""},
		{"unchecked", either(5), portfolio.Options{Unchecked: true}, solve.Optimal, solve.SearchProof, "lcg", ""},
		{"exact", either(5), portfolio.Options{Mode: portfolio.Exact}, solve.Optimal, solve.CheckedProof, "lcg", ""},
		{"heuristic", hard(), portfolio.Options{Mode: portfolio.Heuristic}, solve.Feasible, solve.NoProof, "heuristic", "rules tried"},
		{"by name", either(5), portfolio.Options{Engine: "lcg"}, solve.Optimal, solve.CheckedProof, "lcg", ""},
		{"another engine", either(5), portfolio.Options{Engine: "sat"}, solve.Optimal, solve.SearchProof, "sat", ""},
		{"an engine without proofs", hard(), portfolio.Options{Engine: "periodic"}, solve.Feasible, solve.NoProof, "", "periods"},
		{"a device is too small", small, portfolio.Options{}, solve.Infeasible, solve.BoundProof, "bound", "device 1"},
		{"no order fits", either(4), portfolio.Options{}, solve.Infeasible, solve.CheckedProof, "lcg", "every order"},
		{"no order fits, unchecked", either(4), portfolio.Options{Unchecked: true}, solve.Infeasible, solve.SearchProof, "lcg", "every order"},
		{"no order is found", either(4), portfolio.Options{Mode: portfolio.Heuristic}, solve.Unknown, solve.NoProof, "", "a single micro-batch needs 5 on device 0, whose limit is 4; this is no proof"},
		{"no order is found behind a barrier", fenced(8), portfolio.Options{Mode: portfolio.Heuristic}, solve.Unknown, solve.NoProof, "", "a barrier keeps all micro-batches live, which together need 9 on device 0, whose limit is 8; this is no proof"},
		{"too large", modelgen.Unit(4096, 65536), portfolio.Options{}, solve.Unknown, solve.NoProof, "", "805306368 operations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			o := c.options
			o.Seed, o.Workers = 1, 2
			r, err := portfolio.Solve(ctx, c.problem, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != c.status || r.Proof != c.proof || !strings.Contains(r.Reason, c.reason) || c.engine != "" && r.Engine != c.engine {
				t.Errorf("status %v by %q, proof %q, reason %q", r.Status, r.Engine, r.Proof, r.Reason)
			}
			consistent(t, r)
		})
	}
}

// consistent tests what holds for every result.
func consistent(t *testing.T, r *solve.Result) {
	t.Helper()
	if hasPlan := r.Plan != nil; hasPlan != (r.Status == solve.Optimal || r.Status == solve.Feasible) {
		t.Errorf("status %v, plan: %v", r.Status, hasPlan)
	}
	if r.Status == solve.Optimal && r.Gap() != 0 || r.Status == solve.Feasible && r.Gap() <= 0 {
		t.Errorf("status %v, gap %v", r.Status, r.Gap())
	}
}

// TestEngines refuses unknown engines, and problems that an engine cannot take; in
// mode Auto these are left to the heuristics.
func TestEngines(t *testing.T) {
	// One device with so many stages has more pairs of operations than a search can hold.
	large := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 64, Placement: model.LoopPlacement(128, 1)})
	for _, o := range []portfolio.Options{{Mode: portfolio.Exact}, {Engine: "lcg"}, {Engine: "sat"}} {
		_, err := portfolio.Solve(t.Context(), large, o)
		var feature *solve.FeatureError
		if !errors.As(err, &feature) || o.Engine != "" && feature.Engine != o.Engine {
			t.Errorf("%+v: error %v, want a refusal", o, err)
		}
	}
	if r, err := portfolio.Solve(t.Context(), large, portfolio.Options{}); err != nil || r.Plan == nil {
		t.Errorf("mode Auto: %+v, %v", r, err)
	}
	_, err := portfolio.Solve(t.Context(), hard(), portfolio.Options{Engine: "abacus"})
	if err == nil {
		t.Fatal("an unknown engine is accepted")
	}
	for _, e := range portfolio.Engines() {
		if found, lookup := portfolio.Lookup(e.Name()); lookup != nil || found.Name() != e.Name() {
			t.Errorf("engine %s: %v", e.Name(), lookup)
		}
		if !strings.Contains(err.Error(), e.Name()) {
			t.Errorf("error %q does not mention %s", err, e.Name())
		}
	}
}

// TestTrace hands the proof of each search to a further reader, beside the checker
// or without it.
func TestTrace(t *testing.T) {
	for _, unchecked := range []bool{false, true} {
		var file bytes.Buffer
		p := either(5)
		w := proof.NewWriter(&file, p)
		r, err := portfolio.Solve(t.Context(), p, portfolio.Options{Workers: 1, Unchecked: unchecked, NewTrace: func() solve.Trace {
			w.NewSearch()
			return w
		}})
		if err != nil || w.Close() != nil {
			t.Fatal(err, w.Close())
		}
		if proved, err := proof.Verify(t.Context(), p, &file); err != nil || proved.Bound != r.Value {
			t.Errorf("unchecked %t: the file proves %d, the value is %d: %v", unchecked, proved.Bound, r.Value, err)
		}
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
