package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/runtime/emulated"
)

// The plans of the study, from the default of Megatron-LM to what the whole space has.
const (
	evenly      = "1F1B, equal layers"
	solvedEven  = "solved, equal layers"
	balanced    = "1F1B, balanced layers"
	tunedWhole  = "tuned"
	tunedShared = "tuned, vocabulary shared"
)

// studyEffect measures what planning gains on networks with a large head.
func studyEffect(ctx context.Context, o *options, w io.Writer) error {
	if err := effectComputed(ctx, o, w); err != nil {
		return err
	}
	for _, name := range []string{"head-4", "head-8"} {
		if err := effectWaited(ctx, o, name, w); err != nil {
			return err
		}
	}
	return nil
}

// effectComputed profiles the network on this machine, plans with these costs, and trains by
// the plans.
func effectComputed(ctx context.Context, o *options, w io.Writer) error {
	folder, remove, err := o.folder()
	if err != nil {
		return err
	}
	defer remove()
	cfg, err := o.profiled(ctx, folder, "head")
	if err != nil {
		return err
	}
	cfg, need, err := equalLimit(cfg)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: two devices that compute, %s; costs measured here\n", cfg.Name, model.Plural(cores(), "core"))
	fmt.Fprintf(w, "memory limit of each device: %.1f MiB, what 1F1B needs\n\n", float64(need)/(1<<20))
	candidates, err := o.compared(ctx, cfg)
	if err != nil {
		return err
	}
	if err := writePlans(folder, candidates); err != nil {
		return err
	}
	t, err := train(ctx, cfg, candidates, o.repeats, o.seed)
	if err != nil {
		return err
	}
	if err := t.report(w, evenly); err != nil {
		return err
	}
	return t.printLayers(w)
}

// effectWaited plans a network with counted costs, and runs the plans on devices that wait.
func effectWaited(ctx context.Context, o *options, name string, w io.Writer) error {
	cfg, err := load(name)
	if err != nil {
		return err
	}
	cfg, need, err := equalLimit(cfg)
	if err != nil {
		return err
	}
	candidates, err := o.compared(ctx, cfg)
	if err != nil {
		return err
	}
	shared, err := o.tuned(ctx, cfg, cssr.Space{}, tunedShared)
	if err != nil {
		return err
	}
	candidates = append(candidates, shared)
	scale, err := emulated.Scale(candidates[0].problem, 0, 1)
	if err != nil {
		return err
	}
	dilation := float64(shortestOperation) / (float64(leastForward(candidates[0].problem)) * scale)
	fmt.Fprintf(w, "\n%s: %d devices that wait, free-running; counted costs, %.2f times as long\n", cfg.Name, len(cfg.Devices), dilation)
	fmt.Fprintf(w, "memory limit of each device: %.1f GiB, what 1F1B needs\n\n", float64(need)/(1<<30))
	t, err := emulate(ctx, candidates, emulated.Options{Dilation: dilation}, o.repeats)
	if err != nil {
		return err
	}
	return t.report(w, evenly)
}

// shortestOperation is how long the shortest forward of [evenly] lasts on devices that wait.
const shortestOperation = 10 * time.Millisecond

// leastForward returns the shortest forward of a problem, in ticks.
func leastForward(p *model.Problem) (least model.Time) {
	for row := range p.Rows {
		if r := &p.Rows[row]; r.Kind == model.Forward && (least == 0 || r.Duration < least) {
			least = r.Duration
		}
	}
	return least
}

// compared returns the plans from equal layers by 1F1B to the tuned one, for layers that
// devices do not share.
func (o *options) compared(ctx context.Context, cfg *config.Config) (list []*candidate, err error) {
	fused, even, err := evenChoices(cfg)
	if err != nil {
		return nil, err
	}
	list = make([]*candidate, 4)
	if list[0], err = built(cfg, fused, reference, evenly); err != nil {
		return nil, err
	}
	if list[1], err = o.solved(ctx, cfg, even, solvedEven); err != nil {
		return nil, err
	}
	if list[2], err = o.balanced(cfg); err != nil {
		return nil, err
	}
	list[3], err = o.tuned(ctx, cfg, cssr.Space{Vocabulary: []string{string(config.VocabularyNone)}}, tunedWhole)
	return list, err
}

