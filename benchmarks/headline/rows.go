package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/tune"
)

// Keys of the rows.
const (
	megatronEven        = "1f1b-equal"
	interleavedEven     = "interleaved-equal"
	megatronBalanced    = "1f1b-balanced"
	interleavedBalanced = "interleaved-balanced"
	zb1p                = "zb-1p"
	zb2p                = "zb-2p"
	zbv                 = "zb-v"
	tessel              = "tessel"
	wholeLayers         = "whole-layers"
	tunedWhole          = "tuned-whole"
	ours                = "flexpipe"
)

// row is a planner of the comparison.
type row struct {
	key, title string
	chains     bool // only for networks that are one chain
	whole      bool // an automated planner that keeps layers whole on devices could reach it
	candidates lister
}

// A lister lists the ways in which a planner could run a network.
type lister func(ctx context.Context, s *setting, o *options) ([]candidate, error)

// rows are the planners whose candidates are tried one by one, in the order of the
// table.
var rows = []row{
	{key: megatronEven, title: "1F1B, equal layers", candidates: oneForwardRows(even)},
	{key: interleavedEven, title: "interleaved, equal layers", chains: true, candidates: interleavedRows((*setting).divisors, even)},
	{key: megatronBalanced, title: "1F1B, balanced layers", whole: true, candidates: oneForwardRows(balanced, fitted)},
	{key: interleavedBalanced, title: "interleaved, balanced layers", chains: true, whole: true,
		candidates: interleavedRows((*setting).chunks, balanced, fitted)},
	{key: zb1p, title: "ZB-1p, balanced layers", whole: true, candidates: zeroBubbleRows(1)},
	{key: zb2p, title: "ZB-2p, balanced layers", whole: true, candidates: zeroBubbleRows(2)},
	{key: zbv, title: "ZB-V, balanced layers", chains: true, whole: true, candidates: zeroBubbleVRows},
	{key: tessel, title: "Tessel", candidates: sharedRows},
}

func oneForwardRows(rules ...string) lister {
	return func(ctx context.Context, s *setting, _ *options) ([]candidate, error) {
		return s.candidates(ctx, rules, "", []int{1}, model.Fused, s.oneForwardOneBackward())
	}
}

func interleavedRows(chunks func(*setting) []int, rules ...string) lister {
	return func(ctx context.Context, s *setting, _ *options) ([]candidate, error) {
		return s.candidates(ctx, rules, "loop", chunks(s), model.Fused, named("interleaved"))
	}
}

// zeroBubbleRows allows so many times the activations of 1F1B.
func zeroBubbleRows(times int64) lister {
	return func(ctx context.Context, s *setting, o *options) ([]candidate, error) {
		list, err := s.cuts(ctx, []string{balanced, fitted}, "", []int{1}, model.Split)
		for i := range list {
			list[i].plan = s.zeroBubble(list[i].choices, times, o)
			list[i].group = s.searchGroup(list[i].group, list[i].choices.Recompute[0])
		}
		return list, err
	}
}

func zeroBubbleVRows(ctx context.Context, s *setting, _ *options) ([]candidate, error) {
	return s.candidates(ctx, []string{balanced, fitted}, "v", []int{2}, model.Split, named("zbv"))
}

// sharedRows lists Tessel's placement: embedding and head on all devices, the layers in
// equal numbers between them; on branches, the placement of the configuration.
func sharedRows(_ context.Context, s *setting, o *options) ([]candidate, error) {
	var list []candidate
	for _, again := range recomputations {
		fused := model.Fused
		c := cssr.Choices{Backward: &fused, Vocabulary: "stage", Recompute: slices.Repeat([]network.Recompute{again}, s.cfg.Stages)}
		list = append(list, candidate{choices: c, plan: steady(o), group: s.searchGroup("", again)})
	}
	return list, nil
}

// candidates lists cuts that one planner plans.
func (s *setting) candidates(ctx context.Context, rules []string, placement string, chunks []int, backward model.Mode, plan planner) ([]candidate, error) {
	list, err := s.cuts(ctx, rules, placement, chunks, backward)
	for i := range list {
		list[i].plan = plan
	}
	return list, err
}

