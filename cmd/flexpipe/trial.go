package main

import (
	"context"
	"errors"

	pipert "github.com/flexpipe/flexpipe/runtime"
)

// trial is a number of plans that are executed in turn, an iteration of each before the next of
// any.
type trial struct {
	executions  []*execution
	options     *backendOptions
	warm, runs  []*pipert.Run // parallel to executions
	interrupted bool
}

// errNothingMeasured is why a run that was interrupted has no result.
var errNothingMeasured = errors.New("interrupted before every plan had an iteration that was measured")

// perform executes the iterations that warm up, calls warmed, and executes those that are
// measured. After an interruption it keeps what was measured, if every plan was.
func (t *trial) perform(ctx context.Context, p *program, quiet bool, warmed func() error) (err error) {
	var contestants []pipert.Contestant
	for _, e := range t.executions {
		contestants = append(contestants, e.contestant())
	}
	show, done := p.bar(quiet, (t.options.warmup+t.options.iterations)*len(contestants))
	defer done()
	t.warm, err = pipert.Compare(ctx, contestants, pipert.Settings{Iterations: t.options.warmup, Observe: show})
	if err != nil {
		return t.failed(err)
	}
	if err := warmed(); err != nil {
		return err
	}
	t.runs, err = pipert.Compare(ctx, contestants, pipert.Settings{First: t.options.warmup, Iterations: t.options.iterations, Observe: show})
	if errors.Is(err, errInterrupted) && t.complete() {
		t.interrupted, err = true, nil
	}
	return t.failed(err)
}

// complete reports whether every plan has an iteration that was measured.
func (t *trial) complete() bool { return len(t.runs[len(t.runs)-1].Records) > 0 }

// failed gives an error of the execution its exit code.
func (t *trial) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errInterrupted):
		return &exitError{exitLimit, errNothingMeasured}
	}
	return &exitError{exitFailure, err}
}

// outcome returns what execution i was like.
func (t *trial) outcome(i int, p *pipert.Prediction, basis string) *outcome {
	r := &outcome{execution: t.executions[i], run: t.runs[i], prediction: p, basis: basis, interrupted: t.interrupted}
	r.run.Losses = append(t.warm[i].Losses, r.run.Losses...)
	return r
}