// evenChoices returns equal layers, with the backward of 1F1B and in halves.
func evenChoices(cfg *config.Config) (fused, split cssr.Choices, err error) {
	s, err := heuristics.Lookup(reference)
	if err != nil {
		return fused, split, err
	}
	split.Partition, err = cssr.Cut(cfg, cssr.Choices{}, config.Even)
	fused = split
	fused.Backward = &s.Backward
	return fused, split, err
}

// balanced returns 1F1B on layers balanced by their costs.
func (o *options) balanced(cfg *config.Config) (*candidate, error) {
	c, err := named(cfg, reference, 1)
	if err != nil {
		return nil, err
	}
	c.name = balanced
	return c, nil
}

// equalLimit returns the configuration with one memory limit for all devices, the least with
// which 1F1B runs both on equal and on balanced layers.
func equalLimit(cfg *config.Config) (*config.Config, int64, error) {
	fused, _, err := evenChoices(cfg)
	if err != nil {
		return nil, 0, err
	}
	free := withLimit(cfg, nil)
	even, err := built(free, fused, reference, evenly)
	if err != nil {
		return nil, 0, err
	}
	other, err := named(free, reference, 1)
	if err != nil {
		return nil, 0, err
	}
	most := int64(0)
	for _, c := range []*candidate{even, other} {
		need, err := c.need()
		if err != nil {
			return nil, 0, err
		}
		most = max(most, need)
	}
	limit := config.NewDecimal(most)
	return withLimit(cfg, &limit), most, nil
}

// need returns the bytes of the device that holds most.
func (c *candidate) need() (int64, error) {
	timeline, err := model.Evaluate(c.problem, c.plan)
	if err != nil {
		return 0, err
	}
	most := model.Bytes(0)
	for _, d := range model.Measure(c.problem, c.plan, timeline).Devices {
		most = max(most, d.Peak)
	}
	n := c.problem.Pipeline.MemoryUnit.Rat(int64(most))
	bytes := n.Num().Int64() / n.Denom().Int64()
	if !n.IsInt() {
		bytes++
	}
	return bytes, nil
}

// profiled measures the layers of a network of this package, writes the profile and a
// configuration that names it to a folder, and reads that.
func (o *options) profiled(ctx context.Context, folder, name string) (*config.Config, error) {
	cfg, err := load(name)
	if err != nil {
		return nil, err
	}
	file, err := measure(ctx, cfg, o.repeats, o.seed)
	if err != nil {
		return nil, err
	}
	text, err := file.Encode()
	if err != nil {
		return nil, err
	}
	configuration, err := networks.ReadFile("networks/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	configuration = append(clusterLine.ReplaceAll(configuration, nil), ("profile: " + name + ".profile.json\n")...)
	err = errors.Join(
		os.WriteFile(filepath.Join(folder, name+".profile.json"), text, 0o644),
		os.WriteFile(filepath.Join(folder, name+".yaml"), configuration, 0o644),
	)
	if err != nil {
		return nil, err
	}
	return config.Load(os.DirFS(folder), name+".yaml")
}

// folder returns where files are written; without the flag a temporary folder, which remove
// removes.
func (o *options) folder() (path string, remove func(), err error) {
	if o.files == "" {
		path, err = os.MkdirTemp("", "throughput")
		return path, func() { os.RemoveAll(path) }, err
	}
	return o.files, func() {}, os.MkdirAll(o.files, 0o755)
}

// writePlans writes plan files, numbered as the candidates.
func writePlans(folder string, candidates []*candidate) error {
	for i, c := range candidates {
		file := model.PlanFile{Problem: c.problem, Plan: c.plan}
		w, err := os.Create(filepath.Join(folder, fmt.Sprintf("plan-%d.json", i+1)))
		if err != nil {
			return err
		}
		if err := errors.Join(file.Encode(w), w.Close()); err != nil {
			return err
		}
	}
	return nil
}

// printLayers prints what layers took, equal neighbours once.
func (t *trial) printLayers(w io.Writer) error {
	fmt.Fprintln(w)
	last := ""
	for i := range t.costs.Layers {
		l := &t.costs.Layers[i]
		text := fmt.Sprintf("forward %s, backward input %s, backward weight %s", length(l.Forward.Median/1e9),
			length(l.BackwardInput[network.RecomputeNone].Median/1e9), length(l.BackwardWeight.Median/1e9))
		if text != last {
			fmt.Fprintf(w, "%s: %s\n", l.Name, text)
		}
		last = text
	}
	return nil
}
