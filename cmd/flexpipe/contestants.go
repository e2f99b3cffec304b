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
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/profile"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/tune"
)

// Words for plans that are found.
const (
	bySolve = "solve"
	byTune  = "tune"
)

// candidate is a plan that bench executes.
type candidate struct {
	name    string
	problem *model.Problem
	plan    *model.Plan
}

// contestants makes the plans and opens their backends. Of the default schedules it leaves
// out those that do not fit. What it has opened it returns also with an error, to be closed.
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
		e, err := newExecution(c.name, c.problem, c.plan, &o.backendOptions)
		if err != nil {
			return list, fmt.Errorf("%s: %w", c.name, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// candidates makes the plans.
func (p *program) candidates(ctx context.Context, cfg *config.Config, o *benchOptions) (list []*candidate, err error) {
	for _, spec := range o.specs {
		c, err := p.candidate(ctx, cfg, spec, o)
		if err != nil && !o.asked && ctx.Err() == nil {
			p.note(o.quiet, "%s is left out: %v", spec, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec, err)
		}
		list = append(list, c)
	}
	if list == nil {
		return nil, errors.New("no schedule fits; name some with --schedules")
	}
	return list, nil
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
		return tunedCandidate(ctx, cfg, o)
	case spec == bySolve:
		return p.solvedCandidate(ctx, cfg, o)
	case filepath.Ext(spec) == ".json":
		return p.planCandidate(spec)
	}
	name, chunks, listed := strings.Cut(spec, "/")
	s, err := heuristics.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !listed {
		return namedCandidate(cfg, &s, spec)
	}
	v, err := strconv.Atoi(chunks)
	if err != nil || v < 1 {
		return nil, fmt.Errorf("%q: after the stroke stands the number of chunks, such as %s/2", spec, name)
	}
	return namedIn(cfg, &s, spec, v)
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
	o := solveOptions{}
	if o.choices.SplitStages = chunks; chunks == 1 {
		o.choices.SplitStages = 0
	}
	o.adopt(s)
	o.route(cfg)
	problem, err := cssr.Build(cfg, o.choices)
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
	if r.Plan == nil {
		return nil, &exitError{exitInfeasible, fmt.Errorf("there is no plan: %s", r.Reason)}
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
func tunedCandidate(ctx context.Context, cfg *config.Config, o *benchOptions) (*candidate, error) {
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	r, err := tune.Tune(limited, cfg, o.space(cfg), tune.Options{
		Seed: o.search.seed, Workers: o.workers, Top: 1, Finalists: 1,
		Building: o.limit / 3, Solving: o.limit / 2,
	})
	if err != nil {
		return nil, tuneRefusal(err)
	}
	if len(r.Rows) == 0 {
		return nil, &exitError{exitInfeasible, fmt.Errorf("tuning found no plan: %s", r.Reason)}
	}
	return found(byTune, r.Rows[0].Problem, r.Rows[0].Result)
}

// space returns what the backend can execute of the space of a configuration.
func (o *benchOptions) space(cfg *config.Config) (s cssr.Space) {
	if o.name == onCPU && cfg.Model != nil && cfg.Model.HasVocabulary() {
		s.Vocabulary = []string{string(config.VocabularyNone)}
	}
	return s
}

// planCandidate reads a plan file.
func (p *program) planCandidate(name string) (*candidate, error) {
	file, err := p.loadPlan(name)
	if err != nil {
		return nil, err
	}
	if v := judge(file); !v.ok() {
		return nil, &exitError{exitRule, errors.New("the plan breaks rules; flexpipe check explains")}
	}
	return &candidate{name, file.Problem, file.Plan}, nil
}

// gauges returns executions in which the costs of the layers are measured: none for a backend
// that knows its durations; else one, with both halves of the backward apart, for each way of
// recomputation that the executions use.
func (p *program) gauges(ctx context.Context, cfg *config.Config, executions []*execution, o *benchOptions) (list []*execution, err error) {
	if o.name != onCPU || o.profile != "" {
		return nil, nil
	}
	for way, used := range recomputations(executions) {
		if !used {
			continue
		}
		c, err := gauge(ctx, cfg, network.Recompute(way))
		if err != nil {
			return list, fmt.Errorf("measuring costs: %w", err)
		}
		e, err := newExecution("costs", c.problem, c.plan, &o.backendOptions)
		if err != nil {
			return list, fmt.Errorf("measuring costs: %w", err)
		}
		list = append(list, e)
	}
	return list, nil
}

// recomputations says which ways of recomputation stages of the executions use.
func recomputations(executions []*execution) (used [network.NumRecomputes]bool) {
	for _, e := range executions {
		for _, stage := range e.blueprint.Stages {
			used[stage.Recompute] = true
		}
	}
	return used
}

// gauge returns a plan with both halves of every backward apart, whatever memory it takes.
func gauge(ctx context.Context, cfg *config.Config, way network.Recompute) (*candidate, error) {
	split := model.Split
	problem, err := cssr.Build(withoutLimits(cfg), cssr.Choices{Backward: &split, Recompute: []network.Recompute{way}})
	if err != nil {
		return nil, err
	}
	if s, err := heuristics.Lookup(reference); err == nil {
		if plan, err := s.Build(problem); err == nil {
			return &candidate{"costs", problem, plan}, nil
		}
	}
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := portfolio.Solve(limited, problem, portfolio.Options{Mode: portfolio.Heuristic, Seed: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	return found("costs", problem, r)
}

// costs returns the costs of layers that gauges have measured, or those of a profile; nil where
// there is neither.
func (p *program) costs(gauges []*execution, runs []*pipert.Run, file string) (*profile.Costs, error) {
	if file != "" {
		read, err := p.loadProfile(file)
		if err != nil {
			return nil, err
		}
		return profile.FromFile(read)
	}
	if len(gauges) == 0 {
		return nil, nil
	}
	var measured []profile.Measured
	for i, g := range gauges {
		measured = append(measured, profile.Measured{Backend: g.backend.(pipert.Profiler), Hops: pipert.Hops(g.program, runs[i].Records)})
	}
	return profile.Gather(measured)
}

// predict returns what the plan should take by costs, or by its own where they are none.
func (e *execution) predict(costs *profile.Costs) (*pipert.Prediction, error) {
	if costs == nil {
		return pipert.Predict(e.problem, e.plan, e.perTick)
	}
	stages, err := costs.Stages(e.blueprint)
	if err != nil {
		return nil, err
	}
	problem, err := pipert.Retime(e.problem, stages, costs.Latency())
	if err != nil {
		return nil, err
	}
	return pipert.Predict(problem, e.plan, 1)
}

// withoutLimits returns a configuration whose devices hold whatever a plan takes.
func withoutLimits(cfg *config.Config) *config.Config {
	free := *cfg
	free.Devices = slices.Clone(cfg.Devices)
	for d := range free.Devices {
		free.Devices[d].Limit = nil
	}
	return &free
}
