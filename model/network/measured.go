package network

import "fmt"

// A Measured is a network whose layers cost what was measured instead of what their
// formulas say. Its unit of work is the nanosecond: on a [Cluster] with 1e9 FLOPs and no
// efficiency, see [MeasuredRate], operations take as long as they did.
//
// Parameters, outputs, and what all layers of a part read remain those of the network.
type Measured struct {
	Network
	// Layers has a measurement of each layer, in the order of the parts.
	Layers []Measurement
}

// MeasuredRate is the rate of a [Cluster] that turns the work of a [Measured] into time.
const MeasuredRate = 1e9

// A Measurement is what a layer took and kept for one micro-batch. The layer must not be
// one that devices share.
type Measurement struct {
	// Part and Name are those of the layer, see [Part] and [Layer].
	Part, Name string
	// Forward, BackwardInput and BackwardWeight are nanoseconds, without recomputation.
	Forward, BackwardInput, BackwardWeight float64
	// Activation, Retained and Work are bytes, as in [Layer].
	Activation, Retained, Work int64
	// Selective and Full have bytes and, as FLOPs, nanoseconds; nil if the layer was
	// not measured with that recomputation.
	Selective, Full *Checkpoint
}

// A MeasurementError reports measurements that are not those of a network.
type MeasurementError struct {
	// Layer is the number of the measurement at fault; -1 if there are too many or too
	// few.
	Layer int
	// Field is what is wrong with it: "part" or "name"; "" for their number.
	Field string
	// Problem says why.
	Problem string
}

func (e *MeasurementError) Error() string {
	if e.Layer < 0 {
		return "measured layers: " + e.Problem
	}
	return fmt.Sprintf("measured layer %d: %s", e.Layer, e.Problem)
}

// Parts returns the parts of the network with the costs of the measurements. The error is
// that of the network, or a [*MeasurementError] if its layers are not those measured.
func (m Measured) Parts() ([]Part, error) {
	parts, err := m.Network.Parts()
	if err != nil {
		return nil, err
	}
	count := len(concatenated(parts))
	if count != len(m.Layers) {
		return nil, &MeasurementError{Layer: -1, Problem: fmt.Sprintf("the network has %d layers, and %d were measured", count, len(m.Layers))}
	}
	next := 0
	for p := range parts {
		for i := range parts[p].Layers {
			if err := m.Layers[next].check(next, &parts[p], i); err != nil {
				return nil, err
			}
			m.Layers[next].apply(&parts[p].Layers[i])
			next++
		}
	}
	return parts, nil
}

// check tests that measurement number n is one of layer i of a part.
func (m *Measurement) check(n int, part *Part, i int) error {
	switch {
	case m.Part != part.Name:
		return &MeasurementError{n, "part", fmt.Sprintf("part %q where the network has %q", m.Part, part.Name)}
	case m.Name != part.Layers[i].Name:
		return &MeasurementError{n, "name", fmt.Sprintf("%q where the network has %q", m.Name, part.Layers[i].Name)}
	}
	return nil
}

// apply replaces the costs of a layer. Recomputation that was not measured keeps all.
func (m *Measurement) apply(l *Layer) {
	l.Forward, l.BackwardInput, l.BackwardWeight = m.Forward, m.BackwardInput, m.BackwardWeight
	l.Activation, l.Retained, l.Work = m.Activation, m.Retained, m.Work
	l.Selective, l.Full = m.checkpoint(m.Selective), m.checkpoint(m.Full)
}

func (m *Measurement) checkpoint(measured *Checkpoint) Checkpoint {
	if measured == nil {
		return Checkpoint{Bytes: m.Activation}
	}
	return *measured
}

// Lacks returns the number of the first layer on which a recomputation has an effect, by
// its formulas, but was not measured; -1 if there is none. [Measured.Parts] must have
// succeeded.
func (m Measured) Lacks(r Recompute) int {
	parts, err := m.Network.Parts()
	if err != nil {
		return 0
	}
	for i, l := range concatenated(parts) {
		measured := m.Layers[i].Selective
		if r == RecomputeFull {
			measured = m.Layers[i].Full
		}
		if measured == nil && l.changes(r) {
			return i
		}
	}
	return -1
}
