package main

import (
	"context"
	"errors"
	"regexp"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/profile"
)

// clusterLine is what a profile takes the place of in a configuration of this package.
var clusterLine = regexp.MustCompile(`(?m)^(# A first guess.*\n)?cluster: .*\n`)

// measure profiles the network of a configuration with each way of recomputation, both devices
// at work, and once more with one operation at a time.
func measure(ctx context.Context, cfg *config.Config, r repeats) (file *config.Profile, err error) {
	var candidates []*candidate
	for way := range network.NumRecomputes {
		c, err := gauge(ctx, cfg, network.Recompute(way))
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, c)
	}
	list, err := openCPU(candidates, r.seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(list)) }()
	first := list[0]
	alone, err := openCPU([]*candidate{{"alone", first.problem, profile.Serial(first.program)}}, r.seed)
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
