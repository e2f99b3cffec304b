package cssr_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// A block of mlpText has 400 FLOPs in each operation, 1 us on its cluster; the
// first has half of them in its backward input. 20 bytes go to the next block.
const mlpText = `
micro_batches: 2
model: {kind: mlp, layers: 4, hidden: 10, feed_forward: 10}
cluster: {flops: 800e6, efficiency: 0.5, link_bandwidth: 20e6, link_latency: 2us, devices_per_node: 2, node_bandwidth: 10e6}
`

func TestModelCosts(t *testing.T) {
	pl := pipeline(t, "devices: 4"+mlpText, cssr.Choices{})
	if want := (model.Unit{Name: "us", Multiplier: 1, Divisor: 2}); pl.TimeUnit != want {
		t.Fatalf("time unit %+v", pl.TimeUnit)
	}
	if want := (model.Unit{Name: "B", Multiplier: 20, Divisor: 1}); pl.MemoryUnit != want {
		t.Fatalf("memory unit %+v", pl.MemoryUnit)
	}
	for s, stage := range pl.Stages {
		want := model.Durations{Forward: 2, BackwardInput: 2, BackwardWeight: 2, BackwardFull: 4, Overlapped: model.Absent}
		if s == 0 {
			want.BackwardInput, want.BackwardFull = 1, 3
		}
		if got := stage.Replicas[0].Durations; got != want {
			t.Errorf("stage %d: got %+v, want %+v", s, got, want)
		}
		// Activation e(h + 2f) = 60, retained 80; 220 parameters of 18 bytes.
		if stage.Activation != 3 || stage.FreedByInput != -1 || stage.Static != 198 {
			t.Errorf("stage %d: memory %d, %d, %d", s, stage.Activation, stage.FreedByInput, stage.Static)
		}
	}
	// 2 us + 20 B at 20 B/us within a node, at 10 B/us between nodes.
	if pl.Latency != 8 {
		t.Errorf("latency %d", pl.Latency)
	}
	equal(t, "links", pl.Links, []model.Link{
		{From: 0, To: 1, Latency: 6}, {From: 1, To: 0, Latency: 6}, {From: 2, To: 3, Latency: 6}, {From: 3, To: 2, Latency: 6},
	})
}

func TestModelUnits(t *testing.T) {
	want := pipeline(t, "devices: 4"+mlpText, cssr.Choices{})
	for unit, tick := range map[string]model.Unit{
		"ns": {Name: "ns", Multiplier: 500, Divisor: 1},
		"ms": {Name: "ms", Multiplier: 1, Divisor: 2000},
		"s":  {Name: "s", Multiplier: 1, Divisor: 2_000_000},
	} {
		pl := pipeline(t, "devices: 4\nunit: "+unit+mlpText, cssr.Choices{})
		if pl.TimeUnit != tick || pl.Latency != want.Latency {
			t.Errorf("%s: unit %+v, latency %d", unit, pl.TimeUnit, pl.Latency)
		}
		equal(t, unit, forwards(pl), forwards(want))
	}
}

func TestModelLinksAndGangs(t *testing.T) {
	pl := pipeline(t, "devices: 4\nplacement: [0, [0, 2], [0, 2], 3]\ncommunication: {links: [{from: 0, to: 2, latency: 1}]}"+mlpText, cssr.Choices{})
	equal(t, "links", pl.Links, []model.Link{{From: 0, To: 2, Latency: 2}, {From: 2, To: 3, Latency: 6}, {From: 3, To: 2, Latency: 6}})
}

func TestPartitions(t *testing.T) {
	for _, c := range []struct {
		text    string
		choices cssr.Choices
		want    []model.Time // microseconds: layers, times the slowdown
	}{
		{"devices: 2\npartition: even", cssr.Choices{}, []model.Time{2, 2}},
		{"devices: 3\npartition: even", cssr.Choices{}, []model.Time{2, 1, 1}},
		{"devices: 2\npartition: [3, 1]", cssr.Choices{}, []model.Time{3, 1}},
		{"devices: [{}, {slowdown: 3}]", cssr.Choices{}, []model.Time{3, 3}},
		{"devices: 2", cssr.Choices{SplitStages: 2}, []model.Time{1, 1, 1, 1}},
		{"devices: 1\npartition: [4]", cssr.Choices{SplitStages: 3}, []model.Time{2, 1, 1}},
		{"devices: 1\npartition: even", cssr.Choices{SplitStages: 3}, []model.Time{2, 1, 1}},
	} {
		pl := pipeline(t, c.text+mlpText, c.choices)
		microseconds := forwards(pl)
		for s, ticks := range microseconds {
			microseconds[s] = model.Time(pl.TimeUnit.Rat(int64(ticks)).Num().Int64())
		}
		equal(t, c.text, microseconds, c.want)
	}
	refused(t, "devices: 2\npartition: [3, 1]"+mlpText, cssr.Choices{SplitStages: 2}, "test.yaml:3:16: partition[1]: split-stages 2: stage 1 has fewer layers than chunks")
	refused(t, "devices: 5"+mlpText, cssr.Choices{}, "test.yaml:4:28: model.layers: ", "4 layers into 5 stages")
	refused(t, "devices: 5\npartition: even"+mlpText, cssr.Choices{}, "test.yaml:3:12: partition: ", "4 layers into 5 stages")
}

