package cssr

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// mostGauged is how many micro-batches for each device are enough to measure costs while all
// devices are at work.
const mostGauged = 4

// Gauge returns a configuration and choices for measuring what the layers of cfg take, recomputing
// in one way: the halves of every backward are apart, devices hold whatever a plan takes, transfers
// occupy nobody, and micro-batches that are alike are no more than 4 for each device. Without a
// model the stages are given with their recomputation, and way does not count.
//
// cfg is read only, and shares with the result what is the same. Package heuristics has the plan.
func Gauge(cfg *config.Config, way network.Recompute) (*config.Config, Choices) {
	free := *cfg
	if cfg.RouteOf == nil && cfg.Factors == nil {
		free.MicroBatches = min(cfg.MicroBatches, mostGauged*len(cfg.Devices))
	}
	free.Communication.Blocking = false
	free.Devices = slices.Clone(cfg.Devices)
	for d := range free.Devices {
		free.Devices[d].Limit = nil
	}
	split := model.Split
	choices := Choices{Backward: &split}
	if cfg.Model != nil {
		choices.Recompute = []network.Recompute{way}
	}
	return &free, choices
}
