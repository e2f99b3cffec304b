package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/cpu"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// candidate is a plan that is to be executed.
type candidate struct {
	name    string
	problem *model.Problem
	plan    *model.Plan
}

// execution is a plan on a backend.
type execution struct {
	*candidate
	program   *lower.Program
	blueprint *network.Blueprint // nil: the plan knows no network
	backend   pipert.Backend
	engine    *pipert.Engine
	perTick   float64 // nanoseconds of a tick; 0: the backend's durations are not those of the plan
	dilation  float64 // emulated
}

// newExecution lowers a plan and opens its backend. The caller closes the backend.
func newExecution(c *candidate, o *backendOptions) (*execution, error) {
	e := &execution{candidate: c}
	var err error
	if text := c.problem.Pipeline.Network; text != "" {
		if e.blueprint, err = network.DecodeBlueprint(text); err != nil {
			return nil, err
		}
	}
	if e.program, err = lower.Lower(c.problem, c.plan); err != nil {
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
	e.engine, err = pipert.NewEngine(e.program, e.backend.Devices(), pipert.Options{Stall: e.stall(o), LockThreads: o.name == onCPU})
	if err != nil {
		return nil, errors.Join(err, e.backend.Close())
	}
	return e, nil
}

// openCPU opens the backend that trains. Errors say what of the plan it cannot execute, or that the
// machine has too little memory.
func (e *execution) openCPU(o *backendOptions) error {
	switch {
	case e.blueprint == nil:
		return errNoNetwork
	case e.problem.Pipeline.Blocking:
		return errors.New("--backend cpu: transfers are copies in memory and occupy nobody; set communication: {mode: overlapped}, or use --backend emulated")
	}
	if err := e.fitsMachine(); err != nil {
		return err
	}
	backend, err := cpu.Open(e.program, e.blueprint, cpu.Options{Seed: o.seed, Timed: true})
	if err != nil {
		return err
	}
	e.backend = backend
	return nil
}

// errNoNetwork is why abstract costs do not run on real devices.
var errNoNetwork = errors.New("there are costs, but no network that could be trained; " +
	"run it with --backend emulated, which waits as long as operations take, or give the configuration a model")

// openEmulated opens the backend that only waits, with the least dilation at which its waits are
// exact unless the user chooses one.
func (e *execution) openEmulated(o *backendOptions) (err error) {
	if e.dilation = o.dilation; e.dilation == 0 {
		if e.dilation, err = emulated.SuggestDilation(e.problem, e.plan, o.tick); err != nil {
			return err
		}
	}
	backend, err := emulated.Open(e.program, emulated.Options{Tick: o.tick, Dilation: e.dilation, Anchored: o.anchored})
	if err != nil {
		return err
	}
	e.backend, e.perTick = backend, backend.PerTick()
	return nil
}

// leastStall is how long nothing may happen in any execution, unless the user says otherwise.
const leastStall = 30 * time.Second

// stall returns how long nothing may happen before the execution is given up.
func (e *execution) stall(o *backendOptions) time.Duration {
	if o.stall > 0 {
		return o.stall
	}
	return patience(e.longestQuiet(), e.perTick, leastStall)
}

// patience returns twenty times what lasts so many ticks, at least least: what takes that much
// longer than it should has come to a halt.
func patience(longest model.Time, perTick float64, least time.Duration) time.Duration {
	const most = float64(math.MaxInt64 / 2) // a float64 near the largest duration may be above it
	return max(least, time.Duration(min(20*float64(longest)*perTick, most)))
}

// longestQuiet returns the longest time, in ticks, in which an ideal execution neither starts nor
// ends an operation: while one runs, with the factor of its micro-batch, or waits for a message.
func (e *execution) longestQuiet() model.Time {
	p := e.problem
	longest := p.Pipeline.Latency
	for _, link := range p.Pipeline.Links {
		longest = max(longest, link.Latency)
	}
	for row := range p.Rows {
		for _, pred := range p.Rows[row].Preds {
			longest = max(longest, pred.Lag)
		}
	}
	for _, order := range e.plan.Order {
		for _, op := range order {
			longest = max(longest, p.Duration(op))
		}
	}
	return longest
}

// contestant returns what package runtime executes.
func (e *execution) contestant() pipert.Contestant {
	return pipert.Contestant{Name: e.name, Engine: e.engine, Backend: e.backend}
}

// functional reports whether actors share cores, so that times say nothing about speed. Engines
// beside devices are no actors that compute.
func (e *execution) functional() bool {
	return e.perTick == 0 && e.problem.Pipeline.RealDevices() > cores()
}

// cores is how many operations can be computed at the same moment.
func cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// label says what the times are those of.
func (e *execution) label() string {
	if labelled, ok := e.backend.(interface{ Label() string }); ok {
		return labelled.Label()
	}
	actors, cores := model.Plural(e.problem.Pipeline.RealDevices(), "actor"), model.Plural(cores(), "core")
	if e.functional() {
		return fmt.Sprintf("%s, functional: %s share %s, so times say nothing about speed", e.backend.Name(), actors, cores)
	}
	return fmt.Sprintf("%s, %s on %s", e.backend.Name(), actors, cores)
}

// closeAll closes the backends of executions, the last one first: each gives the process the number
// of processors back that it found. It returns the errors of all.
func closeAll(executions []*execution) error {
	var failed []error
	for _, e := range slices.Backward(executions) {
		if err := e.backend.Close(); err != nil {
			failed = append(failed, &exitError{exitFailure, fmt.Errorf("closing %s: %w", e.name, err)})
		}
	}
	return errors.Join(failed...)
}
