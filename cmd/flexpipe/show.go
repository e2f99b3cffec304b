package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/view"
)

func (p *program) showCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "ascii", Usage: "ascii, svg or trace (of Perfetto and Chrome)"},
		&cli.IntFlag{Name: "width", Usage: "`COLUMNS` of ascii or pixels of svg", DefaultText: "100 columns, 1200 pixels"},
	}
	return &cli.Command{
		Name:      "show",
		Usage:     "draw a plan",
		ArgsUsage: "PLAN",
		Description: "A plan that breaks rules is drawn with a warning, and the exit code is 0; one that\n" +
			"cannot run, because its orders wait for each other, has no picture, and the exit code is 3.",
		Flags:  append(flags, commonFlags("write the picture to this `FILE`", writes)...),
		Action: p.show,
	}
}

func (p *program) show(c *cli.Context) error {
	name, err := argument(c, "plan")
	if err != nil {
		return err
	}
	format, err := oneOf(c, "format", "ascii", "svg", "trace")
	if err != nil {
		return err
	}
	if c.IsSet("width") && c.Int("width") < 1 {
		return fmt.Errorf("--width %d: at least 1 is needed", c.Int("width"))
	}
	if c.IsSet("width") && format == "trace" {
		return errors.New("--width: a trace has none; leave it out")
	}
	file, err := p.loadPlan(name)
	if err != nil {
		return err
	}
	v := judge(file)
	v.compareBound()
	if v.orders != nil {
		return &exitError{exitRule, fmt.Errorf("there is nothing to draw: %w", v.orders)}
	}
	if !v.ok() { // never quiet
		fmt.Fprintf(p.err, "flexpipe: warning: the plan breaks rules (%s); flexpipe check explains\n", model.Plural(v.total(), "violation"))
	}
	tl, known := v.timeline, v.bound.Value
	return p.output(c.String("output"), func(w io.Writer) error {
		switch format {
		case "trace":
			return showTrace(w, file.Problem, file.Plan, tl, v.brokenRules())
		case "svg":
			return view.SVG(w, file.Problem, file.Plan, tl, view.SVGOptions{Width: c.Int("width"), Bound: known, Broken: v.brokenRules()})
		}
		return view.ASCII(w, file.Problem, file.Plan, tl, view.ASCIIOptions{
			Width: c.Int("width"), Color: p.color(c, toStandard(c)), Bound: known, Broken: v.brokenRules(),
		})
	})
}

// showTrace writes what a plan predicts as a trace.
func showTrace(w io.Writer, problem *model.Problem, plan *model.Plan, tl *model.Timeline, broken bool) error {
	length, physical := view.TickLength(problem)
	about := "predicted by the plan, not measured"
	if !physical {
		about += "; " + "1 " + problem.TimeUnit().Name + " is shown as 1 us"
	}
	if broken {
		about += "; the plan breaks rules"
	}
	lanes := []view.TraceLane{view.LaneOf("predicted", problem, plan, tl, length)}
	return view.Trace(w, lanes, view.TraceOptions{Provenance: about})
}
