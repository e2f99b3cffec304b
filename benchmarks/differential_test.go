package benchmarks

import (
	"context"
	"flag"
	"math"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/proof"
	"github.com/flexpipe/flexpipe/solve/sat"
)

var (
	differential = flag.Duration("differential", 0, "how long TestDifferential compares engines; 0: on a fixed number of problems")
	firstSeed    = flag.Uint64("differential-seed", 0, "the seed with which TestDifferential begins")
)

// Limits of TestDifferential without a duration: the seeds, how many problems at least
// must need a search and be closed by both engines, and the time for one engine and
// problem. With a duration there is more.
const (
	differentialSeeds    = 140
	differentialClosed   = 15
	differentialPatience = 200 * time.Millisecond
	longPatience         = 5 * time.Second
)

// faults are problems on which earlier versions were wrong.
var faults = []struct {
	family family
	seed   uint64
}{
	{family{"starved stages", starvedStages}, 42},     // the checker refused a memory step whose facts left no number of operations before another one
	{family{"starved stages", starvedStages}, 125060}, // nothing takes memory on a device whose limit is below its static memory
}

// TestDifferential compares two engines that share nothing but the model on random
// problems: a value that one proves is that of the other, no bound is above any plan,
// and a problem without a plan for one has none for the other. The proof of the first
// engine is verified as it is told. For longer runs:
//
//	go test ./benchmarks -run TestDifferential -differential 10m -differential-seed 100000
func TestDifferential(t *testing.T) {
	begin := time.Now()
	c := comparison{t: t, patience: differentialPatience}
	seeds := uint64(differentialSeeds)
	switch {
	case *differential > 0:
		seeds, c.patience = math.MaxUint64, longPatience
	case testing.Short():
		seeds /= 20
	}
	for _, f := range faults {
		c.compare(f.family.draw(f.seed))
	}
	for n := uint64(0); n < seeds && (*differential == 0 || time.Since(begin) < *differential); n++ {
		seed := *firstSeed + n
		c.compare(families[0].draw(seed))
		if f := seed % 5; f > 0 {
			c.compare(families[f].draw(seed / 5))
		}
	}
	t.Logf("%d problems, %d refused, %d without a plan; %d needed a search, %d of them closed by both engines; %d nogoods verified",
		c.all, c.refused, c.infeasible, c.searched, c.closed, c.verified)
	if *differential == 0 && !testing.Short() && c.closed < differentialClosed {
		t.Errorf("%d problems needed a search and were closed by both engines, want %d: look for other families", c.closed, differentialClosed)
	}
}

// comparison counts what happened.
type comparison struct {
	t                                          *testing.T
	patience                                   time.Duration // for one engine and problem
	all, refused, infeasible, searched, closed int
	verified                                   int64
}

// answer is what an engine says.
type answer struct {
	name string
	*solve.Result
}

func (a *answer) ended() bool { return a.Status == solve.Optimal || a.Status == solve.Infeasible }

// compare lets engines solve a problem, unless a few heuristics and the bound do.
func (c *comparison) compare(name string, p *model.Problem) {
	c.t.Helper()
	c.all++
	first := answer{"bound and heuristic", look(c.t, p)}
	if first.Status == solve.Optimal && c.all%8 > 0 {
		return
	}
	answers := []answer{first}
	if r := c.checked(name, p, solve.Options{Seed: 1, Workers: 1}); r != nil {
		answers = append(answers, answer{"lcg", r})
	}
	if r := c.other(name, p); r != nil {
		answers = append(answers, answer{"sat", r})
	}
	if len(answers) < 3 {
		c.refused++
	}
	c.count(answers)
	if first.Plan != nil && len(answers) > 1 && answers[1].ended() {
		if r := c.checked(name, p, solve.Options{Seed: 2, Workers: 3, Incumbent: first.Plan, Bound: first.Bound}); r != nil {
			answers = append(answers, answer{"lcg with several workers and a plan", r})
		}
	}
	for i := range answers {
		for k := range answers {
			c.agree(name, &answers[i], &answers[k])
		}
	}
}

// look returns what the bound and a few heuristics find.
func look(t *testing.T, p *model.Problem) *solve.Result {
	t.Helper()
	r := solve.NewResult(p)
	if r.Status == solve.Infeasible {
		return r
	}
	found, err := heuristics.Search(t.Context(), p, heuristics.Options{Seed: 1, Workers: 1, Tries: 16, Target: r.Bound})
	if err != nil {
		return r // it finds no order that fits
	}
	if _, err := r.Offer(p, found.Plan, "heuristic"); err != nil {
		t.Fatal(err)
	}
	return r
}

// checked runs the engine that tells its proof, nil if it refuses or fails.
func (c *comparison) checked(name string, p *model.Problem, o solve.Options) *solve.Result {
	c.t.Helper()
	if lcg.New().Refuses(p) != nil {
		return nil
	}
	var checkers []*proof.Checker
	o.NewTrace = func() solve.Trace {
		checker, err := proof.New(p)
		if err != nil {
			panic(err) // the engine would have refused the problem
		}
		checkers = append(checkers, checker)
		return checker
	}
	r := c.solve(name, p, lcg.New(), o)
	for _, checker := range checkers {
		c.verified += checker.Verified()
		if err := checker.Err(); err != nil {
			c.t.Errorf("%s: the proof is wrong: %v", name, err)
		}
	}
	if r != nil && r.Status == solve.Optimal && r.Proof == solve.SearchProof {
		c.t.Errorf("%s: proof %q of the bound %d", name, r.Proof, r.Bound)
	}
	return r
}

// other runs the other engine, nil if it refuses or fails.
func (c *comparison) other(name string, p *model.Problem) *solve.Result {
	c.t.Helper()
	if sat.New().Refuses(p) != nil {
		return nil
	}
	return c.solve(name, p, sat.New(), solve.Options{Seed: 1, Workers: 1})
}

func (c *comparison) solve(name string, p *model.Problem, e solve.Solver, o solve.Options) *solve.Result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience)
	defer cancel()
	r, err := e.Solve(ctx, p, o)
	if err != nil {
		c.t.Errorf("%s: %s: %v", name, e.Name(), err)
		return nil
	}
	if r.Plan != nil {
		if again, err := portfolio.JudgePlan(p, r.Plan); err != nil || again.Value != r.Value {
			c.t.Errorf("%s: %s says %d of its plan: %v", name, e.Name(), r.Value, err)
		}
	}
	return r
}

// agree tests what a says against what b has.
func (c *comparison) agree(name string, a, b *answer) {
	c.t.Helper()
	if b.Plan != nil && (a.Status == solve.Infeasible || a.Bound > b.Value) {
		c.t.Errorf("%s: %s has status %v and the bound %d, %s a plan of %d", name, a.name, a.Status, a.Bound, b.name, b.Value)
	}
	if a.Status == solve.Infeasible && b.Status == solve.Optimal {
		c.t.Errorf("%s: %s says infeasible, %s optimal", name, a.name, b.name)
	}
}

// count counts a problem by what the engines say.
func (c *comparison) count(answers []answer) {
	first, ended := answers[0], 0
	var last answer
	for _, a := range answers[1:] {
		if a.ended() {
			last = a
			ended++
		}
	}
	if first.Status == solve.Infeasible || ended > 0 && last.Status == solve.Infeasible {
		c.infeasible++
	}
	if first.Status == solve.Infeasible || ended == 0 || last.Status == solve.Optimal && last.Value == first.Bound {
		return
	}
	c.searched++
	if ended == 2 {
		c.closed++
	}
}