// searchGroup returns the group of a candidate whose planner searches. With memory
// limits less recomputation is not always better for it: fewer micro-batches fit at a
// time.
func (s *setting) searchGroup(group string, again network.Recompute) string {
	if s.cfg.Devices[0].Limit == nil {
		return group
	}
	return group + again.String()
}

// divisors lists the chunk counts from 2 up that divide the layers of a device.
func (s *setting) divisors() []int {
	var list []int
	for n := 2; n <= s.layers()/s.cfg.Stages; n++ {
		if s.layers()%(n*s.cfg.Stages) == 0 {
			list = append(list, n)
		}
	}
	return list
}

// chunks lists all chunk counts from 2 up that leave a layer to each stage.
func (s *setting) chunks() []int {
	var list []int
	for n := 2; n*s.cfg.Stages <= s.layers()+2; n++ {
		list = append(list, n)
	}
	return list
}

func describe(c *cssr.Choices) string {
	text := "recompute " + c.Recompute[0].String()
	if c.SplitStages > 1 {
		text = fmt.Sprintf("%d chunks, %s", c.SplitStages, text)
	}
	if c.Partition != nil {
		text += fmt.Sprintf(", layers %v", c.Partition)
	}
	return text
}

// found is the best plan of a row.
type found struct {
	problem *model.Problem
	result  *solve.Result // nil without a plan
	point   cssr.Point
	detail  string
	reason  string // why there is no plan
}

// value returns the predicted time of an iteration in seconds, +Inf without a plan.
func (f *found) value() float64 {
	if f.result == nil {
		return math.Inf(1)
	}
	return seconds(f.problem, f.result.Value)
}

// find returns the best plan of a row in a setting, judged.
func (r *row) find(ctx context.Context, s *setting, o *options) (*found, error) {
	if r.chains && !s.chain {
		return &found{reason: "not defined for branches"}, nil
	}
	candidates, err := r.candidates(ctx, s, o)
	if err != nil {
		return nil, err
	}
	best := &found{reason: nothingFits}
	fits := map[string]bool{} // groups that have a plan: more recomputation is more work
	for i := range candidates {
		c := &candidates[i]
		if fits[c.group] || slices.ContainsFunc(candidates[:i], c.same) {
			continue
		}
		if fits[c.group], err = best.try(ctx, s, c); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", r.key, describe(&c.choices), err)
		}
	}
	return best, nil
}

// Why a row has no plan.
const (
	nothingFits = "proved: no plan fits, whatever the candidate"
	needsMore   = "its plan needs more memory"
	findsNone   = "no plan found within the memory"
)

// try reports whether a candidate has a plan that fits, and replaces f by it if it is
// faster.
func (f *found) try(ctx context.Context, s *setting, c *candidate) (bool, error) {
	p, err := cssr.Build(s.cfg, c.choices)
	if err != nil {
		return false, err
	}
	if bound.Infeasible(p) != nil {
		return false, nil
	}
	plan, err := c.plan(ctx, p)
	if impossible(err) || err == nil && plan == nil {
		f.reason = findsNone
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m, err := measure(p, plan)
	if err != nil {
		return false, err
	}
	if !m.Fits(p) {
		f.reason = needsMore
		return false, nil
	}
	if seconds(p, m.Value(p.Pipeline.Objective)) >= f.value() {
		return true, nil
	}
	r, err := portfolio.JudgePlan(p, plan)
	if err != nil {
		return false, err
	}
	*f = found{problem: p, result: r, point: cssr.Point{Choices: c.choices}, detail: describe(&c.choices)}
	return true, nil
}

// tuned returns the best row of a tuning of a space.
func (s *setting) tuned(ctx context.Context, space cssr.Space, o *options) (*found, error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	t, err := tune.Tune(ctx, s.cfg, space, tune.Options{
		Seed: o.seed, Workers: o.workers, Evaluations: o.evaluations,
		Finalists: o.finalists, Solving: o.limit / time.Duration(2*max(1, o.finalists)),
	})
	if err != nil {
		return nil, err
	}
	if len(t.Rows) == 0 {
		return &found{reason: t.Reason}, nil
	}
	best := &t.Rows[0]
	return &found{problem: best.Problem, result: best.Result, point: best.Point, detail: best.Point.String()}, nil
}
