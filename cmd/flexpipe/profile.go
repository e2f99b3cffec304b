package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/profile"
)

func (p *program) profileCommand() *cli.Command {
	return &cli.Command{
		Name:      "profile",
		Usage:     "measure what the layers and stages of a network take",
		ArgsUsage: "CONFIG",
		Description: "The profile serves in a configuration: `profile: FILE` in place of costs, with `model:` beside it in\n" +
			"place of a cluster, so that tune can move layers.",
		Flags: slices.Concat(
			[]cli.Flag{&cli.StringFlag{Name: "backend", Value: onCPU, Usage: "the `NAME` of what to measure: cpu"}},
			iterationFlags(5), commonFlags("write the profile to this `FILE`", runs)),
		Action: p.profile,
	}
}

func (p *program) profile(c *cli.Context) error {
	name, err := argument(c, "configuration")
	if err != nil {
		return err
	}
	o, err := backendOf(c)
	if err != nil {
		return err
	}
	if o.name != onCPU {
		return fmt.Errorf("--backend %s: its durations are given, there is nothing to measure; use %s", o.name, onCPU)
	}
	file, quiet := c.String("output"), c.Bool("quiet")
	if file == standard && c.Bool("json") {
		return errors.New("--json and -o - both want standard output; they are the same here, leave one out")
	}
	cfg, err := p.loadConfig(name, quiet)
	if err != nil {
		return err
	}
	if err := p.notInput(file); err != nil {
		return err
	}
	ctx, stop := p.interruptible(c.Context)
	defer stop()
	measured, err := p.measure(ctx, cfg, &o, quiet)
	if err != nil {
		return err
	}
	if file != "" {
		if err := p.write(file, measured.encode); err != nil {
			return err
		}
	}
	return p.reportProfile(measured, c.Bool("json"), file == standard, quiet)
}

// reportProfile prints the profile: as JSON itself, else as tables.
func (p *program) reportProfile(m *measurement, asJSON, taken, quiet bool) error {
	switch {
	case asJSON:
		return p.output(standard, m.encode)
	case taken && quiet:
		return nil
	case taken:
		return m.text(p.err, quiet)
	}
	return p.output(standard, func(w io.Writer) error { return m.text(w, quiet) })
}

// measurement is a profile with what it was measured on.
type measurement struct {
	*profile.Costs
	problem *model.Problem
	stages  []profile.StageTimes
	file    *config.Profile
	label   string
}

// measure executes the network of a configuration with each way of recomputation, all devices at
// work at once, and once more with one operation at a time.
func (p *program) measure(ctx context.Context, cfg *config.Config, o *backendOptions, quiet bool) (*measurement, error) {
	var list []*execution
	defer func() { closeAll(list) }()
	for _, way := range ways(cfg) {
		c, err := gauge(ctx, cfg, way)
		if err != nil {
			return nil, err
		}
		e, err := newExecution("costs", c.problem, c.plan, o)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	first := list[0]
	alone, err := newExecution("alone", first.problem, profile.Serial(first.program), o)
	if err != nil {
		return nil, err
	}
	list = append(list, alone)
	runs, err := p.executeAll(ctx, list, o, quiet)
	if err != nil {
		return nil, err
	}
	m := &measurement{problem: first.problem, label: (&outcome{execution: first}).label()}
	last := len(list) - 1
	if m.Costs, err = p.costs(list[:last], runs[:last], ""); err != nil {
		return nil, err
	}
	m.Costs.AddSolo(alone.backend.(pipert.Profiler))
	m.stages = profile.TimesOfStages(first.problem, runs[0].Records, runs[last].Records)
	m.file, err = m.Costs.File(first.blueprint, m.stages, map[string]string{
		"backend": m.label, "cpu": fmt.Sprintf("%s, %s", runtime.GOARCH, model.Plural(runtime.NumCPU(), "core")),
		"iterations": fmt.Sprint(o.iterations), "created": time.Now().UTC().Format(time.RFC3339), "tool": "flexpipe " + version(),
	})
	return m, err
}

// ways returns the ways of recomputation that change something in the network.
func ways(cfg *config.Config) []network.Recompute {
	if cfg.Model != nil && cfg.Model.Kind == config.MLP {
		return []network.Recompute{network.RecomputeNone, network.RecomputeFull}
	}
	return []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}
}

