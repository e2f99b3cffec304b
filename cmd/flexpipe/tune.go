package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve/tune"
)

func (p *program) tuneCommand() *cli.Command {
	list := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: "a `LIST` " + usage}
	}
	flags := []cli.Flag{
		&cli.IntFlag{Name: "top", Value: 10, Usage: "show the best `N` shapes"},
		&cli.IntFlag{Name: "evaluations", DefaultText: "1 % of the space, at least 400", Usage: "decode at most `N` points"},
		&cli.IntFlag{Name: "finalists", Value: finalists, Usage: "hand the best `N` shapes to the exact solver"},
		list("placement", "of placements: linear, loop, v"),
		list("chunks", "of numbers, such as 1,2: into how many stages to divide each"),
		list("backward", "of backward passes: configured, split, fused, auto"),
		list("partition", "of partitions: configured, fit, even, balanced"),
		list("recompute", "of recomputations: configured, fit, none, selective, full"),
		list("vocabulary", "of ways to share embedding and head: none, stage, passes"),
		list("micro-batch-size", "of sizes; the batch stays as it is"),
		&cli.StringFlag{Name: "script", TakesFile: true, Usage: "write a script of the best plan to this `FILE`, for flexpipe build"},
		&cli.BoolFlag{Name: "gantt", DisableDefaultText: true, Usage: "draw the best plan also with --quiet"},
	}
	return &cli.Command{
		Name:      "tune",
		Usage:     "search placements, partitions, priorities and more for the fastest plan",
		ArgsUsage: "CONFIG",
		Flags:     append(flags, commonFlags("write the best plan to this `FILE`", searches)...),
		Action:    p.tune,
	}
}

// tuneOptions are the parsed flags of tune.
type tuneOptions struct {
	search
	space   cssr.Space
	options tune.Options
	plan    string // file to write
	script  string // file to write
	config  string // file that was read
	json    bool
	gantt   bool
	quiet   bool
	color   bool
}

func (p *program) tuneOptions(c *cli.Context) (o tuneOptions, err error) {
	o = tuneOptions{plan: c.String("output"), json: c.Bool("json"), gantt: c.Bool("gantt"), quiet: c.Bool("quiet")}
	o.color = p.color(c, o.plan != standard)
	if o.search, err = searchOf(c); err != nil {
		return o, err
	}
	o.options = tune.Options{Top: c.Int("top"), Evaluations: c.Int("evaluations"), Finalists: c.Int("finalists")}
	if o.options.Finalists == 0 {
		o.options.Finalists = -1 // none, where 0 would be the default
	}
	for _, n := range []struct {
		flag  string
		least int
	}{{"top", 1}, {"evaluations", 1}, {"finalists", 0}} {
		if c.IsSet(n.flag) && c.Int(n.flag) < n.least {
			return o, fmt.Errorf("--%s %d: write a number from %d up", n.flag, c.Int(n.flag), n.least)
		}
	}
	if o.space, err = spaceOf(c); err != nil {
		return o, err
	}
	if o.json && o.plan == standard {
		return o, errors.New("--json and -o - both want standard output; write to a file")
	}
	if o.script, err = fileOf(c, "script"); err != nil {
		return o, err
	}
	switch {
	case o.script == standard && (o.json || o.plan == standard):
		return o, errors.New("--script - and another output both want standard output; write to a file")
	case o.script != "" && sameFile(o.script, o.plan):
		return o, errors.New("-o and --script both want the same file; choose another name for one of them")
	}
	for _, name := range []string{o.plan, o.script} {
		if name == "" {
			continue
		}
		if err := canWrite(name); err != nil {
			return o, err
		}
	}
	return o, nil
}

// spaceOf reads the dimensions that flags restrict.
func spaceOf(c *cli.Context) (s cssr.Space, err error) {
	words := func(flag string) []string {
		if !c.IsSet(flag) {
			return nil
		}
		return strings.Split(c.String(flag), ",")
	}
	numbers := func(flag string) (list []int) {
		for _, word := range words(flag) {
			n, failed := strconv.Atoi(word)
			if failed != nil || n < 1 {
				err = errors.Join(err, fmt.Errorf("--%s %q: write whole numbers from 1 up, apart by commas", flag, word))
			}
			list = append(list, n)
		}
		return list
	}
	s = cssr.Space{
		Placements: words("placement"), Chunks: numbers("chunks"), Backwards: words("backward"),
		Partitions: words("partition"), Recompute: words("recompute"), Vocabulary: words("vocabulary"),
		MicroBatchSizes: numbers("micro-batch-size"),
	}
	return s, err
}

