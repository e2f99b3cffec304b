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
	flags := append(backendFlags(20),
		&cli.StringFlag{Name: "trace", TakesFile: true, Usage: "write predicted and measured timeline to this `FILE`, for ui.perfetto.dev"},
		&cli.StringFlag{Name: "profile", TakesFile: true, Usage: "cpu: predict with the costs in this `FILE`, not those of the warm-up"},
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
	case o.trace != "":
		return o, canWrite(o.trace)
	}
	return o, nil
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

// execute warms a plan up, predicts, and measures.
func (p *program) execute(ctx context.Context, file *model.PlanFile, o *runOptions) (*outcome, error) {
	e, err := newExecution(nameOf(file), file.Problem, file.Plan, &o.backendOptions)
	if err != nil {
		return nil, err
	}
	defer e.backend.Close()
	show, done := p.bar(o.quiet, o.warmup+o.iterations)
	defer done()
	warm, err := pipert.Train(ctx, e.contestant(), pipert.Settings{Iterations: o.warmup, Observe: show})
	if err != nil {
		return nil, ranBadly(err)
	}
	r := &outcome{execution: e}
	costs, err := p.costs(e.gauge(), []*pipert.Run{warm}, o.profile)
	if err != nil {
		return nil, err
	}
	if r.prediction, err = e.predict(costs); err != nil {
		return nil, err
	}
	r.run, err = pipert.Train(ctx, e.contestant(), pipert.Settings{First: o.warmup, Iterations: o.iterations, Observe: show})
	if err != nil && !(errors.Is(err, errInterrupted) && len(r.run.Records) > 0) {
		return nil, ranBadly(err)
	}
	r.interrupted = err != nil
	r.run.Losses = append(warm.Losses, r.run.Losses...)
	return r, nil
}

// nameOf says what made a plan.
func nameOf(file *model.PlanFile) string {
	if file.Provenance.Schedule != "" {
		return file.Provenance.Schedule
	}
	return file.Provenance.Engine
}

// gauge returns the execution as the one whose warm-up measures costs; none where the plan's own
// costs are those of the backend.
func (e *execution) gauge() []*execution {
	if e.perTick > 0 {
		return nil
	}
	return []*execution{e}
}
