package network_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

// measurementsOf returns what the formulas say as measurements on a device with an
// operation per nanosecond.
func measurementsOf(t *testing.T, n network.Network) network.Measured {
	t.Helper()
	m := network.Measured{Network: n}
	for _, p := range must[[]network.Part](t)(n.Parts()) {
		for _, l := range p.Layers {
			m.Layers = append(m.Layers, network.Measurement{
				Part: p.Name, Name: l.Name, Forward: l.Forward, BackwardInput: l.BackwardInput, BackwardWeight: l.BackwardWeight,
				Activation: l.Activation, Retained: l.Retained, Work: l.Work, Selective: &l.Selective, Full: &l.Full,
			})
		}
	}
	return m
}

// TestMeasuredByFormulas: what was measured as the formulas say gives the same layers.
func TestMeasuredByFormulas(t *testing.T) {
	for name, b := range blueprints {
		if b.Shards > 0 {
			continue
		}
		n := must[network.Network](t)(b.Network())
		m := measurementsOf(t, n)
		want, got := must[[]network.Part](t)(n.Parts()), must[[]network.Part](t)(m.Parts())
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
		}
		for _, r := range []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull} {
			if layer := m.Lacks(r); layer != -1 {
				t.Errorf("%s: %v is not measured for layer %d", name, r, layer)
			}
		}
	}
}

// TestMeasuredLacks: what recomputation cannot change need not be measured with it.
func TestMeasuredLacks(t *testing.T) {
	m := measurementsOf(t, gpt1b)
	for i := range m.Layers {
		m.Layers[i].Selective = nil
	}
	m.Layers[0].Full, m.Layers[25].Full = nil, nil // embedding and head
	for r, want := range map[network.Recompute]int{network.RecomputeNone: -1, network.RecomputeSelective: 1, network.RecomputeFull: -1} {
		if got := m.Lacks(r); got != want {
			t.Errorf("%v is not measured for layer %d, want %d", r, got, want)
		}
	}
	// They keep what they keep without it.
	head := must[[]network.Part](t)(m.Parts())[0].Layers[25]
	if want := (network.Checkpoint{Bytes: head.Activation}); head.Full != want || head.Activation == 0 {
		t.Errorf("the head keeps %+v under full recomputation, want %+v", head.Full, want)
	}
}

func TestMeasuredErrors(t *testing.T) {
	for _, test := range []struct {
		edit  func(*network.Measured)
		layer int
		field string
		want  string
	}{
		{func(m *network.Measured) { m.Layers = m.Layers[1:] }, -1, "", "measured layers: the network has 26 layers, and 25 were measured"},
		{func(m *network.Measured) { m.Layers[3].Name = "block 7" }, 3, "name", `measured layer 3: "block 7" where the network has "block 2"`},
		{func(m *network.Measured) { m.Layers[0].Part = "encoder" }, 0, "part", `measured layer 0: part "encoder" where the network has ""`},
	} {
		m := measurementsOf(t, gpt1b)
		test.edit(&m)
		_, err := m.Parts()
		var wrong *network.MeasurementError
		if !errors.As(err, &wrong) || wrong.Layer != test.layer || wrong.Field != test.field || err.Error() != test.want {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
}

// TestWork: a stage needs the scratch of one layer at a time, with what that layer brings
// back.
func TestWork(t *testing.T) {
	layers := []network.Layer{
		{Activation: 100, Retained: 10, Full: network.Checkpoint{Bytes: 20}, Work: 5},
		{Activation: 40, Retained: 10, Full: network.Checkpoint{Bytes: 40}, Selective: network.Checkpoint{Bytes: 30, Work: 41}, Work: 60},
	}
	for r, want := range map[network.Recompute]int64{network.RecomputeNone: 60, network.RecomputeSelective: 101, network.RecomputeFull: 85} {
		stages := must[[]network.Stage](t)(network.Stages(layers, a100, network.Partition{2}, []network.Recompute{r}))
		if got := stages[0].Workspace; got != want {
			t.Errorf("%v needs %d bytes beside activations, want %d", r, got, want)
		}
	}
}
