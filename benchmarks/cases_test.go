package benchmarks

import (
	"context"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/benchmarks/cases"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// caseTime is how long a case may take to be proved.
const caseTime = 10 * time.Second

// TestCases solves every case that users reported: a refusal where one is right,
// else a judged plan of the right value and a proof that none is better. With -short
// there is no search, and bound and value only have to enclose the optimum.
func TestCases(t *testing.T) {
	all, err := cases.All()
	if err != nil {
		t.Fatal(err)
	}
	topics, searched, optima, refusals := map[string]bool{}, 0, 0, 0
	var slowest time.Duration
	var slow string
	for i := range all {
		c := &all[i]
		t.Run(c.ID, func(t *testing.T) {
			begin := time.Now()
			r := runCase(t, c)
			if took := time.Since(begin); took > slowest {
				slowest, slow = took, c.ID
			}
			topics[c.Case] = true
			switch {
			case r == nil:
				refusals++
			case c.Expect.Optimum != "":
				optima++
				if r.Proof == solve.CheckedProof {
					searched++
				}
			}
		})
	}
	t.Logf("%d entries of %d topics, %d of them refusals; %d of %d optima needed a search; %s took longest, %.1f s",
		len(all), len(topics), refusals, searched, optima, slow, slowest.Seconds())
}

// runCase returns nil for a refusal.
func runCase(t *testing.T, c *cases.Case) *solve.Result {
	p, schedule, err := buildCase(c)
	if c.Expect.Error != nil {
		if err == nil && schedule != nil {
			_, err = schedule.Build(p)
		}
		expectWords(t, err, c.Expect.Error)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := solveCase(t, p, schedule)
	if err != nil {
		t.Fatal(err)
	}
	expectResult(t, c, p, r)
	if c.Expect.Optimum != "" && !testing.Short() {
		expectProof(t, r)
	}
	return r
}

func solveCase(t *testing.T, p *model.Problem, schedule *heuristics.Schedule) (*solve.Result, error) {
	if schedule != nil {
		plan, err := schedule.Build(p)
		if err != nil {
			return nil, err
		}
		return portfolio.JudgePlan(p, plan)
	}
	ctx, cancel := context.WithTimeout(t.Context(), caseTime)
	defer cancel()
	o := portfolio.Options{Seed: 1, Workers: 2}
	if testing.Short() {
		o.Mode = portfolio.Heuristic
	}
	return portfolio.Solve(ctx, p, o)
}

// expectProof demands that an optimum is proved, and by what can be verified.
func expectProof(t *testing.T, r *solve.Result) {
	t.Helper()
	if r.Status != solve.Optimal || r.Proof != solve.BoundProof && r.Proof != solve.CheckedProof {
		t.Errorf("status %v, proof %q, [%d, %d]: %s", r.Status, r.Proof, r.Bound, r.Value, r.Reason)
	}
}

func buildCase(c *cases.Case) (*model.Problem, *heuristics.Schedule, error) {
	cfg, err := config.Decode([]byte(c.Config), c.ID)
	if err != nil {
		return nil, nil, err
	}
	if c.Schedule == "" {
		p, err := cssr.Build(cfg, cssr.Choices{})
		return p, nil, err
	}
	schedule, err := heuristics.Lookup(c.Schedule)
	if err != nil {
		return nil, nil, err
	}
	p, err := cssr.Build(cfg, cssr.Choices{Backward: &schedule.Backward})
	return p, &schedule, err
}

func expectWords(t *testing.T, err error, words []string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want an error with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not mention %q", err, w)
		}
	}
}

func expectResult(t *testing.T, c *cases.Case, p *model.Problem, r *solve.Result) {
	t.Helper()
	want := &c.Expect
	if want.Infeasible != nil {
		if r.Status != solve.Infeasible {
			t.Fatalf("status %v, want infeasible", r.Status)
		}
		for _, w := range want.Infeasible {
			if !strings.Contains(r.Reason, w) {
				t.Errorf("reason %q does not mention %q", r.Reason, w)
			}
		}
		return
	}
	if r.Plan == nil {
		t.Fatalf("no plan: %v: %s", r.Status, r.Reason)
	}
	value, bound := p.Pipeline.TimeUnit.Rat(int64(r.Value)), p.Pipeline.TimeUnit.Rat(int64(r.Bound))
	if best := number(t, want.Optimum); best != nil {
		if bound.Cmp(best) > 0 {
			t.Errorf("bound %v is above the optimum %v", bound, best)
		}
		if value.Cmp(best) < 0 {
			t.Errorf("value %v is below the optimum %v", value, best)
		}
		if !c.Large && value.Cmp(best) != 0 {
			t.Errorf("value %s, optimum %s", value.RatString(), best.RatString())
		}
	}
	if order := number(t, want.FixedOrder); order != nil && value.Cmp(order) > 0 {
		t.Errorf("value %s is above %s, that of an order in common use", value.RatString(), want.FixedOrder)
	}
	if simple := number(t, want.SimpleBound); simple != nil && bound.Cmp(simple) < 0 {
		t.Errorf("bound %s is below the textbook's %s", bound.RatString(), want.SimpleBound)
	}
	expectEqual(t, "value", value, want.Value)
	expectEqual(t, "ideal", p.Pipeline.TimeUnit.Rat(int64(r.Metrics.Ideal)), want.Ideal)
	expectRatio(t, "bubble ratio", r.Metrics.BubbleRatio(p.Pipeline.Objective), want.BubbleRatio)
	expectRatio(t, "bubble over ideal", r.Metrics.BubbleOverIdeal(p.Pipeline.Objective), want.BubbleOverIdeal)
	for d, peak := range want.Peaks {
		expectEqual(t, "peak memory", p.Pipeline.MemoryUnit.Rat(int64(r.Metrics.Devices[d].Peak)), peak)
	}
}

func number(t *testing.T, text string) *big.Rat {
	t.Helper()
	n, err := cases.Number(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func expectEqual(t *testing.T, what string, have *big.Rat, want string) {
	t.Helper()
	if w := number(t, want); w != nil && have.Cmp(w) != 0 {
		t.Errorf("%s is %s, want %s", what, have.RatString(), want)
	}
}

func expectRatio(t *testing.T, what string, have float64, want string) {
	t.Helper()
	if w := number(t, want); w != nil {
		if f, _ := w.Float64(); math.Abs(f-have) > 1e-9 {
			t.Errorf("%s is %v, want %s", what, have, want)
		}
	}
}
