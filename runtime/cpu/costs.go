package cpu

import (
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// ledger collects what the calls of each layer took, in nanoseconds: for each iteration the mean
// over its calls. An iteration is as long as the sum of what stands in it, so the mean is what
// predicts it, with its share of the rare calls that take much longer; a median over calls would
// leave those out. That a whole iteration was disturbed the median over iterations leaves out.
type ledger struct {
	entries map[entry][]float64
}

// entry is a kind of call of a layer.
type entry struct {
	part, layer int
	kind        model.Kind
	recompute   network.Recompute // of the stage; none but for backward input
}

// add takes over the times of an iteration.
func (l *ledger) add(times []LayerTime, stages []network.Slice) {
	if l.entries == nil {
		l.entries = map[entry][]float64{}
	}
	sums, calls := map[entry]float64{}, map[entry]float64{}
	for i := range times {
		t := &times[i]
		e := entry{part: t.Part, layer: t.Layer, kind: t.Kind}
		if t.Kind == model.BackwardInput {
			e.recompute = stages[t.Stage].Recompute
		}
		sums[e] += float64(t.Time.Nanoseconds())
		calls[e]++
	}
	for e, sum := range sums {
		l.entries[e] = append(l.entries[e], sum/calls[e])
	}
}

// quantiles returns those of an entry.
func (l *ledger) quantiles(e entry) pipert.Quantiles {
	return pipert.NewQuantiles(append([]float64(nil), l.entries[e]...))
}

// Layers returns what the layers of the network take; see [pipert.Profiler]. Times are known
// with Options.Timed only.
func (b *Backend) Layers() []pipert.LayerCosts {
	var list []pipert.LayerCosts
	for p := range b.layout.parts {
		for i := range b.layout.parts[p].Layers {
			size := b.layout.layerBytes(p, i)
			costs := pipert.LayerCosts{
				Part: p, Name: size.Name,
				Forward:        b.ledger.quantiles(entry{part: p, layer: i, kind: model.Forward}),
				BackwardWeight: b.ledger.quantiles(entry{part: p, layer: i, kind: model.BackwardWeight}),
				Activation:     size.Activation, Retained: size.Retained, Selective: size.Selective, Full: size.Full,
				Work: size.Work, SelectiveWork: size.SelectiveWork, FullWork: size.FullWork, Parameters: size.Parameters, Output: size.Output,
			}
			for way := range costs.BackwardInput {
				costs.BackwardInput[way] = b.ledger.quantiles(entry{p, i, model.BackwardInput, network.Recompute(way)})
			}
			list = append(list, costs)
		}
	}
	return list
}

// ResetTimes forgets what the layers took so far.
func (b *Backend) ResetTimes() { b.ledger = ledger{} }

var _ pipert.Profiler = (*Backend)(nil)
