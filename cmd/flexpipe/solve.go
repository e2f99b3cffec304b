package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

func (p *program) solveCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "mode", Value: "auto", Usage: "auto, exact (or fail) or heuristic"},
		&cli.StringFlag{Name: "engine", Usage: "search with this exact engine: `NAME` is " + joined(engineNames(), "or")},
		&cli.StringFlag{Name: "schedule", Usage: "build the schedule of this `NAME` (see flexpipe schedules), no search"},
		&cli.IntFlag{Name: "split-stages", DefaultText: "1", Usage: "divide each stage's costs and memory into `V` chunks"},
		&cli.StringFlag{Name: "objective", Usage: "makespan or span, instead of what the configuration says"},
		&cli.BoolFlag{Name: "gantt", DisableDefaultText: true, Usage: fmt.Sprintf("draw the plan also with --quiet or on more than %d devices", mostLanes)},
		&cli.StringFlag{Name: "proof", TakesFile: true, Usage: "write the search proof to this `FILE`, compressed if it ends in .gz"},
		&cli.StringFlag{Name: "dimacs", TakesFile: true, Usage: "write to this `FILE`, for SAT solvers, that a better plan exists"},
		&cli.BoolFlag{Name: "with-order", DisableDefaultText: true, Usage: "with --json: the orders of the devices also above 100,000 operations"},
	}
	return &cli.Command{
		Name:      "solve",
		Usage:     "find the best plan for a configuration",
		ArgsUsage: "CONFIG",
		Flags:     append(flags, commonFlags("write the plan to this `FILE`", searches)...),
		Action:    p.solve,
	}
}

// solveOptions are the parsed flags of solve.
type solveOptions struct {
	search
	mode      portfolio.Mode
	engine    string               // "": the best for the problem
	schedule  *heuristics.Schedule // nil: search
	choices   cssr.Choices
	plan      string // file to write
	proof     string // file to write
	formula   string // file to write
	json      bool
	withOrder bool
	gantt     bool
	quiet     bool
	color     bool
}

func (p *program) solveOptions(c *cli.Context) (o solveOptions, err error) {
	o = solveOptions{
		plan: c.String("output"), json: c.Bool("json"), withOrder: c.Bool("with-order"),
		gantt: c.Bool("gantt"), quiet: c.Bool("quiet"),
	}
	if o.proof, err = fileOf(c, "proof"); err != nil {
		return o, err
	}
	if o.formula, err = fileOf(c, "dimacs"); err != nil {
		return o, err
	}
	o.color = p.color(c, !o.standardTaken())
	if o.search, err = searchOf(c); err != nil {
		return o, err
	}
	if o.mode, o.engine, err = engineOf(c); err != nil {
		return o, err
	}
	if err := o.choose(c); err != nil {
		return o, err
	}
	return o, o.check()
}

// choose reads the flags that shape the problem.
func (o *solveOptions) choose(c *cli.Context) error {
	if c.IsSet("schedule") {
		s, err := scheduleOf(c)
		if err != nil {
			return err
		}
		o.schedule = &s
	}
	if c.IsSet("objective") {
		objective, ok := model.ParseObjective(c.String("objective"))
		if !ok {
			return fmt.Errorf("--objective %q: write makespan or span", c.String("objective"))
		}
		o.choices.Objective = &objective
	}
	if c.IsSet("split-stages") {
		if o.choices.SplitStages = c.Int("split-stages"); o.choices.SplitStages < 1 {
			return fmt.Errorf("--split-stages %d: at least 1 is needed", o.choices.SplitStages)
		}
	}
	return nil
}

// adopt makes the choices that the named schedule asks for, where none are made.
func (o *solveOptions) adopt(cfg *config.Config) {
	if o.schedule == nil {
		return
	}
	c, asked := &o.choices, o.schedule.Choices(o.choices.SplitStages, cfg.Routes != nil)
	if c.Backward == nil {
		c.Backward = asked.Backward
	}
	c.Placement = cmp.Or(c.Placement, asked.Placement)
	c.Bidirectional = c.Bidirectional || asked.Bidirectional
}

// scheduleOf returns the schedule that --schedule names.
func scheduleOf(c *cli.Context) (heuristics.Schedule, error) {
	if c.IsSet("mode") {
		return heuristics.Schedule{}, errors.New("--schedule builds one plan, so there is nothing to search with --mode; leave one of them out")
	}
	return heuristics.Lookup(c.String("schedule"))
}

// check refuses flags that contradict each other, and files that cannot be written.
func (o *solveOptions) check() error {
	if err := o.checkProof(); err != nil {
		return err
	}
	return o.checkFiles()
}

