package tune

import (
	"context"
	"fmt"
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
	if len(s.MicroBatchSizes) > 0 && cfg.Model == nil {
		return &SpaceError{"micro-batch size", "the configuration gives costs and no model", "leave it out, or describe the model"}
	}
	return nil
}

// resolve turns the rules of a draft into choices.
func (g *grid) resolve(ctx context.Context, d *draft) (cssr.Choices, error) {
	c := d.choices
	if g.cfg.Model == nil {
		return c, nil
	}
	modes := allModes
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
		err := g.cut(&c, d.partition)
		return c, err
	}
	return c, nil
}

var allModes = []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}

// modesOf returns the ways to recompute that a configuration has, in ascending order.
func modesOf(cfg *config.Config) []network.Recompute {
	var list []network.Recompute
	for _, mode := range allModes {
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
		f.best, f.err = partition.Solve(ctx, p, partition.Options{Method: partition.DynamicProgram, MaxSteps: fitSteps, Plain: true})
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

// cut sets the partition that a rule gives.
func (g *grid) cut(c *cssr.Choices, rule string) error {
	deal, err := cssr.NewDeal(g.cfg, *c)
	if err != nil {
		return err
	}
	var cut network.Partition
	if rule == "even" {
		cut, err = network.EvenParts(deal.Parts, len(deal.Devices))
	} else {
		cut, err = network.BalancedParts(deal.Parts, len(deal.Devices), network.BalanceOptions{Recompute: everyStage(c.Recompute, len(deal.Devices))})
	}
	c.Partition = cut
	return err
}

// everyStage returns an entry for each stage where one stands for all.
func everyStage(modes []network.Recompute, stages int) []network.Recompute {
	if len(modes) == 1 {
		return slices.Repeat(modes, stages)
	}
	return modes
}
