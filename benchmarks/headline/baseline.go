package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/partition"
	"github.com/flexpipe/flexpipe/solve/periodic"
)

// A planner makes a plan for a problem whose choices are fixed.
type planner func(ctx context.Context, p *model.Problem) (*model.Plan, error)

// candidate is one way in which a planner could run a network.
type candidate struct {
	choices cssr.Choices
	plan    planner
	group   string // candidates of a group differ in recomputation only, the least first
}

// same reports whether two candidates of a row differ in nothing.
func (c *candidate) same(other candidate) bool {
	return c.choices.SplitStages == other.choices.SplitStages &&
		slices.Equal(c.choices.Partition, other.choices.Partition) && slices.Equal(c.choices.Recompute, other.choices.Recompute)
}

// named returns the planner of a schedule of the literature.
func named(name string) planner {
	return func(_ context.Context, p *model.Problem) (*model.Plan, error) {
		s, err := heuristics.Lookup(name)
		if err != nil {
			return nil, err
		}
		return s.Build(p)
	}
}

// oneForwardOneBackward is 1F1B. On a network of branches, for which that schedule is
// not defined, each device takes a backward as soon as one is ready and else a
// forward, and has as many micro-batches in flight as keep the pipeline busy: on a
// chain of even stages that is 1F1B.
func (s *setting) oneForwardOneBackward() planner {
	if s.chain {
		return named("1f1b")
	}
	return func(ctx context.Context, p *model.Problem) (*model.Plan, error) {
		policy := cssr.Policy{Types: []string{"B", "I", "F", "W"}, InFlight: make([]int, p.NumDevices())}
		depth := heuristics.Depth(p)
		for d := range policy.InFlight {
			sum := 0.0
			for _, stage := range p.StagesOn(d) {
				sum += depth[stage]
			}
			policy.InFlight[d] = max(1, int(math.Ceil(sum)))
		}
		rule, err := policy.Rule(p)
		if err != nil {
			return nil, err
		}
		out, err := cssr.NewDecoder(p).Decode(ctx, rule, 0)
		if err != nil {
			return nil, err
		}
		return out.Clone(), nil
	}
}

// steady unrolls the best pattern of one micro-batch that repeats, of those that are
// found within the time limit.
func steady(o *options) planner {
	return func(ctx context.Context, p *model.Problem) (*model.Plan, error) {
		ctx, cancel := context.WithTimeout(ctx, o.limit)
		defer cancel()
		r, err := periodic.New().Solve(ctx, p, solve.Options{Seed: o.seed, Workers: o.workers})
		if err != nil {
			return nil, err
		}
		return r.Plan, nil
	}
}

// zeroBubble searches for the best order of separated backward passes where each
// device may hold so many times the activations that 1F1B holds on the device where
// it holds most (Qi et al. 2024, section 5.1: ZB-1p and ZB-2p). The search begins
// with all that the paper's greedy rules lead to where they fit, so it is in favour
// of this row.
func (s *setting) zeroBubble(choices cssr.Choices, times int64, o *options) planner {
	return func(ctx context.Context, p *model.Problem) (*model.Plan, error) {
		most, err := s.activations(ctx, choices)
		if err != nil {
			return nil, err
		}
		limited, err := withActivations(p, times*most)
		if err != nil || bound.Infeasible(limited) != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, o.limit)
		defer cancel()
		r, err := heuristics.Search(ctx, limited, heuristics.Options{
			Seed: o.seed, Workers: o.workers, Tries: o.tries, Target: bound.Lower(limited).Value,
		})
		if err != nil {
			return nil, err
		}
		return r.Plan, nil
	}
}

// activations returns the most bytes, beside static memory, that a device holds
// under 1F1B.
func (s *setting) activations(ctx context.Context, choices cssr.Choices) (int64, error) {
	return s.largest(ctx, choices, func(p *model.Problem, m *model.Metrics, d int) model.Bytes {
		return m.Devices[d].Peak - p.Statics[d]
	})
}

