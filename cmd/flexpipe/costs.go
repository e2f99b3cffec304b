package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/profile"
	"github.com/flexpipe/flexpipe/solve/portfolio"
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
	stages, err := m.costs.Stages(e.blueprint)
	if err != nil {
		return nil, fmt.Errorf("predicting %s: %w", e.name, err)
	}
	problem, err := pipert.Retime(e.problem, stages, m.costs.Latency())
	if err != nil {
		return nil, fmt.Errorf("predicting %s: %w", e.name, err)
	}
	return pipert.Predict(problem, e.plan, 1)
}

// profiled returns a predictor by a profile file that fits the network of an execution.
func (p *program) profiled(name string, e *execution) (*predictor, error) {
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
	if err := profileFits(file, e.blueprint); err != nil {
		return nil, &placedError{displayName(name), err}
	}
	return &predictor{costs, "by the costs in " + displayName(name)}, nil
}

// profileFits tests that a profile was measured on the network of a blueprint.
func profileFits(file *config.Profile, b *network.Blueprint) error {
	if file.Network == "" {
		return nil // its layers are compared when costs are added up
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
		measured = append(measured, profile.Measured{Backend: g.profiler(), Hops: pipert.Hops(g.program, runs[i].Records)})
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
	for way, used := range recomputations(executions) {
		if !used {
			continue
		}
		e, err := newGauge(ctx, cfg, network.Recompute(way), o)
		if err != nil {
			return list, err
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

// gaugeName is what progress calls an execution in which costs are measured.
const gaugeName = "measuring costs"

// newGauge opens a plan in which the costs of layers are measured: both halves of every backward
// apart, one way of recomputation, whatever memory it takes.
func newGauge(ctx context.Context, cfg *config.Config, way network.Recompute, o *backendOptions) (*execution, error) {
	split := model.Split
	choices := cssr.Choices{Backward: &split}
	if cfg.Model != nil { // else the stages are given, with their recomputation
		choices.Recompute = []network.Recompute{way}
	}
	problem, err := cssr.Build(unbound(cfg), choices)
	if err != nil {
		return nil, fmt.Errorf("measuring costs: %w", err)
	}
	plan, err := gaugePlan(ctx, problem)
	if err != nil {
		return nil, fmt.Errorf("measuring costs: %w", err)
	}
	return newExecution(&candidate{gaugeName, problem, plan}, o)
}

// gaugePlan returns 1F1B, or where that does not fit the first plan that rules find.
func gaugePlan(ctx context.Context, problem *model.Problem) (*model.Plan, error) {
	if s, err := heuristics.Lookup(reference); err == nil {
		if plan, err := s.Build(problem); err == nil {
			return plan, nil
		}
	}
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := portfolio.Solve(limited, problem, portfolio.Options{Mode: portfolio.Heuristic, Seed: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	c, err := found(gaugeName, problem, r)
	if err != nil {
		return nil, err
	}
	return c.plan, nil
}

// mostGauged is how many micro-batches for each device are enough to measure costs while all
// devices are at work.
const mostGauged = 4

// unbound returns a configuration whose devices hold whatever a plan takes, whose transfers
// occupy nobody, and whose micro-batches are no more than measuring needs.
func unbound(cfg *config.Config) *config.Config {
	free := *cfg
	if cfg.RouteOf == nil && cfg.Factors == nil {
		free.MicroBatches = min(cfg.MicroBatches, mostGauged*len(cfg.Devices))
	}
	free.Communication.Blocking = false
	free.Devices = slices.Clone(cfg.Devices)
	for d := range free.Devices {
		free.Devices[d].Limit = nil
	}
	return &free
}
