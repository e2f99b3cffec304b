package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model/config"
)

// The backends.
const (
	onCPU      = "cpu"
	onEmulated = "emulated"
	onCUDA     = "cuda"
)

// unmeasured says what iterations that warm up are for, where nothing is learnt from them.
const unmeasured = "execute `N` iterations first, unmeasured"

// backendFlags are the flags of commands that execute plans; warmups says what happens in
// iterations that warm up.
func backendFlags(iterations int, warmups string) []cli.Flag {
	return append(iterationFlags(iterations, 3, warmups),
		&cli.StringFlag{Name: "backend", Value: onCPU, Usage: "cpu trains the network, emulated only waits"},
		&cli.DurationFlag{Name: "tick", Value: time.Millisecond, Usage: "emulated: a tick lasts this `TIME`"},
		&cli.Float64Flag{Name: "dilation", DefaultText: "till they last 5ms", Usage: "emulated: operations take `K` times as long"},
		&cli.BoolFlag{Name: "anchored", DisableDefaultText: true, Usage: "emulated: end when predicted; proves nothing about costs"},
	)
}

// iterationFlags are those of every command that measures.
func iterationFlags(iterations, warmup int, warmups string) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "iterations", Value: iterations, Usage: "measure `N` iterations"},
		&cli.IntFlag{Name: "warm-up", Value: warmup, Usage: warmups},
		&cli.DurationFlag{Name: "stall", DefaultText: "30s or more", Usage: "give up when nothing has happened for this `TIME`"},
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

// mostDilation is the largest dilation that --dilation takes.
const mostDilation = 1_000_000

// backendOf reads the flags, and refuses values that mean nothing, also to the backend.
func backendOf(c *cli.Context) (o backendOptions, err error) {
	o = backendOptions{
		name: c.String("backend"), iterations: c.Int("iterations"), warmup: c.Int("warm-up"), tick: c.Duration("tick"),
		dilation: c.Float64("dilation"), anchored: c.Bool("anchored"), stall: c.Duration("stall"), seed: c.Uint64("seed"),
	}
	switch {
	case o.name == onCUDA:
		return o, &exitError{exitUnavailable, fmt.Errorf("--backend %s is not in this build yet; use %s or %s", onCUDA, onCPU, onEmulated)}
	case o.name != onCPU && o.name != onEmulated:
		return o, fmt.Errorf("--backend %q: write %s or %s", o.name, onCPU, onEmulated)
	case o.iterations < 1:
		return o, fmt.Errorf("--iterations %d: at least 1 is needed", o.iterations)
	case o.warmup < 1:
		return o, fmt.Errorf("--warm-up %d: at least 1 is needed", o.warmup)
	case c.IsSet("tick") && o.tick <= 0:
		return o, fmt.Errorf("--tick %v: write a duration above 0, such as 1ms", o.tick)
	case c.IsSet("dilation") && !(o.dilation > 0 && o.dilation <= mostDilation):
		return o, fmt.Errorf("--dilation %v: write a factor above 0, at most %d", o.dilation, mostDilation)
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

// noteTick says when a tick that the user has given changes nothing.
func (p *program) noteTick(c *cli.Context, o *backendOptions, unit string, quiet bool) {
	if o.name == onEmulated && c.IsSet("tick") && unit != string(config.Tick) {
		p.note(quiet, "--tick changes nothing: the costs are in %s", unit)
	}
}
