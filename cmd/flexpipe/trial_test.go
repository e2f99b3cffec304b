package main

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// diary is a backend that writes down which iterations it executes, and when it is to forget times.
type diary struct {
	pipert.Backend
	lines []string
}

func (d *diary) Begin(iteration int) error {
	d.lines = append(d.lines, strconv.Itoa(iteration))
	return d.Backend.Begin(iteration)
}
func (d *diary) Layers() []pipert.LayerCosts { return nil }
func (d *diary) ResetTimes()                 { d.lines = append(d.lines, "reset") }

// TestWarmUp demands that costs never come from the first of several iterations that warm up, and
// that iterations are numbered through.
func TestWarmUp(t *testing.T) {
	for _, c := range []struct {
		warmup int
		gauged bool
		want   []string
	}{
		{1, false, []string{"0", "reset", "1", "2"}},
		{3, false, []string{"0", "1", "2", "reset", "3", "4"}},
		{1, true, []string{"0", "gauge", "1", "2"}},
		{3, true, []string{"0", "reset", "1", "2", "gauge", "3", "4"}},
	} {
		problem := modelgen.Unit(1, 1)
		o := &backendOptions{name: onEmulated, tick: time.Microsecond, dilation: 1, warmup: c.warmup, iterations: 2}
		e, err := newExecution(&candidate{"unit", problem, modelgen.OneForwardOneBackward(problem)}, o)
		if err != nil {
			t.Fatal(err)
		}
		d := &diary{Backend: e.backend}
		e.backend = d
		trial := &trial{executions: []*execution{e}, options: o}
		if c.gauged {
			err = trial.performGauged(t.Context(), &program{}, true, func() error {
				d.lines = append(d.lines, "gauge")
				if got, want := len(trial.warm[0].Records), max(1, c.warmup-1); got != want {
					t.Errorf("warm-up of %d: costs come from %d iterations, want %d", c.warmup, got, want)
				}
				return nil
			})
		} else {
			err = trial.perform(t.Context(), &program{}, true)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.lines, c.want) {
			t.Errorf("warm-up of %d, gauged %v: %v, want %v", c.warmup, c.gauged, d.lines, c.want)
		}
		r := trial.outcome(0, &pipert.Prediction{}, "")
		if losses, records := len(r.run.Losses), len(r.run.Records); losses != c.warmup+2 || records != 2 {
			t.Errorf("warm-up of %d: %d losses and %d records", c.warmup, losses, records)
		}
		if err := closeAll(trial.executions); err != nil {
			t.Error(err)
		}
	}
}
