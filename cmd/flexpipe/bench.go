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
	flags := append(backendFlags(10, unmeasured),
		&cli.StringFlag{Name: "schedules", DefaultText: strings.Join(benchDefault, ",") + " if they fit", Usage: "what to compare, a `LIST` as above"},
		&cli.StringFlag{Name: "profile", TakesFile: true, Usage: "cpu: predict with the costs in this `FILE`"},
	)
	return &cli.Command{
		Name:      "bench",
		Usage:     "execute several schedules in turn, and compare them",
		ArgsUsage: "CONFIG",
		Description: "The list has names of schedules (interleaved/2: in two chunks), solve, tune, and plan files\n" +
			"that end in .json, with commas between them.",
		Flags:  append(flags, commonFlags("write the report to this `FILE`", compares)...),
		Action: p.bench,
	}
}

// benchOptions are the parsed flags of bench.
type benchOptions struct {
	backendOptions
	search
	specs   []string
	asked   bool // by the user
	profile string
	json    bool
	quiet   bool
}

// benchOptionsOf reads the flags of bench, and refuses those that contradict each other and files
// that cannot be written.
func benchOptionsOf(c *cli.Context) (o benchOptions, err error) {
	if o.backendOptions, err = backendOf(c); err != nil {
		return o, err
	}
	if o.search, err = searchOf(c); err != nil {
		return o, err
	}
	if o.profile, err = fileOf(c, "profile"); err != nil {
		return o, err
	}
	o.json, o.quiet = c.Bool("json"), c.Bool("quiet")
	if o.specs, o.asked = benchDefault, c.IsSet("schedules"); o.asked {
		if o.specs, err = specsOf(c.String("schedules")); err != nil {
			return o, err
		}
	}
	if o.profile != "" && o.name != onCPU {
		return o, fmt.Errorf("--profile belongs to --backend %s; emulated devices wait for what the configuration says", onCPU)
	}
	return o, canWrite(c.String("output"))
}

func (p *program) bench(c *cli.Context) error {
	name, err := argument(c, "configuration")
	if err != nil {
		return err
	}
	o, err := benchOptionsOf(c)
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
	if o.name == onCPU && !hasNetwork(cfg) {
		return errNoNetwork
	}
	p.noteTick(c, &o.backendOptions, string(cfg.Unit), o.quiet)
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

// hasNetwork reports whether plans of a configuration know a network.
func hasNetwork(cfg *config.Config) bool {
	return cfg.Model != nil || cfg.Profile != nil && cfg.Profile.Network != ""
}

// comparison is the outcome of bench, in the order of the schedules.
type comparison struct {
	rows []*outcome
}

// compare makes the plans, executes them in turn, and predicts.
func (p *program) compare(ctx context.Context, cfg *config.Config, o *benchOptions) (b *comparison, err error) {
	executions, err := p.contestants(ctx, cfg, o)
	defer func() { err = errors.Join(err, closeAll(executions)) }()
	if err != nil {
		return nil, err
	}
	costs, gauges, err := p.costsOf(ctx, cfg, executions, o)
	defer func() { err = errors.Join(err, closeAll(gauges)) }()
	if err != nil {
		return nil, err
	}
	t := &trial{executions: slices.Concat(gauges, executions), options: &o.backendOptions}
	if err := t.perform(ctx, p, o.quiet); err != nil {
		return nil, err
	}
	if costs == nil {
		if costs, err = gathered(gauges, t.runs[:len(gauges)]); err != nil {
			return nil, err
		}
	}
	b = &comparison{}
	for i, e := range executions {
		prediction, err := costs.predict(e)
		if err != nil {
			return nil, err
		}
		b.rows = append(b.rows, t.outcome(len(gauges)+i, prediction, costs.basis))
	}
	return b, nil
}

// costsOf returns the costs by which executions are predicted, or the gauges that measure them in
// between: one for each way of recomputation that the executions use. The caller closes these, also
// after an error.
func (p *program) costsOf(ctx context.Context, cfg *config.Config, executions []*execution, o *benchOptions) (*predictor, []*execution, error) {
	switch {
	case o.name == onEmulated:
		return &predictor{basis: ownCosts}, nil, nil
	case o.profile != "":
		costs, err := p.profiled(o.profile, executions...)
		return costs, nil, err
	}
	gauges, err := gaugesOf(ctx, cfg, executions, &o.backendOptions)
	return nil, gauges, err
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
// as the median over iterations that stand beside each other, and predicted; false without a
// reference, or where either cannot be compared.
func (b *comparison) ratios(r *outcome) (measured, predicted float64, ok bool) {
	base := b.base()
	if base == nil || !base.compared() || !r.compared() {
		return 0, 0, false
	}
	return pipert.Ratio(base.run, r.run).Median, base.prediction.Seconds() / r.prediction.Seconds(), true
}

// fidelity says how far the predictions of all rows can be trusted; false where one of them cannot
// be compared.
func (b *comparison) fidelity() (f pipert.Fidelity, ok bool) {
	var predictions []*pipert.Prediction
	var runs []*pipert.Run
	for _, r := range b.rows {
		if !r.compared() {
			return f, false
		}
		predictions, runs = append(predictions, r.prediction), append(runs, r.run)
	}
	return pipert.NewFidelity(predictions, runs), true
}

// benchJSON is the report of bench, version 1. What cannot be compared is null; the last two also
// of a single row.
type benchJSON struct {
	Format      string         `json:"format"`
	Version     int            `json:"version"`
	Rows        []benchRowJSON `json:"rows"`
	MedianError *float64       `json:"median_error"`
	KendallTau  *float64       `json:"kendall_tau"`
	Regret      *float64       `json:"regret"`
}

// benchRowJSON is a row. The ratios are time of 1f1b / own time.
type benchRowJSON struct {
	runJSON
	Ratio          *float64 `json:"ratio_to_1f1b"`
	PredictedRatio *float64 `json:"predicted_ratio_to_1f1b"`
}

func (b *comparison) json() benchJSON {
	j := benchJSON{Format: "flexpipe/bench", Version: 1, Rows: []benchRowJSON{}}
	if f, ok := b.fidelity(); ok {
		j.MedianError = &f.Median
		if len(b.rows) > 1 {
			j.KendallTau, j.Regret = &f.Tau, &f.Regret
		}
	}
	for _, r := range b.rows {
		row := benchRowJSON{runJSON: r.row()}
		if m, p, ok := b.ratios(r); ok {
			row.Ratio, row.PredictedRatio = &m, &p
		}
		j.Rows = append(j.Rows, row)
	}
	return j
}
