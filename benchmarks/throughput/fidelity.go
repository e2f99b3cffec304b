package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
)

// bySolve is the name of the plan that a solve finds.
const bySolve = "solved"

// A choice names a schedule of the literature, and the chunks of each stage.
type choice struct {
	name   string
	chunks int
}

// whole are the schedules of the studies with one stage on each device, chunked those with two.
var (
	whole   = []choice{{"gpipe", 1}, {reference, 1}, {"zb-h1", 1}, {"zb-h2", 1}}
	chunked = []choice{{"interleaved", 2}, {"zbv", 2}}
)

// studied returns plans of a configuration: by the schedules, and by solving it.
func (s search) studied(ctx context.Context, cfg *config.Config, schedules []choice) (list []*candidate, err error) {
	for _, schedule := range schedules {
		c, err := named(cfg, schedule.name, schedule.chunks)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", schedule.name, err)
		}
		list = append(list, c)
	}
	c, err := s.solved(ctx, cfg, cssr.Choices{}, bySolve)
	if err != nil {
		return nil, err
	}
	return append(list, c), nil
}

// studyFidelity measures how well iterations are predicted, where devices compute and where
// they wait, and how the loss of a training falls.
func studyFidelity(ctx context.Context, o *options, w io.Writer) error {
	for _, name := range []string{"gpt", "mlp"} {
		if err := computed(ctx, o, name, w); err != nil {
			return err
		}
	}
	if err := waited(ctx, o, w); err != nil {
		return err
	}
	return loss(ctx, o, w)
}

// computed measures on devices that compute.
func computed(ctx context.Context, o *options, name string, w io.Writer) error {
	cfg, err := load(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: two devices that compute, %s\n\n", name, model.Plural(cores(), "core"))
	candidates, err := o.studied(ctx, cfg, slices.Concat(whole, chunked))
	if err != nil {
		return err
	}
	t, err := train(ctx, cfg, candidates, o.repeats, o.seed)
	if err != nil {
		return err
	}
	err = t.report(w, reference)
	fmt.Fprintln(w)
	return err
}

// waited measures on devices that wait, more than there are cores.
func waited(ctx context.Context, o *options, w io.Writer) error {
	cfg, err := load("waiting")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "waiting: %d devices that wait, free-running: 5 ms for a forward and for each half of a backward\n\n", len(cfg.Devices))
	candidates, err := o.studied(ctx, cfg, whole)
	if err != nil {
		return err
	}
	t, err := emulate(ctx, candidates, emulated.Options{}, o.repeats)
	if err != nil {
		return err
	}
	err = t.report(w, reference)
	fmt.Fprintln(w)
	return err
}

// loss trains the small network and prints how its loss falls.
func loss(ctx context.Context, o *options, w io.Writer) error {
	cfg, err := load("small")
	if err != nil {
		return err
	}
	c, err := named(cfg, reference, 1)
	if err != nil {
		return err
	}
	losses, err := trained(ctx, c, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "small: loss of %s by 1F1B, next byte of a text; a guess among %d tokens has %.3f\n\n",
		model.Plural(len(losses), "iteration"), cfg.Model.Parts[0].Vocabulary, math.Log(float64(cfg.Model.Parts[0].Vocabulary)))
	for i, l := range losses {
		if i == 0 || (i+1)%(len(losses)/min(10, len(losses))) == 0 {
			fmt.Fprintf(w, "iteration %3d  %.4f\n", i+1, l)
		}
	}
	return nil
}

// trained trains a candidate and returns the loss of each iteration.
func trained(ctx context.Context, c *candidate, o *options) ([]float64, error) {
	list, err := openCPU([]*candidate{c}, o.seed)
	if err != nil {
		return nil, err
	}
	defer closeAll(list)
	run, err := pipert.Train(ctx, contestants(list)[0], pipert.Settings{Iterations: o.trained})
	if err != nil {
		return nil, err
	}
	return run.Losses, nil
}
