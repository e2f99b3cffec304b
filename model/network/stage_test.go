package network_test

import (
	"errors"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
)

func TestStages(t *testing.T) {
	layers := chain(t, gpt1b)
	partition := must[network.Partition](t)(network.Even(layers, 4))
	recompute := []network.Recompute{network.RecomputeFull, network.RecomputeSelective, network.RecomputeNone, network.RecomputeNone}
	stages := must[[]network.Stage](t)(network.Stages(layers, a100, partition, recompute))

	const bs, h, as, v = 1024, 2304, 24 * 1024, 50304
	const rate = 312e12 * 0.45
	forward := 6 * bs * h * (24*h + 4*1024.0)
	// The full recomputation of stage 0 frees 2h - 32h per block and h - 2h in the
	// embedding; the head of stage 3 frees 2h + (4 - 2)V.
	want := []network.Stage{
		{First: 0, End: 7, Activation: bs * (8 + h + 6*2*h), FreedByBackwardInput: bs * (-h - 6*30*h), Workspace: bs * (2*h + 5*as), Output: 2 * bs * h},
		{First: 7, End: 13, Activation: bs * 6 * 34 * h, FreedByBackwardInput: bs * 6 * 2 * h, Workspace: bs * 5 * as, Output: 2 * bs * h},
		{First: 13, End: 19, Activation: bs * 6 * (34*h + 5*as), FreedByBackwardInput: bs * 6 * (2*h + 5*as), Output: 2 * bs * h},
		{First: 19, End: 26, Activation: bs * (6*(34*h+5*as) + 4*h + 4*v), FreedByBackwardInput: bs * (6*(2*h+5*as) + 2*h + 2*v)},
	}
	for s, got := range stages {
		if d := got.Forward.Seconds() - forward/rate; s < 3 && (d < -1e-9 || d > 1e-7) {
			t.Errorf("stage %d: forward takes %v, want %gs", s, got.Forward, forward/rate)
		}
		if got.BackwardFull() != got.BackwardInput+got.BackwardWeight {
			t.Errorf("stage %d: the fused backward takes %v, want the sum of %v and %v", s, got.BackwardFull(), got.BackwardInput, got.BackwardWeight)
		}
		want[s].Forward, want[s].BackwardInput, want[s].BackwardWeight = got.Forward, got.BackwardInput, got.BackwardWeight
		want[s].Static = got.Static
		if got != want[s] {
			t.Errorf("stage %d:\n got %+v\nwant %+v", s, got, want[s])
		}
	}
	if static := stages[1].Static; static != 18*6*(12*h*h+13*h) {
		t.Errorf("stage 1 has %d static bytes, want 18 per parameter", static)
	}
}

// TestFirstStage: an embedding alone has no backward input; one with blocks has.
func TestFirstStage(t *testing.T) {
	layers := chain(t, gpt1b)
	partition := must[network.Partition](t)(network.Listed(layers, []int{0, 12, 12}))
	stages := must[[]network.Stage](t)(network.Stages(layers, a100, partition, nil))
	if stages[0].BackwardInput != 0 || stages[1].BackwardInput == 0 {
		t.Errorf("backward input takes %v then %v, want 0 then more", stages[0].BackwardInput, stages[1].BackwardInput)
	}
}

// TestTiedEmbedding: two stages each hold the table, one stage holds it once.
func TestTiedEmbedding(t *testing.T) {
	static := func(tied bool, stages int) (sum int64) {
		g := gpt1b
		g.TiedEmbedding = tied
		layers := chain(t, g)
		partition := must[network.Partition](t)(network.Even(layers, stages))
		for _, s := range must[[]network.Stage](t)(network.Stages(layers, a100, partition, nil)) {
			sum += s.Static
		}
		return sum
	}
	table := int64(18 * gpt1b.Vocabulary * gpt1b.Hidden)
	if a, b := static(true, 4), static(false, 4); a != b {
		t.Errorf("on 4 stages tied tables take %d bytes in all, want %d as untied", a, b)
	}
	if a, b := static(true, 1), static(false, 1); a != b-table {
		t.Errorf("on 1 stage tied tables take %d bytes in all, want %d", a, b-table)
	}
}

func TestStagesErrors(t *testing.T) {
	layers := toy(t, 4)
	slow := network.Cluster{FLOPs: 1e-9}
	for _, c := range []struct {
		name      string
		cluster   network.Cluster
		partition network.Partition
		recompute []network.Recompute
		target    any
	}{
		{"cluster", network.Cluster{}, network.Partition{6}, nil, new(*network.FieldError)},
		{"slow", slow, network.Partition{6}, nil, new(*network.FieldError)},
		{"none", a100, nil, nil, new(*network.PartitionError)},
		{"short", a100, network.Partition{2, 2}, nil, new(*network.PartitionError)},
		{"long", a100, network.Partition{5, 2}, nil, new(*network.PartitionError)},
		{"empty", a100, network.Partition{0, 6}, nil, new(*network.PartitionError)},
		{"recompute", a100, network.Partition{3, 3}, []network.Recompute{0}, new(*network.PartitionError)},
	} {
		stages, err := network.Stages(layers, c.cluster, c.partition, c.recompute)
		if !errors.As(err, c.target) {
			t.Errorf("%s: got %v, %v, want an error of type %T", c.name, stages, err, c.target)
		}
	}
}

// TestStagesRounding: durations are rounded once, from the sum of the layers.
func TestStagesRounding(t *testing.T) {
	layer := network.Layer{Forward: 0.4, BackwardInput: 0.5, BackwardWeight: 0.25}
	layers := []network.Layer{layer, layer, layer}
	stages := must[[]network.Stage](t)(network.Stages(layers, network.Cluster{FLOPs: 1e9}, network.Partition{3}, nil))
	got := [...]time.Duration{stages[0].Forward, stages[0].BackwardInput, stages[0].BackwardWeight}
	if want := [...]time.Duration{1, 2, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
