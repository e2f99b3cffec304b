package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// trial is a number of plans that are executed in turn, an iteration of each before the next of
// any.
type trial struct {
	executions  []*execution
	options     *backendOptions
	warm, runs  []*pipert.Run // parallel to executions; warm only after performGauged
	interrupted bool
}

// errNothingMeasured is why a run that was interrupted has no result.
var errNothingMeasured = errors.New("interrupted before every plan had an iteration that was measured")

// perform executes the iterations that warm up and those that are measured. After an interruption
// it keeps what was measured, if every plan was.
func (t *trial) perform(ctx context.Context, p *program, quiet bool) error {
	show, done := t.bar(p, quiet)
	defer done()
	return t.measure(ctx, pipert.Settings{Warmup: t.options.warmup, Iterations: t.options.iterations, Observe: show})
}

// performGauged does what perform does, and calls gauge in between, when the iterations that warm
// up have told what layers and messages take.
func (t *trial) performGauged(ctx context.Context, p *program, quiet bool, gauge func() error) error {
	show, done := t.bar(p, quiet)
	defer done()
	if err := t.warmUp(ctx, show); err != nil {
		return err
	}
	if err := gauge(); err != nil {
		return err
	}
	return t.measure(ctx, pipert.Settings{First: t.options.warmup, Iterations: t.options.iterations, Observe: show})
}

// bar shows how many iterations of all plans have ended.
func (t *trial) bar(p *program, quiet bool) (show func(pipert.Progress), done func()) {
	return p.bar(quiet, (t.options.warmup+t.options.iterations)*len(t.executions))
}

// warmUp executes the iterations that warm up. Of several the first is not kept: caches are cold,
// and pages of memory are touched for the first time, so it says little about what follows.
func (t *trial) warmUp(ctx context.Context, show func(pipert.Progress)) (err error) {
	s := pipert.Settings{Iterations: t.options.warmup, Observe: show}
	if s.Iterations > 1 {
		s.Warmup, s.Iterations = 1, s.Iterations-1
	}
	t.warm, err = pipert.Compare(ctx, t.contestants(), s)
	return t.failed(err)
}

// measure executes the iterations whose records count.
func (t *trial) measure(ctx context.Context, s pipert.Settings) (err error) {
	t.runs, err = pipert.Compare(ctx, t.contestants(), s)
	if errors.Is(err, errInterrupted) && t.complete() {
		t.interrupted, err = true, nil
	}
	return t.failed(err)
}

// contestants returns what package runtime executes.
func (t *trial) contestants() (list []pipert.Contestant) {
	for _, e := range t.executions {
		list = append(list, e.contestant())
	}
	return list
}

// complete reports whether every plan has an iteration that was measured.
func (t *trial) complete() bool { return len(t.runs[len(t.runs)-1].Records) > 0 }

// failed gives an error of the execution its exit code.
func (t *trial) failed(err error) error {
	var fault *pipert.Fault
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errInterrupted):
		return &exitError{exitLimit, errNothingMeasured}
	case errors.As(err, &fault) && fault.Cause == pipert.Stalled:
		err = fmt.Errorf("%w\nif an operation may take that long, give it more time with --stall", err)
	}
	return &exitError{exitFailure, err}
}

// counts says how many iterations were measured, and whether more were meant to be.
func (t *trial) counts() string {
	text := model.Plural(len(t.runs[0].Records), "iteration")
	if t.interrupted {
		text += ", then interrupted"
	}
	return text
}

// outcome returns what execution i was like.
func (t *trial) outcome(i int, p *pipert.Prediction, basis string) *outcome {
	r := &outcome{execution: t.executions[i], run: t.runs[i], prediction: p, basis: basis, interrupted: t.interrupted}
	if t.warm != nil {
		r.run.Losses = append(t.warm[i].Losses, r.run.Losses...)
	}
	return r
}
