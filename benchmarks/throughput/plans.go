package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/runtime/profile"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/tune"
)

// reference is the schedule that others are compared with.
const reference = "1f1b"

// A candidate is a plan to execute.
type candidate struct {
	name    string
	problem *model.Problem
	plan    *model.Plan
}

// blueprint returns the network of the candidate.
func (c *candidate) blueprint() (*network.Blueprint, error) {
	return network.DecodeBlueprint(c.problem.Pipeline.Network)
}

// named builds a schedule of the literature on a configuration, with each stage in so many
// chunks. It returns an error for one that does not fit, also if only memory is too small.
func named(cfg *config.Config, name string, chunks int) (*candidate, error) {
	s, err := heuristics.Lookup(name)
	if err != nil {
		return nil, err
	}
	return built(cfg, s.Choices(chunks, cfg.Routes != nil), name, name)
}

// built builds a schedule of the literature for given choices, and judges it.
func built(cfg *config.Config, choices cssr.Choices, schedule, name string) (*candidate, error) {
	s, err := heuristics.Lookup(schedule)
	if err != nil {
		return nil, err
	}
	p, err := cssr.Build(cfg, choices)
	if err != nil {
		return nil, err
	}
	plan, err := s.Build(p)
	if err != nil {
		return nil, err
	}
	timeline, err := model.Evaluate(p, plan)
	if err != nil {
		return nil, err
	}
	if err := constraints.Check(p, plan, timeline).Err(); err != nil {
		return nil, fmt.Errorf("%s breaks a rule: %w", name, err)
	}
	return &candidate{name, p, plan}, nil
}

// search says how long and how to look for plans.
type search struct {
	limit   time.Duration
	seed    uint64
	workers int
	mode    portfolio.Mode
}

// solved returns the best plan that is found for a configuration and choices.
func (s search) solved(ctx context.Context, cfg *config.Config, choices cssr.Choices, name string) (*candidate, error) {
	p, err := cssr.Build(cfg, choices)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	r, err := portfolio.Solve(limited, p, portfolio.Options{Seed: s.seed, Workers: s.workers, Mode: s.mode})
	if err != nil {
		return nil, err
	}
	return found(name, p, r)
}

// tuned returns the best plan of the space of a configuration.
func (s search) tuned(ctx context.Context, cfg *config.Config, space cssr.Space, name string) (*candidate, error) {
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	r, err := tune.Tune(limited, cfg, space, tune.Options{
		Seed: s.seed, Workers: s.workers, Top: 1, Finalists: 1, Building: s.limit / 3, Solving: s.limit / 3,
	})
	if err != nil {
		return nil, err
	}
	if len(r.Rows) == 0 {
		return nil, errors.New("tuning found no plan: " + r.Reason)
	}
	return found(name, r.Rows[0].Problem, r.Rows[0].Result)
}

func found(name string, p *model.Problem, r *solve.Result) (*candidate, error) {
	if r.Plan == nil {
		return nil, fmt.Errorf("%s: there is no plan: %s", name, r.Reason)
	}
	return &candidate{name, p, r.Plan}, nil
}

// gauge returns a plan in which costs are measured, recomputing in one way.
func gauge(ctx context.Context, cfg *config.Config, way network.Recompute) (*candidate, error) {
	const name = "costs"
	p, err := cssr.Build(cssr.Gauge(cfg, way))
	if err != nil {
		return nil, fmt.Errorf("measuring costs: %w", err)
	}
	plan, err := heuristics.Gauge(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("measuring costs: %w", err)
	}
	return &candidate{name, p, plan}, nil
}

// gaugesOf returns a gauge for each way of recomputation.
func gaugesOf(ctx context.Context, cfg *config.Config, ways []network.Recompute) (list []*candidate, err error) {
	for _, way := range ways {
		g, err := gauge(ctx, cfg, way)
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// gauges returns a gauge for each way of recomputation that candidates use.
func gauges(ctx context.Context, cfg *config.Config, candidates []*candidate) ([]*candidate, error) {
	var blueprints []*network.Blueprint
	for _, c := range candidates {
		b, err := c.blueprint()
		if err != nil {
			return nil, err
		}
		blueprints = append(blueprints, b)
	}
	return gaugesOf(ctx, cfg, profile.Recomputations(blueprints...))
}

// withLimit returns a configuration whose devices all have one memory limit, nil for none.
func withLimit(cfg *config.Config, limit *config.Decimal) *config.Config {
	c := *cfg
	c.Devices = slices.Clone(cfg.Devices)
	for d := range c.Devices {
		c.Devices[d].Limit = limit
	}
	return &c
}
