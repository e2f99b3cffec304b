package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

func (p *program) solveCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "mode", Value: "auto", Usage: "auto, exact or heuristic"},
		&cli.StringFlag{Name: "schedule", Usage: "build the schedule of this `NAME` (see flexpipe schedules), no search"},
		&cli.IntFlag{Name: "split-stages", DefaultText: "1", Usage: "divide each stage's costs and memory into `V` chunks"},
		&cli.StringFlag{Name: "objective", Usage: "makespan or span, instead of what the configuration says"},
		&cli.BoolFlag{Name: "gantt", DisableDefaultText: true, Usage: fmt.Sprintf("draw the plan also with --quiet or on more than %d devices", mostLanes)},
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
	mode      string
	schedule  *heuristics.Schedule // nil: search
	choices   cssr.Choices
	plan      string // file to write
	json      bool
	withOrder bool
	gantt     bool
	quiet     bool
	color     bool
}

func (p *program) solveOptions(c *cli.Context) (o solveOptions, err error) {
	o = solveOptions{
		plan: c.String("output"), json: c.Bool("json"), withOrder: c.Bool("with-order"),
		gantt: c.Bool("gantt"), quiet: c.Bool("quiet"), color: p.color(c, c.String("output") != standard),
	}
	if o.search, err = searchOf(c); err != nil {
		return o, err
	}
	if o.mode, err = oneOf(c, "mode", "auto", "exact", "heuristic"); err != nil {
		return o, err
	}
	if c.IsSet("schedule") {
		s, err := scheduleOf(c)
		if err != nil {
			return o, err
		}
		o.schedule, o.choices.Backward = &s, &s.Backward
	}
	if c.IsSet("objective") {
		objective, ok := model.ParseObjective(c.String("objective"))
		if !ok {
			return o, fmt.Errorf("--objective %q: write makespan or span", c.String("objective"))
		}
		o.choices.Objective = &objective
	}
	if c.IsSet("split-stages") {
		if o.choices.SplitStages = c.Int("split-stages"); o.choices.SplitStages < 1 {
			return o, fmt.Errorf("--split-stages %d: at least 1 is needed", o.choices.SplitStages)
		}
		if s := o.schedule; s != nil && o.choices.SplitStages > 1 && s.Placement != string(config.Linear) {
			o.choices.Placement = s.Placement
		}
	}
	return o, o.check()
}

// scheduleOf returns the schedule that --schedule names.
func scheduleOf(c *cli.Context) (heuristics.Schedule, error) {
	name := c.String("schedule")
	if c.IsSet("mode") {
		return heuristics.Schedule{}, errors.New("--schedule builds one plan, so there is nothing to search with --mode; leave one of them out")
	}
	if err := unbuilt(unbuiltWords["schedule"], name, "schedule "+name); err != nil {
		return heuristics.Schedule{}, err
	}
	return heuristics.Lookup(name)
}

// check refuses flags that contradict each other, and what this build lacks.
func (o *solveOptions) check() error {
	switch {
	case o.json && o.plan == standard:
		return errors.New("--json and -o - both want standard output; write the plan to a file")
	case o.mode == "exact":
		return &exitError{exitUnavailable, errors.New("the exact solver is not in this build yet; use --mode heuristic or auto")}
	}
	return canWrite(o.plan)
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
	if err := p.notInput(o.plan); err != nil {
		return err
	}
	problem, err := cssr.Build(cfg, o.choices)
	if err != nil {
		return err
	}
	ctx, stop := p.interruptible(c.Context)
	defer stop()
	a := answer{problem: problem, options: o, scope: scope(cfg, problem, &o)}
	began := time.Now()
	if a.result, err = p.plan(ctx, problem, o); err != nil {
		return err
	}
	a.wall = time.Since(began)
	return p.answer(&a)
}

// plan searches, or builds the named schedule.
func (p *program) plan(ctx context.Context, problem *model.Problem, o solveOptions) (*solve.Result, error) {
	if o.schedule != nil {
		return named(problem, o.schedule)
	}
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	show, done := p.progress(problem, o.quiet)
	defer done()
	r, err := portfolio.Solve(limited, problem, portfolio.Options{Seed: o.seed, Workers: o.workers, Progress: show})
	if err == nil && (r.Status == solve.Feasible || r.Status == solve.Unknown) {
		r.Reason = stopped(limited, r.Reason)
	}
	return r, err
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
	scope   string // which plans the bound is about, see scope; "": all of the problem
	wall    time.Duration
}

// answer writes the plan file, prints the result, and returns the exit code that
// belongs to its status.
func (p *program) answer(a *answer) error {
	o := &a.options
	if a.result.Plan != nil && o.plan != "" {
		if err := p.write(o.plan, a.planFile().Encode); err != nil {
			return err
		}
	}
	if err := p.printAnswer(a); err != nil {
		return err
	}
	switch a.result.Status {
	case solve.Infeasible:
		return exitWith(exitInfeasible)
	case solve.Unknown:
		return exitWith(exitLimit)
	}
	return nil
}

// printAnswer prints the result: on standard error if standard output is the plan.
func (p *program) printAnswer(a *answer) error {
	content := a.text
	if a.options.json {
		content = func(w io.Writer) error { return writeJSON(w, a.json()) }
	}
	if a.options.plan != standard {
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
	if o.schedule != nil {
		provenance.Schedule, provenance.Seed = o.schedule.Name, 0
	}
	return &model.PlanFile{
		Problem: a.problem, Plan: r.Plan, Times: r.Timeline, Provenance: provenance,
		Figures: &model.Figures{Value: r.Value, Bound: r.Bound},
	}
}
