package cpu

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model/network"
)

// stateBytes is the training state of a parameter: value, gradient and two moments.
const stateBytes = 4 * elementBytes

// StageBytes is the memory of a stage, in bytes, as a problem describes it.
type StageBytes struct {
	// Activation is taken by a micro-batch when its forward starts.
	Activation int64
	// FreedByBackwardInput is given back when its backward input ends; if negative, minus
	// what that takes when it starts. Backward weight gives back the rest.
	FreedByBackwardInput int64
	// Static is parameters, gradients and optimizer state.
	Static int64
	// Work is the space that every operation uses anew. A device has the largest of its stages.
	Work int64
}

// LayerBytes is the memory of a layer, in bytes, under each recomputation. For the sums over
// the layers of a stage see [Footprint]: Activation, Selective or Full is what the forward
// takes, of which Retained is left after the backward input, or to which it grows.
type LayerBytes struct {
	Part, Index int
	Name        string // as in network.Layer

	Activation, Selective, Full int64 // from forward to backward input
	Retained                    int64 // from backward input to backward weight
	Work                        int64 // with the buffers for what passes between layers
	SelectiveWork, FullWork     int64 // beyond Work, with recomputation
	Parameters                  int64 // their number
	Output                      int64 // 0 for the last layer
}

// Footprint returns the memory of a stage of a blueprint without running it. Errors are those
// of [Open] for the blueprint alone, and one for a stage that there is not.
func Footprint(b *network.Blueprint, stage int) (StageBytes, error) {
	l, err := newLayout(b)
	if err != nil {
		return StageBytes{}, err
	}
	if stage < 0 || stage >= len(l.stages) {
		return StageBytes{}, &BlueprintError{-1, fmt.Sprintf("there is no stage %d among %d", stage, len(l.stages))}
	}
	return newStage(l, stage, 0, &home{}).bytes(), nil
}

func (s *stage) bytes() StageBytes {
	sum := StageBytes{Work: int64(s.work()) * elementBytes}
	for i := range s.plans {
		p := &s.plans[i]
		sum.Activation += int64(p.activation) * elementBytes
		sum.FreedByBackwardInput += int64(p.activation-p.left) * elementBytes
	}
	for _, p := range s.parameters {
		sum.Static += int64(p.rows) * int64(p.cols) * stateBytes
	}
	return sum
}

// Layers returns the memory of all layers of a network, by part and in the order of each.
// Errors are those of [Open] for the blueprint alone.
func Layers(b *network.Blueprint) ([]LayerBytes, error) {
	l, err := newLayout(b)
	if err != nil {
		return nil, err
	}
	var list []LayerBytes
	for p := range l.parts {
		for i := range l.parts[p].Layers {
			list = append(list, l.layerBytes(p, i))
		}
	}
	return list, nil
}

func (l *layout) layerBytes(p, i int) LayerBytes {
	part := &l.parts[p]
	layer := l.layer(p, i)
	f := layer.footprint()
	none := planMemory(f, network.RecomputeNone)
	selective, full := planMemory(f, network.RecomputeSelective), planMemory(f, network.RecomputeFull)
	bytes := LayerBytes{
		Part: p, Index: i, Name: part.Layers[i].Name,
		Activation: int64(none.activation) * elementBytes,
		Selective:  int64(selective.activation) * elementBytes,
		Full:       int64(full.activation) * elementBytes,
		Retained:   int64(none.left) * elementBytes,
		Work:       int64(none.work+2*part.rows*part.stack.Hidden) * elementBytes,

		SelectiveWork: int64(selective.work-none.work) * elementBytes,
		FullWork:      int64(full.work-none.work) * elementBytes,
		Output:        int64(l.output(p, i)) * elementBytes,
	}
	for _, q := range layer.parameters() {
		bytes.Parameters += int64(q.rows) * int64(q.cols)
	}
	return bytes
}