func (p *program) tune(c *cli.Context) error {
	name, err := argument(c, "configuration")
	if err != nil {
		return err
	}
	o, err := p.tuneOptions(c)
	if err != nil {
		return err
	}
	cfg, err := p.loadConfig(name, o.quiet)
	if err != nil {
		return err
	}
	if err := p.notInput(o.plan, o.script); err != nil {
		return err
	}
	if o.config = name; name == standard && o.script != "" {
		return errors.New("--script names the configuration, and that came from standard input; give it as a file")
	}
	ctx, stop := p.interruptible(c.Context)
	defer stop()
	return tuneRefusal(p.tuneConfig(ctx, cfg, &o))
}

// tuneScript tunes as a script asks for, around the schedule that it describes.
func (p *program) tuneScript(ctx context.Context, request *cssr.Request, b *buildOptions) error {
	if b.explain {
		return errors.New("--explain tells what the decoder decides for one point, and the script asks for many")
	}
	if request.Point.Policy.Memory != nil {
		return errors.New("memory() bounds what the decoder takes for one point, and the solvers behind a tuning keep to the limits of the configuration: lower memory.limit there, and leave memory() out")
	}
	o := &tuneOptions{
		search: b.search, space: *request.Tune, plan: b.plan, json: b.json, gantt: b.gantt, quiet: b.quiet, color: b.color,
	}
	o.options.Finalists = finalists
	if point := request.Point; point.String() != "*" {
		o.options.Start = &point
	}
	return p.tuneConfig(ctx, request.Config, o)
}

// finalists is how many shapes go to the exact solver by default.
const finalists = 3

// tuneConfig searches the space of a configuration, and prints what it finds.
func (p *program) tuneConfig(ctx context.Context, cfg *config.Config, o *tuneOptions) error {
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	show, done := p.tuneProgress(o.quiet, string(cfg.Unit))
	finish := sync.OnceFunc(done)
	defer finish()
	o.options.Seed, o.options.Workers, o.options.Progress = o.seed, o.workers, show
	o.options.Building = o.limit / 3
	if n := o.options.Finalists; n > 0 {
		o.options.Solving = o.limit / time.Duration(2*n)
	}
	began := time.Now()
	r, err := tune.Tune(limited, cfg, o.space, o.options)
	if err != nil {
		return err
	}
	finish()
	if len(r.Rows) > 0 && limited.Err() != nil {
		r.Reason = stopped(limited, r.Reason)
	}
	t := &tuned{cfg: cfg, result: r, options: o, wall: time.Since(began)}
	return p.answerTuning(t)
}

// tuneRefusal words a dimension as the flag that gives it.
func tuneRefusal(err error) error {
	var space *tune.SpaceError
	if errors.As(err, &space) {
		return fmt.Errorf("--%s: %s; %s", strings.ReplaceAll(space.Dimension, " ", "-"), space.Problem, space.Remedy)
	}
	return err
}

// answerTuning writes the best plan, prints the table, and returns the exit code.
func (p *program) answerTuning(t *tuned) error {
	o := t.options
	if len(t.result.Rows) > 0 && o.plan != "" {
		if err := p.write(o.plan, t.planFile().Encode); err != nil {
			return err
		}
	}
	if len(t.result.Rows) > 0 && o.script != "" {
		if err := p.write(o.script, t.script); err != nil {
			return err
		}
	}
	content := t.text
	if o.json {
		content = func(w io.Writer) error { return writeJSON(w, t.json()) }
	}
	if o.plan == standard || o.script == standard {
		if !o.quiet {
			if err := content(p.err); err != nil {
				return err
			}
		}
	} else if err := p.output(standard, content); err != nil {
		return err
	}
	switch {
	case len(t.result.Rows) > 0:
		return nil
	case t.result.Infeasible():
		return exitWith(exitInfeasible)
	}
	return exitWith(exitLimit)
}

// planFile returns the file of the best plan.
func (t *tuned) planFile() *model.PlanFile {
	row := &t.result.Rows[0]
	a := answer{problem: row.Problem, result: row.Result, options: solveOptions{search: t.options.search}}
	return a.planFile()
}
