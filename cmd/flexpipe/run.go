package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

func (p *program) runCommand() *cli.Command {
	flags := append(backendFlags(20, "execute `N` iterations first; cpu: costs from the second on"),
		&cli.StringFlag{Name: "trace", TakesFile: true, Usage: "write the timelines to this `FILE`, for ui.perfetto.dev"},
		&cli.StringFlag{Name: "profile", TakesFile: true, Usage: "cpu: predict with the costs in this `FILE`"},
		&cli.BoolFlag{Name: "gantt", DisableDefaultText: true, Usage: fmt.Sprintf("draw the iteration also with --quiet or on more than %d devices", mostLanes)},
	)
	return &cli.Command{
		Name:      "run",
		Usage:     "execute a plan, and measure what it takes",
		ArgsUsage: "PLAN",
		Flags:     append(flags, commonFlags("write the report to this `FILE`", runs)...),
		Action:    p.runPlan,
	}
}

// runOptions are the parsed flags of run.
type runOptions struct {
	backendOptions
	trace, profile string // files
	json, gantt    bool
	quiet, color   bool
}

// runOptions reads the flags of run, and refuses those that contradict each other and files that
// cannot be written.
func (p *program) runOptions(c *cli.Context) (o runOptions, err error) {
	if o.backendOptions, err = backendOf(c); err != nil {
		return o, err
	}
	if o.trace, err = fileOf(c, "trace"); err != nil {
		return o, err
	}
	if o.profile, err = fileOf(c, "profile"); err != nil {
		return o, err
	}
	o.json, o.gantt, o.quiet, o.color = c.Bool("json"), c.Bool("gantt"), c.Bool("quiet"), p.color(c, toStandard(c))
	switch {
	case o.profile != "" && o.name != onCPU:
		return o, fmt.Errorf("--profile belongs to --backend %s; emulated devices wait for what the plan says", onCPU)
	case o.trace == standard && toStandard(c):
		return o, errors.New("--trace - and the report both want standard output; write one of them to a file")
	case o.trace != "" && sameFile(o.trace, c.String("output")):
		return o, fmt.Errorf("-o and --trace both want %s; choose another name for one of them", o.trace)
	}
	return o, errors.Join(canWrite(o.trace), canWrite(c.String("output")))
}

func (p *program) runPlan(c *cli.Context) error {
	name, err := argument(c, "plan")
	if err != nil {
		return err
	}
	o, err := p.runOptions(c)
	if err != nil {
		return err
	}
	file, err := p.loadPlan(name)
	if err != nil {
		return err
	}
	if v := judge(file); !v.ok() {
		v.text(p.err, true, p.color(c, false))
		return &exitError{exitRule, errors.New("the plan breaks rules, so it is not executed; flexpipe check explains")}
	}
	if err := p.notInput(o.trace, c.String("output")); err != nil {
		return err
	}
	p.noteTick(c, &o.backendOptions, file.Problem.TimeUnit().Name, o.quiet)
	ctx, stop := p.interruptible(c.Context)
	defer stop()
	r, err := p.execute(ctx, file, &o)
	if err != nil {
		return err
	}
	if o.trace != "" {
		if err := p.write(o.trace, r.writeTrace); err != nil {
			return err
		}
	}
	return p.output(c.String("output"), func(w io.Writer) error {
		if o.json {
			return writeJSON(w, r.json())
		}
		return r.text(w, &o)
	})
}

// execute executes a plan, and predicts what it should take.
func (p *program) execute(ctx context.Context, file *model.PlanFile, o *runOptions) (r *outcome, err error) {
	e, err := newExecution(&candidate{nameOf(file), file.Problem, file.Plan}, &o.backendOptions)
	if err != nil {
		return nil, err
	}
	t := &trial{executions: []*execution{e}, options: &o.backendOptions}
	defer func() { err = errors.Join(err, closeAll(t.executions)) }()
	var prediction *pipert.Prediction
	costs, err := p.givenCosts(e, o)
	switch {
	case err != nil:
		return nil, err
	case costs == nil:
		err = t.performGauged(ctx, p, o.quiet, func() (err error) {
			if costs, err = gathered(t.executions, t.warm); err != nil {
				return err
			}
			prediction, err = costs.predict(e)
			return err
		})
	default: // predicted before anything runs: the costs may be those of another network
		if prediction, err = costs.predict(e); err == nil {
			err = t.perform(ctx, p, o.quiet)
		}
	}
	if err != nil {
		return nil, err
	}
	return t.outcome(0, prediction, costs.basis), nil
}

// givenCosts returns the costs by which an execution is predicted: those of --profile, or where the
// backend's durations are those of the plan, these; nil if the warm-up has to tell.
func (p *program) givenCosts(e *execution, o *runOptions) (*predictor, error) {
	switch {
	case o.profile != "":
		return p.profiled(o.profile, e)
	case e.perTick > 0:
		return &predictor{basis: ownCosts}, nil
	}
	return nil, nil
}

// nameOf names a plan: the schedule, or just a plan that a search has found.
func nameOf(file *model.PlanFile) string {
	if file.Provenance.Schedule != "" {
		return file.Provenance.Schedule
	}
	return "plan"
}
