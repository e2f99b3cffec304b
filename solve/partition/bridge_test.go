package partition_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/partition"
)

const document = `
version: 1
devices: [{slowdown: 1.5, memory_limit: 40GiB}, {slowdown: 1}, {slowdown: 1.25, memory_limit: 30GiB}]
micro_batches: 8
model: {kind: gpt, layers: 12, hidden: 1024, heads: 16, sequence: 1024, vocabulary: 50304, tied_embedding: true}
cluster: {flops: 100e12, efficiency: 0.5, link_bandwidth: 25e9}
`

func decode(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Decode([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestFromConfig compares work and memory of every range of layers with network.Stages.
func TestFromConfig(t *testing.T) {
	cfg := decode(t, document)
	p, err := partition.FromConfig(cfg, cssr.Choices{}, everyRecompute)
	if err != nil {
		t.Fatal(err)
	}
	want := []partition.Device{{Factor: 6, Limit: 40 << 30}, {Factor: 4}, {Factor: 5, Limit: 30 << 30}}
	if !slices.Equal(p.Devices, want) || !slices.Equal(p.Group, []int{0, 1, 2}) || !slices.Equal(p.InFlight, []int{3, 2, 1}) {
		t.Errorf("devices %+v, groups %v, in flight %v", p.Devices, p.Group, p.InFlight)
	}
	deal, err := cssr.NewDeal(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	layers, _ := network.DealtLayers(deal.Parts)
	cluster := network.Cluster{FLOPs: 100e12, Efficiency: 0.5}
	for _, r := range everyRecompute {
		for a := 1; a < len(layers)-1; a++ {
			cut := network.Partition{a, 1, len(layers) - a - 1}
			modes := []network.Recompute{r, r, r}
			stages, err := network.Stages(layers, cluster, cut, modes)
			if err != nil {
				t.Fatal(err)
			}
			_, use := partition.Evaluate(p, &partition.Choice{Cut: cut, Recompute: modes, Devices: []int{0, 1, 2}})
			for s, stage := range stages {
				work := int64(stage.Forward+stage.BackwardFull()) * p.Devices[s].Factor
				bytes := stage.Static + stage.Workspace + int64(p.InFlight[s])*stage.Activation + max(0, -stage.FreedByBackwardInput)
				if d := use[s].Work - work; use[s].Bytes != bytes || d*d > 1<<20 {
					t.Fatalf("%v %v: stage %d uses %+v, want %d and %d", cut, r, s, use[s], work, bytes)
				}
			}
		}
	}
}

// TestSlowDevice gives the slow device the least work, and with a free assignment not
// the head.
func TestSlowDevice(t *testing.T) {
	p, err := partition.FromConfig(decode(t, document), cssr.Choices{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := partition.Solve(context.Background(), p, partition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.FreeAssignment = true
	free, err := partition.Solve(context.Background(), p, partition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fixed.Score.Compare(free.Score) < 0 {
		t.Errorf("free %v is worse than fixed %v", free, fixed)
	}
	if fixed.Cut[0] > fixed.Cut[1] {
		t.Errorf("the slowest device has more layers than the fastest: %v", fixed)
	}
}

func TestFromConfigErrors(t *testing.T) {
	refuse := func(name, text string, choices cssr.Choices) {
		_, err := partition.FromConfig(decode(t, text), choices, nil)
		var e *partition.ConfigError
		if !errors.As(err, &e) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	refuse("two directions", document, cssr.Choices{Bidirectional: true})
	for name, text := range map[string]string{
		"routes": document + "routes: [linear, [2, 1, 0]]\n",
		"costs":  "version: 1\ndevices: 2\nmicro_batches: 2\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n",
		"gang": `
version: 1
devices: 2
stages: 2
placement: [[0, 1], [0, 1]]
micro_batches: 8
model: {kind: mlp, layers: 12, hidden: 1024}
cluster: {flops: 100e12, link_bandwidth: 25e9}
`,
	} {
		refuse(name, text, cssr.Choices{})
	}
}

// TestSharedLayers demands that what all devices hold of a shared vocabulary is taken off
// their limits, as a stage of its own and in passes.
func TestSharedLayers(t *testing.T) {
	cfg := decode(t, `
version: 1
devices: 2
micro_batches: 4
model: {kind: gpt, layers: 4, hidden: 64, heads: 4, sequence: 16, vocabulary: 1000}
memory: {limit: 1GiB}
cluster: {flops: 100e12, link_bandwidth: 25e9}
`)
	limits := map[string]int64{}
	for _, vocabulary := range []string{"none", "stage", "passes"} {
		p, err := partition.FromConfig(cfg, cssr.Choices{Vocabulary: vocabulary}, nil)
		if err != nil {
			t.Fatal(err)
		}
		limits[vocabulary] = p.Devices[0].Limit
	}
	// 18 bytes a parameter: half of the embedding's 1000 · 64 and of the head's, the positions, two norms of the head.
	least := int64(18 * 2 * 500 * 64)
	if limits["none"] != 1<<30 || limits["stage"] != limits["passes"] || limits["stage"] > 1<<30-least {
		t.Errorf("limits %v, want %d, and less by %d and more where the vocabulary is shared", limits, 1<<30, least)
	}
}