func (p *program) solve(c *cli.Context) error {
	name, err := argument(c, "configuration")
	if err != nil {
		return err
	}
	o, err := p.solveOptions(c)
	if err != nil {
		return err
	}
	cfg, err := p.loadConfig(name, o.quiet)
	if err != nil {
		return err
	}
	if err := p.notInput(o.files()...); err != nil {
		return err
	}
	o.adopt(cfg)
	problem, err := cssr.Build(cfg, o.choices)
	if err != nil {
		return err
	}
	if err := o.checkFormula(problem); err != nil {
		return err
	}
	a := answer{problem: problem, options: o, scope: scope(cfg, problem, &o)}
	if o.proof != "" {
		a.proof = newProofFile(problem, o.proof)
		defer a.proof.discard()
	}
	if err := p.find(c.Context, cfg, &a); err != nil {
		return err
	}
	return p.answer(&a)
}

// find finds the result, and what would fit if there is none.
func (p *program) find(ctx context.Context, cfg *config.Config, a *answer) error {
	ctx, stop := p.interruptible(ctx)
	defer stop()
	began := time.Now()
	if err := p.plan(ctx, a); err != nil {
		return err
	}
	a.wall = time.Since(began)
	if a.result.Status == solve.Infeasible && a.options.schedule == nil {
		a.result.Reason += remedy(ctx, cfg, a)
	}
	return nil
}

// plan searches, or builds the named schedule.
func (p *program) plan(ctx context.Context, a *answer) (err error) {
	o := &a.options
	if o.schedule != nil {
		a.result, err = named(a.problem, o.schedule)
		return err
	}
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	show, done := p.progress(a.problem, o.quiet)
	defer done()
	options := portfolio.Options{Seed: o.seed, Workers: o.workers, Mode: o.mode, Engine: o.engine, Progress: show}
	if a.proof != nil {
		options.NewTrace = a.proof.begin
	}
	r, err := portfolio.Solve(limited, a.problem, options)
	if err != nil {
		return refusal(a.problem, o.engine, err)
	}
	switch {
	case r.Status == solve.Feasible && limited.Err() != nil:
		r.Reason = stopped(limited, "")
	case r.Status == solve.Feasible || r.Status == solve.Unknown:
		r.Reason = stopped(limited, r.Reason)
	}
	a.result = r
	return nil
}

// stopped says why a search ended early.
func stopped(ctx context.Context, otherwise string) string {
	switch {
	case errors.Is(context.Cause(ctx), errInterrupted):
		return errInterrupted.Error()
	case ctx.Err() != nil && otherwise == "":
		return "the time limit ended the search"
	}
	return otherwise
}

// answer is a result on its way to the user.
type answer struct {
	problem *model.Problem
	result  *solve.Result
	options solveOptions
	scope   string     // which plans the bound is about, see scope; "": all of the problem
	proof   *proofFile // nil: not asked for
	wall    time.Duration
}

// answer writes the files, prints the result, and returns the exit code that
// belongs to its status. If a file cannot be written the result is printed all the
// same, except as JSON, where the error takes its place.
func (p *program) answer(a *answer) error {
	failed := p.writeFiles(a)
	if failed != nil && a.options.json {
		return failed
	}
	if err := p.printAnswer(a); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	switch a.result.Status {
	case solve.Infeasible:
		return exitWith(exitInfeasible)
	case solve.Unknown:
		return exitWith(exitLimit)
	}
	return nil
}

// writeFiles writes the files that were asked for.
func (p *program) writeFiles(a *answer) error {
	var plan error
	if o := &a.options; a.result.Plan != nil && o.plan != "" {
		plan = p.write(o.plan, a.planFile().Encode)
	}
	return errors.Join(plan, p.writeProof(a), p.writeFormula(a))
}

// printAnswer prints the result: on standard error if standard output is taken.
func (p *program) printAnswer(a *answer) error {
	content := a.text
	if a.options.json {
		content = func(w io.Writer) error { return writeJSON(w, a.json()) }
	}
	if !a.options.standardTaken() {
		return p.output(standard, content)
	}
	if a.options.quiet {
		return nil
	}
	return content(p.err)
}

func (a *answer) planFile() *model.PlanFile {
	r, o := a.result, &a.options
	provenance := model.Provenance{
		Tool: "flexpipe", Version: version(), Engine: r.Engine, Seed: o.seed,
		Created: time.Now().UTC().Format(time.RFC3339),
	}
	if !a.searched() {
		provenance.Schedule, provenance.Seed = r.Rule, 0
	}
	return &model.PlanFile{
		Problem: a.problem, Plan: r.Plan, Times: r.Timeline, Provenance: provenance,
		Figures: &model.Figures{Value: r.Value, Bound: a.recordedBound()},
	}
}

// recordedBound returns the bound that a plan file records, which is one that check
// proves by itself: what a search proves is in the proof file.
func (a *answer) recordedBound() model.Time {
	if r := a.result; r.Proof != solve.CheckedProof && r.Proof != solve.SearchProof {
		return r.Bound
	}
	return bound.Lower(a.problem).Value
}
