package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/profile"
)

// ownCosts says that a prediction is by what the plan itself says.
const ownCosts = "by the plan's own costs"

// measuredCosts says that a prediction is by what was measured here.
const measuredCosts = "by costs measured on this machine"

// predictor predicts what plans take.
type predictor struct {
	costs *profile.Costs // nil: by the plans' own costs
	basis string
}

// predict returns what a plan should take. It returns an error if the costs are those of another
// network, or the plan has what costs of layers do not tell.
func (m *predictor) predict(e *execution) (*pipert.Prediction, error) {
	if m.costs == nil {
		return pipert.Predict(e.problem, e.plan, e.perTick)
	}
	prediction, err := m.costs.Predict(e.problem, e.plan, e.blueprint)
	if err != nil {
		return nil, fmt.Errorf("predicting %s: %w", e.name, err)
	}
	return prediction, nil
}

// profiled returns a predictor by a profile file that has the costs of all executions.
func (p *program) profiled(name string, executions ...*execution) (*predictor, error) {
	if name == standard && p.input == standard {
		return nil, errors.New("the argument and --profile both want standard input; name a file for one of them")
	}
	file, err := p.loadProfile(name)
	if err != nil {
		return nil, err
	}
	costs, err := profile.FromFile(file)
	if err != nil {
		return nil, &placedError{displayName(name), err}
	}
	for _, e := range executions {
		if err := profileFits(file, e.blueprint); err != nil {
			return nil, &placedError{displayName(name), err}
		}
		if _, err := costs.Stages(e.blueprint); err != nil {
			return nil, &placedError{displayName(name), fmt.Errorf("%s: %w; measure the network with flexpipe profile", e.name, err)}
		}
	}
	return &predictor{costs, "by the costs in " + displayName(name)}, nil
}

// profileFits tests that a profile was measured on the network of a blueprint.
func profileFits(file *config.Profile, b *network.Blueprint) error {
	if file.Network == "" {
		return nil // its layers are compared where they are added up
	}
	measured, err := network.DecodeBlueprint(string(file.Network))
	if err != nil {
		return err
	}
	if what := otherNetwork(measured, b); what != "" {
		return fmt.Errorf("the profile is that of another network: %s; measure this one with flexpipe profile", what)
	}
	return nil
}

// gathered returns a predictor by what layers and messages took in executions.
func gathered(gauges []*execution, runs []*pipert.Run) (*predictor, error) {
	var measured []profile.Measured
	for i, g := range gauges {
		measured = append(measured, profile.Measured{Program: g.program, Backend: g.profiler(), Run: runs[i]})
	}
	costs, err := profile.Gather(measured)
	if err != nil {
		return nil, err
	}
	return &predictor{costs, measuredCosts}, nil
}

// profiler returns the backend of an execution as one that measures layers, nil if it does not.
func (e *execution) profiler() pipert.Profiler {
	profiler, _ := e.backend.(pipert.Profiler)
	return profiler
}

// gaugesOf opens an execution in which costs are measured for each way of recomputation that the
// executions use. What it has opened it returns also with an error, to be closed.
func gaugesOf(ctx context.Context, cfg *config.Config, executions []*execution, o *backendOptions) (list []*execution, err error) {
	var blueprints []*network.Blueprint
	for _, e := range executions {
		blueprints = append(blueprints, e.blueprint)
	}
	for _, way := range profile.Recomputations(blueprints...) {
		e, err := newGauge(ctx, cfg, way, o)
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

// gaugeName is what progress calls an execution in which costs are measured.
const gaugeName = "measuring costs"

// newGauge opens a plan in which the costs of layers are measured, recomputing in one way.
func newGauge(ctx context.Context, cfg *config.Config, way network.Recompute, o *backendOptions) (*execution, error) {
	c, err := gauge(ctx, cfg, way)
	if ctx.Err() != nil {
		return nil, &exitError{exitLimit, errNothingMeasured}
	}
	if err != nil {
		return nil, fmt.Errorf("measuring costs: %w", err)
	}
	return newExecution(c, o)
}

// gauge makes the plan of newGauge.
func gauge(ctx context.Context, cfg *config.Config, way network.Recompute) (*candidate, error) {
	problem, err := cssr.Build(cssr.Gauge(cfg, way))
	if err != nil {
		return nil, err
	}
	plan, err := heuristics.Gauge(ctx, problem)
	if err != nil {
		return nil, err
	}
	return &candidate{gaugeName, problem, plan}, nil
}
