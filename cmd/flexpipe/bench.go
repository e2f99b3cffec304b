package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model/config"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// reference is the schedule that others are compared with.
const reference = "1f1b"

// benchDefault are the schedules that bench takes if none are named, as far as they fit.
var benchDefault = []string{reference, "zb-h1", bySolve}

func (p *program) benchCommand() *cli.Command {
	flags := append(backendFlags(10),
		&cli.StringFlag{Name: "schedules", DefaultText: strings.Join(benchDefault, ",") + ", as far as they fit",
			Usage: "a `LIST` of named schedules (interleaved/2: in 2 chunks), solve, tune, and plan files"},
		&cli.StringFlag{Name: "profile", TakesFile: true, Usage: "cpu: predict with the costs in this `FILE`, not with those measured in between"},
	)
	return &cli.Command{
		Name:      "bench",
		Usage:     "execute several schedules in turn, and compare them",
		ArgsUsage: "CONFIG",
		Flags:     append(flags, commonFlags("write the report to this `FILE`", searches)...),
		Action:    p.bench,
	}
}

// benchOptions are the parsed flags of bench.
type benchOptions struct {
	backendOptions
	search
	specs        []string
	asked        bool // by the user
	profile      string
	json         bool
	quiet, color bool
}

func (p *program) benchOptions(c *cli.Context) (o benchOptions, err error) {
	if o.backendOptions, err = backendOf(c); err != nil {
		return o, err
	}
	if o.search, err = searchOf(c); err != nil {
		return o, err
	}
	if o.profile, err = fileOf(c, "profile"); err != nil {
		return o, err
	}
	o.json, o.quiet, o.color = c.Bool("json"), c.Bool("quiet"), p.color(c, toStandard(c))
	o.specs, o.asked = benchDefault, c.IsSet("schedules")
	if o.asked {
		o.specs = strings.Split(c.String("schedules"), ",")
	}
	for i, spec := range o.specs {
		if slices.Contains(o.specs[:i], spec) {
			return o, fmt.Errorf("--schedules: %q stands there twice", spec)
		}
	}
	if o.profile != "" && o.name != onCPU {
		return o, fmt.Errorf("--profile belongs to --backend %s; emulated devices wait for what the configuration says", onCPU)
	}
	return o, nil
}

func (p *program) bench(c *cli.Context) error {
	name, err := argument(c, "configuration")
	if err != nil {
		return err
	}
	o, err := p.benchOptions(c)
	if err != nil {
		return err
	}
	cfg, err := p.loadConfig(name, o.quiet)
	if err != nil {
		return err
	}
	if err := p.notInput(c.String("output")); err != nil {
		return err
	}
	ctx, stop := p.interruptible(c.Context)
	defer stop()
	b, err := p.compare(ctx, cfg, &o)
	if err != nil {
		return err
	}
	return p.output(c.String("output"), func(w io.Writer) error {
		if o.json {
			return writeJSON(w, b.json())
		}
		return b.text(w, &o)
	})
}

// comparison is the outcome of bench, in the order of the schedules.
type comparison struct {
	cfg  *config.Config
	rows []*outcome
}

// compare makes the plans, executes them in turn, and predicts.
func (p *program) compare(ctx context.Context, cfg *config.Config, o *benchOptions) (*comparison, error) {
	executions, err := p.contestants(ctx, cfg, o)
	defer closeAll(executions)
	if err != nil {
		return nil, err
	}
	gauges, err := p.gauges(ctx, cfg, executions, o)
	defer closeAll(gauges)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(gauges, executions)
	var contestants []pipert.Contestant
	for _, e := range all {
		contestants = append(contestants, e.contestant())
	}
	show, done := p.bar(o.quiet, (o.warmup+o.iterations)*len(all))
	defer done()
	warm, err := pipert.Compare(ctx, contestants, pipert.Settings{Iterations: o.warmup, Observe: show})
	if err != nil {
		return nil, ranBadly(err)
	}
	for _, g := range gauges {
		g.backend.(pipert.Profiler).ResetTimes()
	}
	runs, err := pipert.Compare(ctx, contestants, pipert.Settings{First: o.warmup, Iterations: o.iterations, Observe: show})
	interrupted := errors.Is(err, errInterrupted) && len(runs[len(runs)-1].Records) > 0
	if err != nil && !interrupted {
		return nil, ranBadly(err)
	}
	costs, err := p.costs(gauges, runs[:len(gauges)], o.profile)
	if err != nil {
		return nil, err
	}
	b := &comparison{cfg: cfg}
	for i, e := range executions {
		r := &outcome{execution: e, run: runs[len(gauges)+i], interrupted: interrupted}
		r.run.Losses = append(warm[len(gauges)+i].Losses, r.run.Losses...)
		if r.prediction, err = e.predict(costs); err != nil {
			return nil, err
		}
		b.rows = append(b.rows, r)
	}
	return b, nil
}

