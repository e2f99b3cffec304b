package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/tune"
)

// Words for plans that are found.
const (
	bySolve = "solve"
	byTune  = "tune"
)

// contestants makes the plans and opens their backends. Of the default schedules it leaves
// out those that do not fit; if none is left, the error has the reasons of all, and the exit code
// of the first that has one. What it has opened it returns also with an error, to be closed.
func (p *program) contestants(ctx context.Context, cfg *config.Config, o *benchOptions) (list []*execution, err error) {
	candidates, err := p.candidates(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	if o.name == onEmulated && o.dilation == 0 {
		if o.dilation, err = commonDilation(candidates, o.tick); err != nil {
			return nil, err
		}
	}
	for _, c := range candidates {
		e, err := newExecution(c, &o.backendOptions)
		if err != nil {
			return list, fmt.Errorf("%s: %w", c.name, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// candidates makes the plans, with a name of its own for each.
func (p *program) candidates(ctx context.Context, cfg *config.Config, o *benchOptions) (list []*candidate, err error) {
	var left []error // why defaults are left out
	for _, spec := range o.specs {
		c, err := p.candidate(ctx, cfg, spec, o)
		switch {
		case err == nil:
			list = append(list, c)
		case ctx.Err() != nil:
			return nil, &exitError{exitLimit, errNothingMeasured}
		case o.asked && strings.HasPrefix(where(err), spec):
			return nil, fmt.Errorf("--schedules: %w", err) // it names the file
		case o.asked:
			return nil, fmt.Errorf("--schedules %s: %w", spec, err)
		case !fitsNot(err):
			return nil, fmt.Errorf("%s: %w", spec, err)
		default:
			left = append(left, fmt.Errorf("%s is left out: %w", spec, err))
		}
	}
	if list == nil {
		return nil, errors.Join(append(left, errors.New("so no schedule is left to execute; name some with --schedules"))...)
	}
	for _, err := range left {
		p.note(o.quiet, "%v", err)
	}
	distinguish(list, o.specs)
	return list, nil
}

// fitsNot reports whether an error says that a schedule does not fit a configuration, or that none
// was found: nothing is wrong with either.
func fitsNot(err error) bool {
	var shape *heuristics.ShapeError
	var choice *cssr.ChoiceError
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code == exitInfeasible || exit.code == exitLimit
	}
	return errors.As(err, &shape) || errors.As(err, &choice)
}

// distinguish gives plan files of one name in several folders their paths as names. Plans are
// parallel to specs, unless defaults were left out, none of which is a file.
func distinguish(list []*candidate, specs []string) {
	count := map[string]int{}
	for _, c := range list {
		count[c.name]++
	}
	for i, c := range list {
		if count[c.name] > 1 {
			c.name = specs[i]
		}
	}
}

// commonDilation returns the dilation that is enough for all plans, so that their times can be
// compared.
func commonDilation(candidates []*candidate, tick time.Duration) (most float64, err error) {
	for _, c := range candidates {
		dilation, err := emulated.SuggestDilation(c.problem, c.plan, tick)
		if err != nil {
			return 0, err
		}
		most = max(most, dilation)
	}
	return most, nil
}

// candidate makes the plan that a word of --schedules asks for.
func (p *program) candidate(ctx context.Context, cfg *config.Config, spec string, o *benchOptions) (*candidate, error) {
	switch {
	case spec == byTune:
		return p.tunedCandidate(ctx, cfg, o)
	case spec == bySolve:
		return p.solvedCandidate(ctx, cfg, o)
	case filepath.Ext(spec) == ".json":
		return p.planCandidate(cfg, spec)
	}
	name, chunks, err := splitSpec(spec)
	if err != nil {
		return nil, err
	}
	s, err := heuristics.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("%w, or write %s, %s or a plan file", err, bySolve, byTune)
	}
	var c *candidate
	if chunks == 0 {
		c, err = namedCandidate(cfg, &s, spec)
	} else {
		c, err = namedIn(cfg, &s, spec, chunks)
	}
	if over := (*limitError)(nil); errors.As(err, &over) {
		return nil, &exitError{exitInfeasible, errors.New(strings.Join(over.lines, "; "))}
	}
	return c, err
}

// splitSpec splits NAME/CHUNKS; without chunks they are 0.
func splitSpec(spec string) (name string, chunks int, err error) {
	name, number, given := strings.Cut(spec, "/")
	if !given {
		return name, 0, nil
	}
	chunks, err = strconv.Atoi(number)
	if err != nil || chunks < 1 {
		return "", 0, fmt.Errorf("behind the stroke stands the number of chunks, such as %s/2", name)
	}
	return name, chunks, nil
}

// specsOf splits the list of --schedules.
func specsOf(list string) ([]string, error) {
	specs := strings.Split(list, ",")
	for i, spec := range specs {
		switch specs[i] = strings.TrimSpace(spec); {
		case specs[i] == "":
			return nil, fmt.Errorf("--schedules %q: a name is empty; write names with commas between them, such as %s", list, strings.Join(benchDefault, ","))
		case slices.Contains(specs[:i], specs[i]):
			return nil, fmt.Errorf("--schedules: %s stands there twice", specs[i])
		}
	}
	return specs, nil
}

// namedCandidate builds a named schedule: in two chunks where it does not fit in one.
func namedCandidate(cfg *config.Config, s *heuristics.Schedule, name string) (*candidate, error) {
	c, err := namedIn(cfg, s, name, 1)
	if shape := (*heuristics.ShapeError)(nil); errors.As(err, &shape) && cfg.Stages == len(cfg.Devices) {
		if c, retried := namedIn(cfg, s, name, 2); retried == nil {
			return c, nil
		}
	}
	return c, err
}

// namedIn builds a named schedule with each stage in so many chunks.
func namedIn(cfg *config.Config, s *heuristics.Schedule, name string, chunks int) (*candidate, error) {
	problem, err := cssr.Build(cfg, s.Choices(chunks, cfg.Routes != nil))
	if err != nil {
		return nil, err
	}
	r, err := named(problem, s)
	if err != nil {
		return nil, err
	}
	return found(name, problem, r)
}

// found returns what a search has found.
func found(name string, problem *model.Problem, r *solve.Result) (*candidate, error) {
	switch {
	case r.Plan != nil:
	case r.Status == solve.Infeasible:
		return nil, &exitError{exitInfeasible, fmt.Errorf("there is no plan: %s", r.Reason)}
	default:
		return nil, &exitError{exitLimit, fmt.Errorf("no plan was found: %s", r.Reason)}
	}
	return &candidate{name, problem, r.Plan}, nil
}

// solvedCandidate solves the configuration as it is.
func (p *program) solvedCandidate(ctx context.Context, cfg *config.Config, o *benchOptions) (*candidate, error) {
	problem, err := cssr.Build(cfg, cssr.Choices{})
	if err != nil {
		return nil, err
	}
	a := answer{problem: problem, options: solveOptions{search: o.search, quiet: o.quiet}}
	if err := p.plan(ctx, &a); err != nil {
		return nil, err
	}
	return found(bySolve, problem, a.result)
}

// tunedCandidate tunes the configuration over the whole space.
func (p *program) tunedCandidate(ctx context.Context, cfg *config.Config, o *benchOptions) (*candidate, error) {
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	show, done := p.tuneProgress(o.quiet, string(cfg.Unit))
	defer done()
	r, err := tune.Tune(limited, cfg, o.space(cfg), tune.Options{
		Seed: o.search.seed, Workers: o.workers, Top: 1, Finalists: 1,
		Building: o.limit / 3, Solving: o.limit / 2, Progress: show,
	})
	if err != nil {
		return nil, tuneRefusal(err)
	}
	if len(r.Rows) == 0 {
		return nil, &exitError{exitLimit, fmt.Errorf("tuning found no plan: %s", r.Reason)}
	}
	return found(byTune, r.Rows[0].Problem, r.Rows[0].Result)
}

// space returns what the backend can execute, and measured costs can predict, of the space of a
// configuration.
func (o *benchOptions) space(cfg *config.Config) (s cssr.Space) {
	if o.name != onCPU || cfg.Model == nil {
		return s
	}
	s.MicroBatchSizes = []int{cfg.Model.MicroBatchSize}
	if cfg.Model.HasVocabulary() {
		s.Vocabulary = []string{string(config.VocabularyNone)}
	}
	return s
}

// planCandidate reads the plan file of the configuration.
func (p *program) planCandidate(cfg *config.Config, name string) (*candidate, error) {
	file, err := p.loadPlan(name)
	if err != nil {
		return nil, err
	}
	if v := judge(file); !v.ok() {
		return nil, &exitError{exitRule, errors.New("the plan breaks rules; flexpipe check explains")}
	}
	own, err := cssr.Build(cfg, cssr.Choices{})
	if err != nil {
		return nil, err
	}
	what, err := otherWork(file.Problem, own)
	if err != nil {
		return nil, err
	}
	if what != "" {
		return nil, &placedError{name, fmt.Errorf("this is the plan of another configuration: %s", what)}
	}
	return &candidate{filepath.Base(name), file.Problem, file.Plan}, nil
}
