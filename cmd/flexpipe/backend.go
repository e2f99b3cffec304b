package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/cpu"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// The backends.
const (
	onCPU      = "cpu"
	onEmulated = "emulated"
	onCUDA     = "cuda"
)

// backendFlags are the flags of commands that execute plans.
func backendFlags(iterations int) []cli.Flag {
	return append(iterationFlags(iterations),
		&cli.StringFlag{Name: "backend", Value: onCPU, Usage: "cpu trains the network, emulated only waits"},
		&cli.DurationFlag{Name: "tick", Value: time.Millisecond, Usage: "emulated: the `TIME` that a tick lasts where costs have no physical unit"},
		&cli.Float64Flag{Name: "dilation", DefaultText: "so that no operation is shorter than 5ms", Usage: "emulated: let everything take `K` times as long"},
		&cli.BoolFlag{Name: "anchored", DisableDefaultText: true, Usage: "emulated: start at the planned moment, so that delays do not add up; proves nothing about costs"},
	)
}

// iterationFlags are those of every command that measures.
func iterationFlags(iterations int) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "iterations", Value: iterations, Usage: "measure `N` iterations"},
		&cli.IntFlag{Name: "warm-up", Value: 3, Usage: "before `N` that are not measured"},
		&cli.DurationFlag{Name: "stall", DefaultText: "30s, or 20 times the longest operation", Usage: "give up when nothing has happened for this `TIME`"},
	}
}

// backendOptions are the parsed flags of backendFlags.
type backendOptions struct {
	name       string
	iterations int
	warmup     int
	tick       time.Duration
	dilation   float64 // 0: chosen for the problem
	anchored   bool
	stall      time.Duration // 0: chosen for the problem
	seed       uint64
}

func backendOf(c *cli.Context) (o backendOptions, err error) {
	o = backendOptions{
		name: c.String("backend"), iterations: c.Int("iterations"), warmup: c.Int("warm-up"), tick: c.Duration("tick"),
		dilation: c.Float64("dilation"), anchored: c.Bool("anchored"), stall: c.Duration("stall"), seed: c.Uint64("seed"),
	}
	switch {
	case o.name == onCUDA:
		return o, &exitError{exitUnavailable, errors.New("--backend cuda is not in this build yet; use cpu or emulated")}
	case o.name != onCPU && o.name != onEmulated:
		return o, fmt.Errorf("--backend %q: write %s or %s", o.name, onCPU, onEmulated)
	case o.iterations < 1:
		return o, fmt.Errorf("--iterations %d: at least 1 is needed", o.iterations)
	case o.warmup < 0 || o.warmup == 0 && o.name == onCPU:
		return o, fmt.Errorf("--warm-up %d: at least 1 is needed, costs are measured in it", o.warmup)
	case c.IsSet("tick") && o.tick <= 0:
		return o, fmt.Errorf("--tick %v: write a duration above 0, such as 1ms", o.tick)
	case c.IsSet("dilation") && !(o.dilation > 0 && o.dilation <= 1e6):
		return o, fmt.Errorf("--dilation %v: write a factor above 0, at most 1000000", o.dilation)
	case c.IsSet("stall") && o.stall <= 0:
		return o, fmt.Errorf("--stall %v: write a duration above 0, such as 30s", o.stall)
	}
	return o, o.checkOnly(c)
}

// checkOnly refuses flags that mean nothing to the backend.
func (o *backendOptions) checkOnly(c *cli.Context) error {
	for _, flag := range []string{"tick", "dilation", "anchored"} {
		if c.IsSet(flag) && o.name != onEmulated {
			return fmt.Errorf("--%s belongs to --backend %s", flag, onEmulated)
		}
	}
	return nil
}

// execution is a plan that is being executed.
type execution struct {
	name      string
	problem   *model.Problem
	plan      *model.Plan
	program   *lower.Program
	blueprint *network.Blueprint // nil: the plan knows no network
	backend   pipert.Backend
	engine    *pipert.Engine
	perTick   float64 // nanoseconds of a tick; 0: its costs are measured
	dilation  float64 // emulated
}

// newExecution lowers a plan and opens its backend. The caller closes the backend.
func newExecution(name string, problem *model.Problem, plan *model.Plan, o *backendOptions) (*execution, error) {
	e := &execution{name: name, problem: problem, plan: plan}
	var err error
	if text := problem.Pipeline.Network; text != "" {
		if e.blueprint, err = network.DecodeBlueprint(text); err != nil {
			return nil, err
		}
	}
	if e.program, err = lower.Lower(problem, plan); err != nil {
		return nil, err
	}
	if _, err := e.program.Check(); err != nil {
		return nil, &exitError{exitRule, err}
	}
	if o.name == onCPU {
		err = e.openCPU(o)
	} else {
		err = e.openEmulated(o)
	}
	if err != nil {
		return nil, err
	}
	e.engine, err = pipert.NewEngine(e.program, e.backend.Devices(), pipert.Options{Stall: e.stall(o), LockThreads: true})
	if err != nil {
		return nil, errors.Join(err, e.backend.Close())
	}
	return e, nil
}

func (e *execution) openCPU(o *backendOptions) (err error) {
	if e.blueprint == nil {
		return errors.New("the plan has costs but no network that could be trained; " +
			"run it with --backend emulated, or give the configuration a model")
	}
	e.backend, err = cpu.Open(e.program, e.blueprint, cpu.Options{Seed: o.seed, Timed: true})
	return err
}

func (e *execution) openEmulated(o *backendOptions) (err error) {
	if e.dilation = o.dilation; e.dilation == 0 {
		if e.dilation, err = emulated.SuggestDilation(e.problem, e.plan, o.tick); err != nil {
			return err
		}
	}
	if e.perTick, err = emulated.Scale(e.problem, o.tick, e.dilation); err != nil {
		return err
	}
	e.backend, err = emulated.Open(e.program, emulated.Options{Tick: o.tick, Dilation: e.dilation, Anchored: o.anchored})
	return err
}

// stall returns how long nothing may happen.
func (e *execution) stall(o *backendOptions) time.Duration {
	if o.stall > 0 {
		return o.stall
	}
	longest := model.Time(0)
	for row := range e.problem.Rows {
		longest = max(longest, e.problem.Rows[row].Duration)
	}
	return max(30*time.Second, time.Duration(20*float64(longest)*e.perTick))
}

// contestant returns what runtime executes.
func (e *execution) contestant() pipert.Contestant {
	return pipert.Contestant{Name: e.name, Engine: e.engine, Backend: e.backend}
}

// functional reports whether actors share cores, so that times say nothing about speed.
func (e *execution) functional() bool {
	return e.backend.Name() == onCPU && e.problem.NumDevices() > min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
}

// ranBadly gives the error of an execution its exit code.
func ranBadly(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitFailure, err}
}
