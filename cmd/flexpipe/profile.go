package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/cssr"
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
		Description: "The profile serves in a configuration: `profile: FILE` in place of costs, with `model:`\n" +
			"beside it in place of a cluster, so that tune can move layers.",
		Flags: slices.Concat(
			[]cli.Flag{&cli.StringFlag{Name: "backend", Value: onCPU, Usage: "the `NAME` of what to measure: cpu"}},
			iterationFlags(3, 1, unmeasured), commonFlags("write the profile to this `FILE`", runs)),
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
		return errors.New("--json and -o - are the same here; leave one out")
	}
	cfg, err := p.loadConfig(name, quiet)
	if err != nil {
		return err
	}
	if cfg.Model == nil {
		return &placedError{displayName(name), errors.New("there is no network to measure; give the configuration a model, with a cluster or a profile for its costs so far")}
	}
	if err := errors.Join(p.notInput(file), canWrite(file)); err != nil {
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
	parts   []network.Part
	stages  []profile.StageTimes
	file    *config.Profile
	label   string
	counts  string // how many iterations it rests on
}

// measure executes the network of a configuration with each way of recomputation, all devices at
// work at once, and once more with one operation at a time.
func (p *program) measure(ctx context.Context, cfg *config.Config, o *backendOptions, quiet bool) (m *measurement, err error) {
	t := &trial{options: o}
	defer func() { err = errors.Join(err, closeAll(t.executions)) }()
	ways, err := waysToMeasure(cfg)
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		e, err := newGauge(ctx, cfg, way, o)
		if err == nil && e.functional() {
			e, err = e.alone(o)
		}
		if err != nil {
			return nil, err
		}
		t.executions = append(t.executions, e)
	}
	alone, err := newExecution(t.executions[0].serial(), o)
	if err != nil {
		return nil, err
	}
	t.executions = append(t.executions, alone)
	if err := t.perform(ctx, p, quiet); err != nil {
		return nil, err
	}
	return t.measurement()
}

// provenance says what a trial was measured on, when and how, for the profile file.
func (t *trial) provenance() map[string]string {
	texts := map[string]string{
		"backend": t.executions[0].label(), "cpu": fmt.Sprintf("%s, %s", runtime.GOARCH, model.Plural(runtime.NumCPU(), "core")),
		"iterations": strconv.Itoa(len(t.runs[0].Records)), "created": time.Now().UTC().Format(time.RFC3339), "tool": "flexpipe " + version(),
	}
	if t.interrupted {
		texts["reason"] = errInterrupted.Error()
	}
	return texts
}

// measurement returns what a trial has measured whose last execution ran one operation at a time.
func (t *trial) measurement() (*measurement, error) {
	first, last := t.executions[0], len(t.executions)-1
	costs, err := gathered(t.executions[:last], t.runs[:last])
	if err != nil {
		return nil, err
	}
	costs.costs.AddSolo(t.executions[last].profiler())
	m := &measurement{Costs: costs.costs, problem: first.problem, label: t.gaugeLabel(), counts: t.counts()}
	if m.parts, err = first.blueprint.StageParts(); err != nil {
		return nil, err
	}
	if err := t.checkMemory(costs, last); err != nil {
		return nil, err
	}
	m.stages = profile.TimesOfStages(first.problem, t.runs[0].Records, t.runs[last].Records)
	m.file, err = m.Costs.File(first.blueprint, m.stages, t.provenance())
	return m, err
}

// checkMemory compares what the allocator counted in the first executions with the sizes of layers
// that the profile will hold.
func (t *trial) checkMemory(costs *predictor, executions int) error {
	for i, e := range t.executions[:executions] {
		prediction, err := costs.predict(e)
		if err != nil {
			return err
		}
		for _, m := range prediction.MemoryDeviations(t.runs[i].Memory) {
			return &exitError{exitFailure, fmt.Errorf("%s held %s at most, and %s after an iteration, where its layers account for %s: this is a fault of flexpipe",
				e.problem.DeviceName(m.Device), bytesText(m.Measured), bytesText(m.Live), bytesText(m.Predicted))}
		}
	}
	return nil
}

// gaugeLabel says how the costs were measured.
func (t *trial) gaugeLabel() string {
	first := t.executions[0]
	if first.functional() {
		return fmt.Sprintf("%s, %s on %s, so operations were measured one at a time", first.backend.Name(),
			model.Plural(first.problem.Pipeline.RealDevices(), "actor"), model.Plural(cores(), "core"))
	}
	return first.label()
}

