package partition_test

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/partition"
)

func ExampleSolve() {
	// Eight equal layers on two devices, the first of which is twice as slow. A
	// micro-batch leaves 3 bytes on a layer, or 1 if its forward is repeated.
	layer := partition.Layer{Modes: []partition.Mode{
		network.RecomputeNone:      {Work: 6, Activation: 3},
		network.RecomputeSelective: {Work: 6, Activation: 3},
		network.RecomputeFull:      {Work: 8, Activation: 1},
	}}
	p := &partition.Problem{
		Recompute: []network.Recompute{network.RecomputeNone, network.RecomputeFull},
		Group:     partition.LinearGroups(2),
		InFlight:  partition.OneForwardOneBackward(2, 4),
		Devices:   []partition.Device{{Factor: 2, Limit: 16}, {Factor: 1, Limit: 16}},
	}
	for range 8 {
		p.Layers = append(p.Layers, layer)
	}
	r, err := partition.Solve(context.Background(), p, partition.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(r)
	// Output: layers [2 6], recompute [none full], devices [0 1]: busiest 48 (proved by the dynamic program)
}
