package profile

import (
	"errors"
	"fmt"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// Costs are what the layers of a network, and messages between devices, take.
type Costs struct {
	// Layers has all layers in the order of the network's parts.
	Layers []pipert.LayerCosts
	// Solo are the layers measured while nothing else ran; nil if they were not.
	Solo []pipert.LayerCosts
	// Hops is the time in nanoseconds from the end of an operation to the start of one on
	// another device that waits for nothing else.
	Hops pipert.Quantiles
}

// Measured is a backend on which a network has run, and what its messages took.
type Measured struct {
	Backend pipert.Profiler
	Hops    pipert.Quantiles
}

// Gather puts together what one network took on several backends, at least one, which may
// have recomputed in different ways. Of times that several have measured the first counts.
// Layers of equal sizes that follow each other in a part are taken to cost the same, which
// makes the medians steadier. It returns an error for a layer that did not run.
func Gather(list []Measured) (*Costs, error) {
	c := &Costs{Hops: list[0].Hops, Layers: list[0].Backend.Layers()}
	for _, m := range list[1:] {
		for i, l := range m.Backend.Layers() {
			for way := range l.BackwardInput {
				if c.Layers[i].BackwardInput[way].N == 0 {
					c.Layers[i].BackwardInput[way] = l.BackwardInput[way]
				}
			}
		}
	}
	for i := range c.Layers {
		if c.Layers[i].Forward.N == 0 {
			return nil, fmt.Errorf("layer %s was not executed, so its costs are not known", c.Layers[i].Name)
		}
	}
	pool(c.Layers)
	return c, nil
}

// AddSolo adds what the layers took on a backend on which nothing else ran at the same time.
func (c *Costs) AddSolo(backend pipert.Profiler) {
	c.Solo = backend.Layers()
	pool(c.Solo)
}

// pool gives equal layers that follow each other the mean of their quantiles.
func pool(layers []pipert.LayerCosts) {
	for first := 0; first < len(layers); {
		end := first + 1
		for end < len(layers) && alike(&layers[first], &layers[end]) {
			end++
		}
		run := layers[first:end]
		poolOf(run, func(l *pipert.LayerCosts) *pipert.Quantiles { return &l.Forward })
		poolOf(run, func(l *pipert.LayerCosts) *pipert.Quantiles { return &l.BackwardWeight })
		for way := range run[0].BackwardInput {
			poolOf(run, func(l *pipert.LayerCosts) *pipert.Quantiles { return &l.BackwardInput[way] })
		}
		first = end
	}
}

// alike reports whether two layers have the same sizes.
func alike(a, b *pipert.LayerCosts) bool {
	return a.Part == b.Part && a.Activation == b.Activation && a.Retained == b.Retained && a.Selective == b.Selective &&
		a.Full == b.Full && a.Work == b.Work && a.Parameters == b.Parameters && a.Output == b.Output
}

// poolOf replaces a quantity of layers by its mean, weighted by the number of samples.
func poolOf(layers []pipert.LayerCosts, of func(*pipert.LayerCosts) *pipert.Quantiles) {
	var sum pipert.Quantiles
	for i := range layers {
		q := of(&layers[i])
		n := float64(q.N)
		sum.N += q.N
		sum.P10, sum.Median, sum.P90 = sum.P10+n*q.P10, sum.Median+n*q.Median, sum.P90+n*q.P90
	}
	if sum.N == 0 {
		return
	}
	n := float64(sum.N)
	for i := range layers {
		*of(&layers[i]) = pipert.Quantiles{N: sum.N, P10: sum.P10 / n, Median: sum.Median / n, P90: sum.P90 / n}
	}
}

// Stages returns the costs of the stages of a blueprint of the network: sums over layers. It
// returns an error if the layers are those of another network, or a way of recomputation has
// not been measured.
func (c *Costs) Stages(b *network.Blueprint) ([]pipert.StageCosts, error) {
	parts, err := b.StageParts()
	if err != nil {
		return nil, err
	}
	first := make([]int, len(parts)) // of each part among c.Layers
	total := 0
	for p := range parts {
		first[p] = total
		total += len(parts[p].Layers)
	}
	if total != len(c.Layers) {
		return nil, fmt.Errorf("costs of %d layers for a network of %d", len(c.Layers), total)
	}
	stages := make([]pipert.StageCosts, len(b.Stages))
	for s, slice := range b.Stages {
		for i := slice.First; i < slice.End; i++ {
			l, name := &c.Layers[first[slice.Part]+i], parts[slice.Part].Layers[i].Name
			if l.Name != name {
				return nil, fmt.Errorf("costs of layer %q where the network has %q", l.Name, name)
			}
			if err := addLayer(&stages[s], l, slice.Recompute); err != nil {
				return nil, err
			}
		}
	}
	return stages, nil
}

// addLayer adds a layer to a stage that recomputes in the way given.
func addLayer(s *pipert.StageCosts, l *pipert.LayerCosts, way network.Recompute) error {
	input := l.BackwardInput[way]
	if input.N == 0 {
		return fmt.Errorf("backward input of layer %s with recomputation %s has not been measured", l.Name, way)
	}
	kept := [network.NumRecomputes]int64{l.Activation, l.Selective, l.Full}[way]
	s.Forward += l.Forward.Median
	s.BackwardInput += input.Median
	s.BackwardWeight += l.BackwardWeight.Median
	s.BackwardFull += input.Median + l.BackwardWeight.Median
	s.Activation += kept
	s.FreedByInput += kept - l.Retained
	s.Static += l.Parameters * network.FP32.StateBytes()
	return nil
}

// Latency returns what a message takes, in nanoseconds.
func (c *Costs) Latency() float64 { return c.Hops.Median }

var errNoLayers = errors.New("the profile has no layers; flexpipe profile measures them")

// duration turns nanoseconds into a duration.
func duration(ns float64) time.Duration { return time.Duration(ns) }
