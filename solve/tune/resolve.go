package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/partition"
)

// Words of a space for partition and recomputation.
const (
	Configured = "configured" // as the configuration says
	Fit        = "fit"        // chosen together, under the memory limits, by package partition
)

var traversalsByName = map[string]cssr.Traversal{
	"breadth-first": cssr.BreadthFirst, "depth-first": cssr.DepthFirst, "wave": cssr.Wave,
}

var weightModes = map[string]cssr.WeightMode{
	"by-type": cssr.WeightsByType, "at-once": cssr.AtOnce, "deferred": cssr.Deferred, "fill": cssr.Fill,
}

// checkSpace tests the words of a space, and that the configuration has what they
// are about.
func checkSpace(cfg *config.Config, s *cssr.Space) error {
	for _, d := range []struct {
		name, legal string
		words       []string
		model       bool // only for networks
	}{
		{"placement", "linear loop v", s.Placements, false},
		{"backward", "split fused auto configured", s.Backwards, false},
		{"traversal", "breadth-first depth-first wave", s.Traversals, false},
		{"weights", "by-type at-once deferred fill", s.Weights, false},
		{"vocabulary", "none stage passes", s.Vocabulary, true},
		{"partition", "configured fit even balanced", s.Partitions, true},
		{"recompute", "configured fit none selective full", s.Recompute, true},
	} {
		legal := strings.Fields(d.legal)
		for _, word := range d.words {
			if !slices.Contains(legal, word) {
				return &SpaceError{d.name, fmt.Sprintf("%.60q is not known", word), "use " + strings.Join(legal, ", ")}
			}
		}
		if d.model && len(d.words) > 0 && cfg.Model == nil {
			return &SpaceError{d.name, "the configuration gives costs and no model", "leave it out, or describe the model"}
		}
	}
	if err := checkNumbers(s); err != nil {
		return err
	}
	if len(s.MicroBatchSizes) > 0 && cfg.Model == nil {
		return &SpaceError{"micro-batch size", "the configuration gives costs and no model", "leave it out, or describe the model"}
	}
	return nil
}

// maxOptions is the number of options that a dimension may have.
const maxOptions = 64

// checkNumbers tests the ranges of numbers, and the lengths of all lists.
func checkNumbers(s *cssr.Space) error {
	for _, d := range []struct {
		name     string
		list     []int
		low, top int
	}{
		{"chunks", s.Chunks, 1, config.MaxStages}, {"micro-batch size", s.MicroBatchSizes, 1, math.MaxInt32},
		{"group", s.Groups, 0, 1 << 30}, {"patience", s.Patience, 0, 64},
	} {
		for _, n := range d.list {
			if n < d.low || n > d.top {
				return &SpaceError{d.name, fmt.Sprintf("%d is out of range", n), fmt.Sprintf("write numbers from %d to %d", d.low, d.top)}
			}
		}
	}
	for _, f := range s.InFlight {
		if !(f >= 0 && f <= 1e6) {
			return &SpaceError{"in flight", fmt.Sprintf("%g is out of range", f), "write multiples from 0, which is no bound, to 1e6"}
		}
	}
	for _, d := range []struct {
		name    string
		options int
	}{
		{"placement", len(s.Placements)}, {"chunks", len(s.Chunks)}, {"backward", len(s.Backwards)}, {"vocabulary", len(s.Vocabulary)},
		{"micro-batch size", len(s.MicroBatchSizes)}, {"partition", len(s.Partitions)}, {"recompute", len(s.Recompute)},
		{"types", len(s.Types)}, {"traversal", len(s.Traversals)}, {"group", len(s.Groups)}, {"in flight", len(s.InFlight)},
		{"weights", len(s.Weights)}, {"patience", len(s.Patience)},
	} {
		if d.options > maxOptions {
			return &SpaceError{d.name, fmt.Sprintf("%d options are more than %d", d.options, maxOptions), "leave some out"}
		}
	}
	return nil
}

// resolve turns the rules of a draft into choices.
func (g *grid) resolve(ctx context.Context, d *draft) (cssr.Choices, error) {
	c := d.choices
	if g.cfg.Model == nil {
		return c, nil
	}
	modes := g.modes
	switch d.recompute {
	case Configured:
		modes = modesOf(g.cfg)
	case Fit:
		if d.partition != Fit {
			return c, &SpaceError{"recompute", "fit chooses layers and recomputation together", "let partition be fit, too"}
		}
	default:
		mode, err := network.ParseRecompute(d.recompute)
		if err != nil {
			return c, err
		}
		modes = []network.Recompute{mode}
		c.Recompute = modes
	}
	switch d.partition {
	case Fit:
		return g.fit(ctx, c, modes)
	case "even", "balanced":
		cut, err := cssr.Cut(g.cfg, c, config.PartitionRule(d.partition))
		c.Partition = cut
		return c, err
	}
	return c, nil
}

// modesOf returns the ways to recompute that a configuration has, in ascending order.
func modesOf(cfg *config.Config) []network.Recompute {
	var list []network.Recompute
	for _, mode := range []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull} {
		if slices.Contains(cfg.Recompute, config.Recompute(mode.String())) {
			list = append(list, mode)
		}
	}
	return list
}

// fit chooses layers and recomputation of the stages for the least load under the
// memory limits. What it chooses does not depend on the backward mode.
func (g *grid) fit(ctx context.Context, c cssr.Choices, modes []network.Recompute) (cssr.Choices, error) {
	if c.SplitStages > fitChunks {
		return c, &SpaceError{"partition", fmt.Sprintf("fit takes too long with %d stages per device", c.SplitStages),
			fmt.Sprintf("use even, or at most %d chunks", fitChunks)}
	}
	key := fmt.Sprint(c.Placement, c.SplitStages, c.Vocabulary, c.MicroBatchSize, modes)
	known, _ := g.fits.LoadOrStore(key, &fitting{})
	f := known.(*fitting)
	f.once.Do(func() {
		p, err := partition.FromConfig(g.cfg, c, modes)
		if err != nil {
			f.err = err
			return
		}
		f.best, f.err = leastLoad(ctx, p)
	})
	if f.err != nil {
		return c, f.err
	}
	c.Partition, c.Recompute = f.best.Cut, f.best.Recompute
	if alike := slices.Compact(slices.Clone(c.Recompute)); len(alike) == 1 {
		c.Recompute = alike
	}
	return c, nil
}

// leastLoad solves a partition with as many micro-batches in flight as 1F1B has, and where
// nothing fits with a single one. If that does not fit either no plan does: when a
// micro-batch turns round, it holds the activations of all stages.
func leastLoad(ctx context.Context, p *partition.Problem) (*partition.Result, error) {
	o := partition.Options{Method: partition.DynamicProgram, MaxSteps: fitSteps, Plain: true}
	best, err := partition.Solve(ctx, p, o)
	var none *partition.InfeasibleError
	if !errors.As(err, &none) {
		return best, err
	}
	for s := range p.InFlight {
		p.InFlight[s] = 1
	}
	if best, err = partition.Solve(ctx, p, o); errors.As(err, &none) {
		return nil, &MemoryError{Reason: "no partition of the layers fits a single micro-batch"}
	}
	return best, err
}

// fitting is a partition that several shapes share.
type fitting struct {
	once sync.Once
	best *partition.Result
	err  error
}

// fitChunks is the largest number of chunks for which partitions are fitted.
const fitChunks = 2

// fitSteps bounds the dynamic program for one partition, of which a tuning needs many.
const fitSteps = 1 << 20