func closeAll(executions []*execution) {
	for _, e := range executions {
		e.backend.Close()
	}
}

// base returns the row of the reference, nil if it is not there.
func (b *comparison) base() *outcome {
	for _, r := range b.rows {
		if r.name == reference {
			return r
		}
	}
	return nil
}

// ratios returns how many times as long an iteration of the reference takes as one of r, measured
// and predicted; false without a reference.
func (b *comparison) ratios(r *outcome) (measured, predicted float64, ok bool) {
	base := b.base()
	if base == nil {
		return 0, 0, false
	}
	return base.run.Makespans().Median / r.run.Makespans().Median, base.prediction.Seconds() / r.prediction.Seconds(), true
}

// fidelity returns predicted and measured seconds by row, and the median of the absolute errors.
func (b *comparison) fidelity() (predicted, measured []float64, deviation float64) {
	var deviations []float64
	for _, r := range b.rows {
		seconds, e := r.predicted()
		predicted = append(predicted, seconds)
		measured = append(measured, r.run.Makespans().Median)
		deviations = append(deviations, max(e, -e))
	}
	return predicted, measured, pipert.NewQuantiles(deviations).Median
}

// text prints the comparison for people.
func (b *comparison) text(w io.Writer, o *benchOptions) error {
	first := b.rows[0]
	if !o.quiet {
		fmt.Fprintln(w, outline(first.problem, nil))
		list := [][2]string{{"backend", first.label()}}
		if first.trains() {
			list = append(list, [2]string{"network", networkText(first.blueprint)})
		}
		list = append(list, [2]string{"iterations", fmt.Sprintf("%d of each schedule in turn, after %d to warm up", len(first.run.Records), o.warmup)})
		fields(w, list...)
		fmt.Fprintln(w)
	}
	b.table(w)
	if o.quiet {
		return nil
	}
	fmt.Fprintln(w)
	fields(w, b.remarks()...)
	return nil
}

// table prints a row for each schedule.
func (b *comparison) table(w io.Writer) {
	name := column{name: "schedule", left: true}
	measured, low, high := column{name: "measured"}, column{name: "p10"}, column{name: "p90"}
	predicted, off := column{name: "predicted"}, column{name: "error"}
	ratio, want := column{name: reference + " / it"}, column{name: "predicted"}
	samples, tokens, peak := column{name: "samples/s"}, column{name: "tokens/s"}, column{name: "peak memory"}
	for _, r := range b.rows {
		q := r.run.Makespans()
		name.add(r.name)
		measured.add(seconds(q.Median))
		low.add(seconds(q.P10))
		high.add(seconds(q.P90))
		t, deviation := r.predicted()
		predicted.add(seconds(t))
		off.add(signed(deviation))
		if m, p, ok := b.ratios(r); ok {
			ratio.add(fmt.Sprintf("%.3f", m))
			want.add(fmt.Sprintf("%.3f", p))
		}
		if s, t, ok := r.throughput(); ok {
			samples.add(figure(s))
			tokens.add(figure(t))
		}
		if j := r.row(); j.PeakMemory != nil {
			peak.add(bytesText(*j.PeakMemory))
		}
	}
	columns := []column{name, measured, low, high, predicted, off}
	for _, c := range []column{ratio, want, samples, tokens, peak} {
		if len(c.cells) == len(b.rows) {
			columns = append(columns, c)
		}
	}
	printTable(w, columns...)
}

// remarks says how far predictions can be trusted, and the times.
func (b *comparison) remarks() [][2]string {
	predicted, measured, deviation := b.fidelity()
	text := fmt.Sprintf("median error %.1f %%", 100*deviation)
	if len(b.rows) > 1 {
		text += fmt.Sprintf(", Kendall's tau %.2f, regret of the predicted best %.1f %%",
			pipert.KendallTau(predicted, measured), 100*pipert.Regret(predicted, measured))
	}
	list := [][2]string{{"fidelity", text}}
	if noise := b.rows[0].noise(); noise != "" {
		list = append(list, [2]string{"machine", noise})
	}
	return list
}

// benchJSON is the report of bench, version 1.
type benchJSON struct {
	Format      string    `json:"format"`
	Version     int       `json:"version"`
	Rows        []runJSON `json:"rows"`
	MedianError float64   `json:"median_error"`
	KendallTau  float64   `json:"kendall_tau"`
	Regret      float64   `json:"regret"`
}

func (b *comparison) json() benchJSON {
	predicted, measured, deviation := b.fidelity()
	j := benchJSON{
		Format: "flexpipe/bench", Version: 1, Rows: []runJSON{}, MedianError: deviation,
		KendallTau: pipert.KendallTau(predicted, measured), Regret: pipert.Regret(predicted, measured),
	}
	for _, r := range b.rows {
		row := r.row()
		if m, p, ok := b.ratios(r); ok {
			row.Ratio, row.PredictedRatio = &m, &p
		}
		j.Rows = append(j.Rows, row)
	}
	return j
}
