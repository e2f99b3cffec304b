package network_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

func TestMLPDefaultWidth(t *testing.T) {
	m := network.MLP{Layers: 3, Hidden: 16, MicroBatchSize: 2, DType: network.FP32}
	wide := m
	wide.FeedForward = 64
	if got, want := chain(t, m), chain(t, wide); !slices.Equal(got, want) {
		t.Errorf("got %+v, want 4h as the inner width: %+v", got, want)
	}
}

func TestMLPCounts(t *testing.T) {
	m := network.MLP{Layers: 2, Hidden: 16, FeedForward: 40, Sequence: 3, MicroBatchSize: 2}
	layers := chain(t, m)
	const flops = 2 * 6 * 2 * 16 * 40
	if l := layers[1]; l.Forward != flops || l.BackwardInput != flops || l.Parameters != 2*16*40+40+16 {
		t.Errorf("got %+v", l)
	}
	if got := layers[0].BackwardInput; got != flops/2 {
		t.Errorf("the first block has %g FLOPs of backward input, want %d", got, flops/2)
	}
	// The gradient from the next block, [2, 3, 16] of 2 bytes, is held as well.
	if c := layers[1].Cost(network.RecomputeNone); c.Activation != 2*6*(16+80) || c.FreedByBackwardInput != -2*6*16 || c.Workspace != 0 {
		t.Errorf("got %+v", c)
	}
	if c := layers[1].Cost(network.RecomputeFull); c.Activation != 2*6*16 || c.FreedByBackwardInput != -2*6*(16+80) || c.BackwardInput != 2*flops {
		t.Errorf("full recomputation costs %+v", c)
	}
	if got, want := layers[1].Cost(network.RecomputeSelective), layers[1].Cost(network.RecomputeNone); got != want {
		t.Errorf("selective recomputation costs %+v, want no change from %+v", got, want)
	}
	if layers[0].Output != 2*6*16 || layers[1].Output != 0 {
		t.Errorf("output is %d then %d, want %d then 0", layers[0].Output, layers[1].Output, 2*6*16)
	}
	if samples, tokens := m.MicroBatch(); samples != 2 || tokens != 6 {
		t.Errorf("a micro-batch is %d samples, %d tokens; want 2, 6", samples, tokens)
	}
}

func TestMLPValidate(t *testing.T) {
	valid := network.MLP{Layers: 2, Hidden: 4, MicroBatchSize: 1}
	for _, c := range []struct {
		field  string
		change func(*network.MLP)
	}{
		{"layers", func(m *network.MLP) { m.Layers = 0 }},
		{"hidden", func(m *network.MLP) { m.Hidden = 0 }},
		{"micro_batch_size", func(m *network.MLP) { m.MicroBatchSize = 0 }},
		{"feed_forward", func(m *network.MLP) { m.FeedForward = -1 }},
		{"sequence", func(m *network.MLP) { m.Sequence = -1 }},
		{"dtype", func(m *network.MLP) { m.DType = 3 }},
		{"size", func(m *network.MLP) { m.Hidden = math.MaxInt }},
	} {
		m := valid
		c.change(&m)
		_, err := m.Chain()
		var field *network.FieldError
		if !errors.As(err, &field) || field.Owner != "mlp" || field.Field != c.field {
			t.Errorf("error is %v, want one for mlp: %s", err, c.field)
		}
	}
}