const gptText = `
micro_batches: 2
model: {kind: gpt, layers: 4, hidden: 64, heads: 4, sequence: 32, vocabulary: 1000}
cluster: {flops: 1e12, link_bandwidth: 1e9}
`

// The numbers of a GPT are those of package network, in bytes and nanoseconds;
// the workspace of recomputation counts as static.
func TestModelAgreesWithNetwork(t *testing.T) {
	cfg := decode(t, "devices: 4\nunit: ns\npartition: [embedding, 2, 2, head]\nrecompute: full"+gptText)
	pl, err := cssr.Pipeline(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	layers, err := network.GPT{Layers: 4, Hidden: 64, Heads: 4, Sequence: 32, Vocabulary: 1000, MicroBatchSize: 1}.Chain()
	if err != nil {
		t.Fatal(err)
	}
	full := network.RecomputeFull
	stages, err := network.Stages(layers, network.Cluster{FLOPs: 1e12}, network.Partition{1, 2, 2, 1}, []network.Recompute{full, full, full, full})
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range stages {
		got := pl.Stages[s]
		checkExact(t, pl.TimeUnit, int64(got.Replicas[0].Durations.Forward), int64(want.Forward))
		checkExact(t, pl.TimeUnit, int64(got.Replicas[0].Durations.BackwardInput), int64(want.BackwardInput))
		checkExact(t, pl.TimeUnit, int64(got.Replicas[0].Durations.BackwardWeight), int64(want.BackwardWeight))
		checkExact(t, pl.MemoryUnit, int64(got.Activation), want.Activation)
		checkExact(t, pl.MemoryUnit, int64(got.FreedByInput), want.FreedByBackwardInput)
		checkExact(t, pl.MemoryUnit, int64(got.Static), want.Static+want.Workspace)
	}
	if stages[1].Workspace == 0 {
		t.Error("the test has no workspace")
	}
}

// checkExact fails unless n steps of the unit are want.
func checkExact(t *testing.T, unit model.Unit, n, want int64) {
	t.Helper()
	if r := unit.Rat(n); !r.IsInt() || r.Num().Int64() != want {
		t.Errorf("%d steps of %+v are %s, want %d", n, unit, r.RatString(), want)
	}
}

// Numbers of a network that cannot be are refused where they stand.
func TestRefusedModels(t *testing.T) {
	const text = "devices: 1\nmicro_batches: 1\nmodel: {kind: mlp, layers: %d, hidden: %d}\ncluster: {flops: %s, link_bandwidth: 1e9}\n"
	for _, c := range []struct {
		layers, hidden int
		flops          string
		place          string
	}{
		{1 << 16, 1 << 28, "1e12", "test.yaml:4:8: model: "},
		{4, 1 << 20, "1e-9", "test.yaml:5:18: cluster.flops: "},
	} {
		err := refused(t, fmt.Sprintf(text, c.layers, c.hidden, c.flops), cssr.Choices{}, c.place)
		if field := (*network.FieldError)(nil); !errors.As(err, &field) {
			t.Errorf("%v is no FieldError", err)
		}
	}
}

// No rate is so high that a network takes no time.
func TestFastClusters(t *testing.T) {
	pl := pipeline(t, "devices: 2\nmicro_batches: 1\nmodel: {kind: mlp, layers: 2, hidden: 1}\ncluster: {flops: 1e30, link_bandwidth: 1e30}\n", cssr.Choices{})
	equal(t, "forwards", forwards(pl), []model.Time{1, 1})
	if pl.Latency != 1 || pl.TimeUnit != (model.Unit{Name: "us", Multiplier: 1, Divisor: 1000}) {
		t.Errorf("latency %d, unit %+v", pl.Latency, pl.TimeUnit)
	}
}