// executeAll warms executions up and measures them in turn.
func (p *program) executeAll(ctx context.Context, list []*execution, o *backendOptions, quiet bool) ([]*pipert.Run, error) {
	var contestants []pipert.Contestant
	for _, e := range list {
		contestants = append(contestants, e.contestant())
	}
	show, done := p.bar(quiet, (o.warmup+o.iterations)*len(list))
	defer done()
	if _, err := pipert.Compare(ctx, contestants, pipert.Settings{Iterations: o.warmup, Observe: show}); err != nil {
		return nil, ranBadly(err)
	}
	for _, e := range list {
		if b, ok := e.backend.(pipert.Profiler); ok {
			b.ResetTimes()
		}
	}
	runs, err := pipert.Compare(ctx, contestants, pipert.Settings{First: o.warmup, Iterations: o.iterations, Observe: show})
	return runs, ranBadly(err)
}

func (m *measurement) encode(w io.Writer) error {
	text, err := m.file.Encode()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// text prints the profile for people.
func (m *measurement) text(w io.Writer, quiet bool) error {
	if !quiet {
		fmt.Fprintln(w, outline(m.problem, nil))
		fields(w, [2]string{"backend", m.label}, [2]string{"transfer", m.linkText()})
		fmt.Fprintln(w)
		m.stageTable(w)
		fmt.Fprintln(w)
	}
	m.layerTable(w)
	return nil
}

// linkText says what a message takes.
func (m *measurement) linkText() string {
	return fmt.Sprintf("%s from the end of an operation to the start of the next on another device (p10 %s, p90 %s, %d samples)",
		seconds(m.Hops.Median/1e9), seconds(m.Hops.P10/1e9), seconds(m.Hops.P90/1e9), m.Hops.N)
}

// stageTable prints what the operations of each stage took.
func (m *measurement) stageTable(w io.Writer) {
	stage, kind, count := column{name: "stage", left: true}, column{name: "operation", left: true}, column{name: "samples"}
	median, low, high := column{name: "median"}, column{name: "p10"}, column{name: "p90"}
	alone, ratio := column{name: "alone"}, column{name: "median / alone"}
	for _, s := range m.stages {
		for _, t := range s.Times {
			stage.add(fmt.Sprint(s.Stage))
			kind.add(t.Kind)
			count.add(fmt.Sprint(t.Contended.N))
			median.add(seconds(t.Contended.Median / 1e9))
			low.add(seconds(t.Contended.P10 / 1e9))
			high.add(seconds(t.Contended.P90 / 1e9))
			alone.add(seconds(t.Alone.Median / 1e9))
			ratio.add(fmt.Sprintf("%.2f", t.Contended.Median/t.Alone.Median))
		}
	}
	printTable(w, stage, kind, count, median, low, high, alone, ratio)
}

// layerTable prints what each layer takes, equal neighbours once.
func (m *measurement) layerTable(w io.Writer) {
	name := column{name: "layer", left: true}
	forward, input, weight := column{name: "forward"}, column{name: "backward input"}, column{name: "backward weight"}
	keeps, retained, parameters := column{name: "activation"}, column{name: "retained"}, column{name: "parameters"}
	for i := range m.Layers {
		l := &m.Layers[i]
		name.add(strings.TrimSpace(l.Name))
		forward.add(seconds(l.Forward.Median / 1e9))
		input.add(seconds(l.BackwardInput[network.RecomputeNone].Median / 1e9))
		weight.add(seconds(l.BackwardWeight.Median / 1e9))
		keeps.add(bytesText(l.Activation))
		retained.add(bytesText(l.Retained))
		parameters.add(figure(float64(l.Parameters)))
	}
	printTable(w, name, forward, input, weight, keeps, retained, parameters)
}
