package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/cssr/dsl"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

func (p *program) buildCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "config", TakesFile: true, Usage: "what config() is in the script: a `FILE`, or - for standard input"},
		&cli.StringSliceFlag{Name: "set", Usage: "set a parameter of the script, as in `K=V`"},
		&cli.Uint64Flag{Name: "steps", Value: dsl.DefaultSteps, Usage: "stop the script after this many steps"},
		&cli.BoolFlag{Name: "explain", DisableDefaultText: true, Usage: "tell each decision that a device made, and why"},
		&cli.BoolFlag{Name: "gantt", DisableDefaultText: true, Usage: fmt.Sprintf("draw the plan also with --quiet or on more than %d devices", mostLanes)},
		&cli.BoolFlag{Name: "with-order", DisableDefaultText: true, Usage: "with --json: the orders of the devices also above 100,000 operations"},
	}
	return &cli.Command{
		Name:      "build",
		Usage:     "run a script that describes a schedule (docs/dsl.md)",
		ArgsUsage: "SCRIPT.star",
		Flags:     append(flags, commonFlags("write the plan to this `FILE`", searches)...),
		Action:    p.build,
	}
}

// buildOptions are the parsed flags of build.
type buildOptions struct {
	solveOptions
	config  string // "": none
	set     []dsl.Setting
	steps   uint64
	explain bool
	limited bool // --time-limit is given
}

func (p *program) buildOptions(c *cli.Context) (o buildOptions, err error) {
	o.solveOptions = solveOptions{
		plan: c.String("output"), json: c.Bool("json"), withOrder: c.Bool("with-order"),
		gantt: c.Bool("gantt"), quiet: c.Bool("quiet"),
	}
	o.color = p.color(c, !o.standardTaken())
	o.steps, o.explain, o.limited = c.Uint64("steps"), c.Bool("explain"), c.IsSet("time-limit")
	if o.config, err = fileOf(c, "config"); err != nil {
		return o, err
	}
	if o.steps == 0 {
		return o, errors.New("--steps 0: at least 1 is needed")
	}
	if o.search, err = searchOf(c); err != nil {
		return o, err
	}
	for _, text := range c.StringSlice("set") {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return o, fmt.Errorf("--set %q: write NAME=VALUE", text)
		}
		o.set = append(o.set, dsl.Setting{Name: name, Value: value})
	}
	if o.explain && o.json {
		return o, errors.New("--explain tells the decisions in words, which has no place in --json; leave one of them out")
	}
	return o, o.checkFiles()
}

func (p *program) build(c *cli.Context) error {
	name, err := argument(c, "script")
	if err != nil {
		return err
	}
	o, err := p.buildOptions(c)
	if err != nil {
		return err
	}
	if name == standard && o.config == standard {
		return errors.New("the script and --config both want standard input; give one of them as a file")
	}
	ctx, stop := p.interruptible(c.Context)
	defer stop()
	script, err := p.runScript(ctx, name, &o)
	if err != nil {
		return err
	}
	if err := p.notInputs(append(script.Files(), o.config, name), o.files()); err != nil {
		return err
	}
	if script.Request.Tune != nil {
		err := p.tuneScript(ctx, script.Request, &o)
		var exit *exitError
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return script.Explain(script.At("tune", inScript(err)))
	}
	b := building{program: p, script: script, options: o}
	a, err := b.answer(ctx)
	if err != nil {
		return script.Explain(err)
	}
	if err := p.answer(a); err != nil || len(b.decisions) == 0 {
		return err
	}
	return p.tell(&o, b.decisions)
}

// notInputs refuses files to be written one of which is what the command read.
func (p *program) notInputs(inputs, files []string) error {
	for _, p.input = range inputs {
		if err := p.notInput(files...); err != nil {
			return err
		}
	}
	return nil
}

// runScript runs the script.
func (p *program) runScript(ctx context.Context, name string, o *buildOptions) (*dsl.Script, error) {
	if name == "" {
		return nil, errors.New("the name of the script is empty; write a file, or - for standard input")
	}
	p.input = name
	source, err := p.read(name)
	if err != nil {
		return nil, fmt.Errorf("reading script: %w", err)
	}
	var schedules []string
	for _, s := range heuristics.Schedules() {
		schedules = append(schedules, s.Name)
	}
	script, err := dsl.Run(ctx, filepath.ToSlash(displayName(name)), source, dsl.Options{
		FS: inputFS{p.in}, Config: filepath.ToSlash(displayName(o.config)), Set: o.set, Schedules: schedules, Steps: o.steps,
		Print: func(text string) { fmt.Fprintln(p.err, text) },
	})
	if err != nil && errors.Is(err, errInterrupted) {
		return nil, &exitError{exitLimit, err}
	}
	if err != nil && namesConfig(name) {
		return nil, &placedError{displayName(name), errors.New("this is a configuration, no script; use flexpipe solve, or --config beside a script")}
	}
	if err != nil {
		return nil, err
	}
	for _, w := range script.Request.Config.Warnings {
		p.note(o.quiet, "warning: %s", script.Warning(w))
	}
	return script, nil
}