// serial returns the plan of an execution with one operation at a time.
func (e *execution) serial() *candidate {
	return &candidate{e.name + " alone", e.problem, profile.Serial(e.program)}
}

// alone closes an execution and opens one in its place that runs one operation at a time: where
// actors share cores, all at once would measure how they share them.
func (e *execution) alone(o *backendOptions) (*execution, error) {
	if err := e.backend.Close(); err != nil {
		return nil, err
	}
	return newExecution(e.serial(), o)
}

// waysToMeasure returns the ways of recomputation that change something in the network; stages
// that are given have theirs.
func waysToMeasure(cfg *config.Config) ([]network.Recompute, error) {
	if cfg.Model == nil {
		return []network.Recompute{network.RecomputeNone}, nil
	}
	net, err := cssr.Network(cfg.Model, len(cfg.Devices))
	if err != nil {
		return nil, err
	}
	return network.Recomputations(net)
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
		fields(w, [2]string{"backend", m.label}, [2]string{"measured", m.counts}, [2]string{"transfer", m.transferText()})
		fmt.Fprintln(w)
		m.stageTable(w)
		fmt.Fprintln(w)
	}
	m.layerTable(w)
	return nil
}

// transferText says what a message takes.
func (m *measurement) transferText() string {
	q := inSeconds(m.Hops)
	return fmt.Sprintf("%s from the end of an operation to the start of the next on another device (p10 %s, p90 %s, %s)",
		seconds(q.Median), seconds(q.P10), seconds(q.P90), model.Plural(q.N, "sample"))
}

// stageTable prints what the operations of each stage took.
func (m *measurement) stageTable(w io.Writer) {
	longest := 0.0
	for _, s := range m.stages {
		for _, t := range s.Times {
			longest = max(longest, t.Contended.P90/1e9)
		}
	}
	unit := scaleOf(longest)
	stage, kind, count := column{name: "stage", left: true}, column{name: "operation", left: true}, column{name: "samples"}
	median, low, high := unit.column("median"), unit.column("p10"), unit.column("p90")
	alone, ratio := unit.column("alone"), column{name: "median / alone"}
	for _, s := range m.stages {
		for _, t := range s.Times {
			together, solo := inSeconds(t.Contended), inSeconds(t.Alone)
			stage.add(strconv.Itoa(s.Stage))
			kind.add(t.Kind)
			count.add(strconv.Itoa(together.N))
			median.add(unit.text(together.Median))
			low.add(unit.text(together.P10))
			high.add(unit.text(together.P90))
			alone.add(unit.text(solo.Median))
			ratio.add(fmt.Sprintf("%.2f", together.Median/solo.Median))
		}
	}
	printTable(w, stage, kind, count, median, low, high, alone, ratio)
}

// layerTable prints what each layer takes.
func (m *measurement) layerTable(w io.Writer) {
	none := network.RecomputeNone
	longest := 0.0
	for i := range m.Layers {
		l := &m.Layers[i]
		longest = max(longest, l.Forward.Median/1e9, l.BackwardInput[none].Median/1e9, l.BackwardWeight.Median/1e9)
	}
	unit := scaleOf(longest)
	name := column{name: "layer", left: true}
	forward, input, weight := unit.column("forward"), unit.column("backward input"), unit.column("backward weight")
	keeps, retained, parameters := column{name: "activation"}, column{name: "retained"}, column{name: "parameters"}
	for i := range m.Layers {
		l := &m.Layers[i]
		name.add(m.layerName(l))
		forward.add(unit.text(l.Forward.Median / 1e9))
		input.add(unit.text(l.BackwardInput[none].Median / 1e9))
		weight.add(unit.text(l.BackwardWeight.Median / 1e9))
		keeps.add(bytesText(l.Activation))
		retained.add(bytesText(l.Retained))
		parameters.add(figure(float64(l.Parameters)))
	}
	printTable(w, name, forward, input, weight, keeps, retained, parameters)
}

// layerName names a layer, with its part where there are several.
func (m *measurement) layerName(l *pipert.LayerCosts) string {
	return strings.TrimSpace(m.parts[l.Part].Name + " " + l.Name)
}
