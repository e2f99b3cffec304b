package main

import (
	"context"
	"errors"
	"regexp"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/profile"
)

// clusterLine is what a profile takes the place of in a configuration of this package.
var clusterLine = regexp.MustCompile(`(?m)^(# A first guess.*\n)?cluster: .*\n`)

// measure profiles the network of a configuration with each way of recomputation that changes
// something in it, both devices at work, and once more with one operation at a time.
func measure(ctx context.Context, cfg *config.Config, r repeats, seed uint64) (file *config.Profile, err error) {
	net, err := cssr.Network(cfg.Model, len(cfg.Devices))
	if err != nil {
		return nil, err
	}
	ways, err := network.Recomputations(net)
	if err != nil {
		return nil, err
	}
	candidates, err := gaugesOf(ctx, cfg, ways)
	if err != nil {
		return nil, err
	}
	list, err := openCPU(candidates, seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(list)) }()
	first := list[0]
	alone, err := openCPU([]*candidate{{"alone", first.problem, profile.Serial(first.program)}}, seed)
	if err != nil {
		return nil, err
	}
	list = append(list, alone...)
	runs, err := pipert.Compare(ctx, contestants(list), r.settings())
	if err != nil {
		return nil, err
	}
	last := len(list) - 1
	costs, err := gather(list[:last], runs[:last])
	if err != nil {
		return nil, err
	}
	costs.AddSolo(list[last].backend.(pipert.Profiler))
	stages := profile.TimesOfStages(first.problem, runs[0].Records, runs[last].Records)
	return costs.File(first.network, stages, map[string]string{"backend": "cpu"})
}