// largest returns the largest amount of a device under 1F1B with fused backward passes,
// in bytes.
func (s *setting) largest(ctx context.Context, choices cssr.Choices, amount func(p *model.Problem, m *model.Metrics, d int) model.Bytes) (int64, error) {
	fused := model.Fused
	choices.Backward = &fused
	p, err := cssr.Build(s.cfg, choices)
	if err != nil {
		return 0, err
	}
	plan, err := s.oneForwardOneBackward()(ctx, p)
	if err != nil {
		return 0, err
	}
	m, err := measure(p, plan)
	if err != nil {
		return 0, err
	}
	most := int64(0)
	for d := range m.Devices {
		most = max(most, inBytes(p, amount(p, m, d)))
	}
	return most, nil
}

// withActivations returns p where each device holds at most so many bytes beside its
// static memory.
func withActivations(p *model.Problem, most int64) (*model.Problem, error) {
	pl := *p.Pipeline
	pl.Devices = slices.Clone(pl.Devices)
	unit := max(1, inBytes(p, 1))
	for d := range pl.Devices {
		pl.Devices[d].Limit = min(pl.Devices[d].Limit, p.Statics[d]+model.Bytes(most/unit))
	}
	return model.Compile(&pl)
}

func measure(p *model.Problem, plan *model.Plan) (*model.Metrics, error) {
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		return nil, err
	}
	return model.Measure(p, plan, tl), nil
}

// Partitions of layers, embedding and head among them.
const (
	even     = "equal"    // as equal numbers of blocks as possible
	balanced = "balanced" // the least work in the stage that has most
	fitted   = "fitted"   // the least work on the device that has most, under its limit
)

// fitSteps bounds the search for one fitted partition, of at most fitChunks chunks:
// with more it takes long and finds little.
const (
	fitSteps  = 1 << 18
	fitChunks = 2
)

var recomputations = []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}

// cut returns the choices of whole layers under a rule: for so many chunks on each
// device, laid out by placement.
func (s *setting) cut(ctx context.Context, rule, placement string, chunks int, again network.Recompute) (cssr.Choices, error) {
	c := cssr.Choices{Placement: placement, Vocabulary: "none", SplitStages: chunks}
	stages := chunks * s.cfg.Stages
	c.Recompute = slices.Repeat([]network.Recompute{again}, stages)
	if rule == fitted {
		p, err := partition.FromConfig(s.cfg, c, []network.Recompute{again})
		if err != nil {
			return c, err
		}
		r, err := partition.Solve(ctx, p, partition.Options{Method: partition.DynamicProgram, MaxSteps: fitSteps, Plain: true})
		if err == nil {
			c.Partition = r.Cut
		}
		return c, err
	}
	deal, err := s.deal(c)
	if err != nil {
		return c, err
	}
	if rule == even {
		c.Partition, err = network.EvenParts(deal.Parts, stages)
	} else {
		c.Partition, err = network.BalancedParts(deal.Parts, stages, network.BalanceOptions{Recompute: c.Recompute})
	}
	return c, err
}

// impossible reports whether an error says that a candidate cannot be: too many
// stages for the layers, a schedule of another shape, a partition that does not fit.
func impossible(err error) bool {
	var layers *network.PartitionError
	var shape *heuristics.ShapeError
	var choice *cssr.ChoiceError
	var unlike *partition.ConfigError
	var none *partition.InfeasibleError
	var undecided *partition.UndecidedError
	var tight *cssr.MemoryError
	return errors.As(err, &layers) || errors.As(err, &shape) || errors.As(err, &choice) || errors.As(err, &unlike) ||
		errors.As(err, &none) || errors.As(err, &undecided) || errors.As(err, &tight)
}

// cuts lists the choices of whole layers under some rules as candidates without a
// planner, for all ways to recompute; numbers of chunks are tried as they come.
func (s *setting) cuts(ctx context.Context, rules []string, placement string, chunks []int, backward model.Mode) ([]candidate, error) {
	var list []candidate
	for _, n := range chunks {
		for _, rule := range rules {
			if rule == fitted && n > fitChunks {
				continue
			}
			for _, again := range recomputations {
				c, err := s.cut(ctx, rule, placement, n, again)
				if impossible(err) {
					continue
				}
				if err != nil {
					return nil, fmt.Errorf("%s layers in %d chunks: %w", rule, n, err)
				}
				c.Backward = &backward
				list = append(list, candidate{choices: c, group: fmt.Sprint(rule, n)})
			}
		}
	}
	return list, nil
}