// namesConfig reports whether a file that is no sound script is a configuration by its
// name.
func namesConfig(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// building carries out the request of a script.
type building struct {
	program   *program
	script    *dsl.Script
	options   buildOptions
	decisions []string
}

// answer returns the result of the request.
func (b *building) answer(ctx context.Context) (*answer, error) {
	request, o := b.script.Request, &b.options
	o.choices = request.Point.Choices
	if o.explain && (request.Order != nil || request.Schedule != "") {
		return nil, errors.New("--explain tells what the decoder decides, and the script leaves it nothing to decide")
	}
	switch {
	case request.Schedule != "":
		s, err := heuristics.Lookup(request.Schedule)
		if err != nil {
			return nil, err
		}
		o.schedule = &s
		o.adopt(request.Config)
	case request.Solve != nil:
		o.mode = modes[request.Solve.Mode]
		if request.Solve.TimeLimit > 0 && !o.limited {
			o.limit = request.Solve.TimeLimit
		}
	}
	problem, err := cssr.Build(request.Config, o.choices)
	if err != nil {
		return nil, err
	}
	a := &answer{problem: problem, options: o.solveOptions}
	if o.schedule != nil {
		a.scope = scope(request.Config, problem, &o.solveOptions)
	}
	if request.Schedule == "" && request.Solve == nil {
		return a, b.describe(ctx, a)
	}
	if err := b.program.find(ctx, request.Config, a); err != nil {
		return nil, b.script.At("schedule", inScript(err))
	}
	if request.Solve != nil {
		b.compare(ctx, a)
	}
	return a, nil
}

// inScript words an error that names flags of solve for the author of a script.
func inScript(err error) error {
	text := err.Error()
	worded := chunksFlag.ReplaceAllString(text, "place(rule, chunks = $1)")
	worded = strings.NewReplacer("--split-stages", "place(rule, chunks)", "--schedule", "schedule()",
		"list the placement and its reverse under routes", "use bidirectional()").Replace(worded)
	if worded == text {
		return err
	}
	return errors.New(worded)
}

var chunksFlag = regexp.MustCompile(`--split-stages (\d+)`)

// The engines of plans that are described and not searched.
const (
	pointEngine = "cssr"  // the decoder, from a point
	orderEngine = "order" // an explicit order
)

// describe makes the plan that the script describes, and judges it beside the bound.
func (b *building) describe(ctx context.Context, a *answer) error {
	began := time.Now()
	a.result = solve.NewResult(a.problem)
	if a.result.Status == solve.Infeasible {
		return nil
	}
	plan, engine, err := b.plan(ctx, a.problem)
	if err != nil && ctx.Err() != nil {
		a.result.Reason = stopped(ctx, "")
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := a.result.Offer(a.problem, plan, engine); err != nil {
		return err
	}
	if engine == pointEngine {
		a.result.Rule = b.script.Request.Point.String()
	}
	a.wall = time.Since(began)
	return nil
}

// plan returns the plan that the script describes, and what made it.
func (b *building) plan(ctx context.Context, problem *model.Problem) (*model.Plan, string, error) {
	request := b.script.Request
	if request.Order != nil {
		plan, err := request.Plan(ctx, problem, nil)
		return plan, orderEngine, err
	}
	var trace func(*cssr.Decision)
	if b.options.explain {
		trace = func(d *cssr.Decision) { b.decisions = append(b.decisions, d.Text(problem)) }
	}
	plan, err := request.Plan(ctx, problem, trace)
	return plan, pointEngine, err
}

// compare says how far the point of a script comes where the script asks for a search.
func (b *building) compare(ctx context.Context, a *answer) {
	policy := cssr.Point{Policy: b.script.Request.Point.Policy}
	if a.result.Plan == nil || policy.String() == "*" {
		return
	}
	plan, _, err := b.plan(ctx, a.problem)
	if err != nil {
		return
	}
	if r, err := portfolio.JudgePlan(a.problem, plan); err == nil && r.Plan != nil {
		b.program.note(b.options.quiet, "the priorities of the script give %s, the search %s", a.problem.FormatTime(r.Value), a.problem.FormatTime(a.result.Value))
	}
}

// tell prints the decisions behind the result, where that went.
func (p *program) tell(o *buildOptions, decisions []string) error {
	content := func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(decisions, "\n"))
		return err
	}
	if o.standardTaken() {
		return content(p.err)
	}
	return p.output(standard, content)
}
