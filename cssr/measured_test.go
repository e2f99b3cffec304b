package cssr_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// formulaProfile returns a profile of the network of a configuration in which its layers
// took what the formulas say on a device with an operation per nanosecond.
func formulaProfile(t testing.TB, cfg *config.Config) *config.Profile {
	t.Helper()
	net, err := cssr.Network(cfg.Model, len(cfg.Devices))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := net.Parts()
	if err != nil {
		t.Fatal(err)
	}
	bandwidth := cfg.Cluster.LinkBandwidth
	p := &config.Profile{
		Unit: config.Nanosecond, MicroBatchSize: cfg.Model.MicroBatchSize,
		Link: &config.LinkProfile{Latency: cfg.Cluster.LinkLatency, Bandwidth: &bandwidth},
	}
	for _, part := range parts {
		for _, l := range part.Layers {
			p.Layers = append(p.Layers, config.LayerProfile{
				Part: part.Name, Name: l.Name,
				Durations: config.LayerDurations{
					Forward: *took(l.Forward), BackwardInput: took(l.BackwardInput), BackwardWeight: took(l.BackwardWeight),
					RecomputeSelective: took(l.Selective.FLOPs), RecomputeFull: took(l.Full.FLOPs),
				},
				Memory: config.LayerMemory{
					Activation: l.Activation, Retained: l.Retained, Selective: &l.Selective.Bytes, Full: &l.Full.Bytes,
				},
			})
		}
	}
	return p
}

func took(nanoseconds float64) *config.Measurement {
	return &config.Measurement{Median: config.NewDecimal(int64(nanoseconds))}
}

// measuredConfig returns a configuration whose model has a profile instead of its cluster.
func measuredConfig(t testing.TB, text string, p *config.Profile) *config.Config {
	t.Helper()
	kept := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "cluster:") {
			kept += line
		}
	}
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"test.yaml": {Data: []byte("version: 1\nprofile: measured.json\n" + kept)}, "measured.json": {Data: data},
	}
	cfg, err := config.Load(files, "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestMeasuredByFormulas: measurements that equal the formulas give the same pipeline.
func TestMeasuredByFormulas(t *testing.T) {
	none, full := []network.Recompute{network.RecomputeNone}, []network.Recompute{network.RecomputeFull}
	for name, text := range map[string]string{
		"gpt": smallGPT, "even gpt": smallGPT + "partition: even\nrecompute: [selective, full]\n",
		"slow device": strings.Replace(smallGPT, "devices: 2", "devices: [{slowdown: 1.5}, {memory_limit: 1MiB}]", 1),
		"two-branch":  "devices: 3" + branchesText,
		"encoder-decoder": "devices: 3" + nanoseconds + `
model:
  kind: encoder-decoder
  encoder: {layers: 2, hidden: 8, heads: 2, sequence: 4, vocabulary: 16}
  decoder: {layers: 3, hidden: 8, heads: 2, sequence: 4, vocabulary: 16}
`,
	} {
		cfg := decode(t, text)
		measured := measuredConfig(t, text, formulaProfile(t, cfg))
		for _, choices := range []cssr.Choices{{}, {SplitStages: 1, Backward: mode(model.Fused)}, {Recompute: none}, {Recompute: full, Placement: "loop"}} {
			want, err := cssr.Pipeline(cfg, choices)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cssr.Pipeline(measured, choices)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %+v: formulas, measurements:\n%s", name, choices, diff)
			}
		}
	}
}

// TestMeasuredCosts: what a profile says counts, and no formula.
func TestMeasuredCosts(t *testing.T) {
	p := formulaProfile(t, decode(t, smallGPT))
	for i := range p.Layers {
		l := &p.Layers[i]
		l.Durations = config.LayerDurations{Forward: *took(10), BackwardInput: took(20), BackwardWeight: took(5), RecomputeFull: took(100)}
		l.Memory = config.LayerMemory{Activation: 1000, Retained: 300, Full: l.Memory.Full, Work: 50}
		*l.Memory.Full = 200
	}
	p.Layers[7].Durations.Forward.Median = config.NewDecimal(60) // as much as six others
	p.Layers[7].Memory.Work = 5000
	p.Link.Bandwidth, p.Link.Latency = nil, config.NewDecimal(7)
	pl, err := cssr.Pipeline(measuredConfig(t, smallGPT+"recompute: [full, none]\n", p), cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := network.DecodeBlueprint(pl.Network)
	if err != nil {
		t.Fatal(err)
	}
	first := int64(b.Stages[0].End)
	last := 8 - first
	d := pl.Stages[0].Replicas[0].Durations
	checkExact(t, pl.TimeUnit, int64(d.Forward), 10*first)
	checkExact(t, pl.TimeUnit, int64(d.BackwardInput), 120*first)
	checkExact(t, pl.TimeUnit, int64(pl.Stages[1].Replicas[0].Durations.Forward), 10*last+50)
	checkExact(t, pl.TimeUnit, int64(pl.Latency), 7)
	checkExact(t, pl.MemoryUnit, int64(pl.Stages[0].Activation), 200*first)
	checkExact(t, pl.MemoryUnit, int64(pl.Stages[0].FreedByInput), -100*first)
	checkExact(t, pl.MemoryUnit, int64(pl.Stages[1].Activation), 1000*last)
	checkExact(t, pl.MemoryUnit, int64(pl.Stages[1].FreedByInput), 700*last)

	// Beside parameters, full recomputation brings 1000 - 300 bytes of one block back
	// while 50 more are scratch; the head has 5000.
	formulas, err := cssr.Pipeline(decode(t, smallGPT), cssr.Choices{Partition: []int{int(first), int(last)}})
	if err != nil {
		t.Fatal(err)
	}
	for s, extra := range []int64{750, 5000} {
		unit := formulas.MemoryUnit
		static := int64(formulas.Stages[s].Static) * unit.Multiplier / unit.Divisor
		checkExact(t, pl.MemoryUnit, int64(pl.Stages[s].Static), static+extra)
	}
}

// TestMeasuredRefusals holds what a profile of layers does not allow to the message and its place.
func TestMeasuredRefusals(t *testing.T) {
	for _, test := range []struct {
		name    string
		edit    func(*config.Profile)
		further string
		choices cssr.Choices
		want    string
	}{
		{"count", func(p *config.Profile) { p.Layers = p.Layers[1:] }, "", cssr.Choices{},
			"measured.json:6:13: layers: the network has 8 layers, and 7 were measured; measure the model of the configuration"},
		{"name", func(p *config.Profile) { p.Layers[1].Name = "block 1" }, "", cssr.Choices{},
			`layers[1].name: "block 1" where the network has "block 0"; measure the model of the configuration`},
		{"part", func(p *config.Profile) { p.Layers[1].Part = "encoder" }, "", cssr.Choices{},
			`layers[1].part: part "encoder" where the network has ""; measure the model of the configuration`},
		{"no backward input", func(p *config.Profile) { p.Layers[2].Durations.BackwardInput = nil }, "", cssr.Choices{},
			"layers[2].durations: block 1 has no backward_input, which this layer of the network has; measure it, or write that its median is 0"},
		{"no backward weight", func(p *config.Profile) { p.Layers[7].Durations.BackwardWeight = nil }, "", cssr.Choices{},
			"layers[7].durations: head has no backward_weight, which this layer of the network has; measure it, or write that its median is 0"},
		{"recompute", func(p *config.Profile) { p.Layers[2].Memory.Full, p.Layers[2].Durations.RecomputeFull = nil, nil }, "recompute: full\n", cssr.Choices{},
			"test.yaml:10:12: recompute: block 1 was not measured with recomputation full; measure it, or choose one that was"},
		{"chosen recompute", func(p *config.Profile) { p.Layers[2].Memory.Full, p.Layers[2].Durations.RecomputeFull = nil, nil }, "",
			cssr.Choices{Recompute: []network.Recompute{network.RecomputeFull}},
			"measured.json:6:13: layers: recompute [full]: block 1 was not measured with recomputation full; measure it, or choose one that was"},
		{"chosen size", nil, "", cssr.Choices{MicroBatchSize: 2},
			"measured.json:5:23: micro_batch_size: micro-batch-size 2: the layers were measured with 4; measure them again with it"},
		{"chosen sharing", nil, "", cssr.Choices{Vocabulary: "passes"},
			"test.yaml:2:10: profile: vocabulary passes: layers that all devices share were not measured; use none"},
		{"no blueprint", func(p *config.Profile) { p.Network = "{}" }, "", cssr.Choices{},
			`network: blueprint: kind is "": known are gpt, mlp, encoder-decoder, two-branch; write it as a plan file has it, or leave it out`},
		{"another network", func(p *config.Profile) {
			p.Network = `{"kind":"gpt","stacks":[{"layers":6,"hidden":8,"heads":2,"sequence":4,"vocabulary":16}],"micro_batch_size":4,"dtype":"fp32","stages":[{"part":0,"first":0,"end":8}]}`
		}, "", cssr.Choices{},
			"network: another network than the model of the configuration was measured; measure again, or describe the network that was measured"},
	} {
		p := formulaProfile(t, decode(t, smallGPT))
		if test.edit != nil {
			test.edit(p)
		}
		_, err := cssr.Pipeline(measuredConfig(t, smallGPT+test.further, p), test.choices)
		if err == nil || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", test.name, err, test.want)
		}
	}
}

// TestMeasuredElements: types of elements of one size cost the same by formulas, and are
// not the same to measure.
func TestMeasuredElements(t *testing.T) {
	text := strings.Replace(smallGPT, "fp32", "bf16", 1)
	p := formulaProfile(t, decode(t, text))
	for dtype, same := range map[string]bool{"bf16": true, "fp16": false} {
		p.Network = config.Object(fmt.Sprintf(`{"kind":"gpt","stacks":[{"layers":6,"hidden":8,"heads":2,"sequence":4,"vocabulary":16,"tied_embedding":true}],"micro_batch_size":4,"dtype":%q,"stages":[{"part":0,"first":0,"end":8}]}`, dtype))
		if _, err := cssr.Pipeline(measuredConfig(t, text, p), cssr.Choices{}); (err == nil) != same {
			t.Errorf("a profile of %s for a model of bf16: %v", dtype, err)
		}
	}
}

// TestMeasuredWithoutInput: a layer that has no backward input by its formulas needs no
// measurement of it, as an embedding.
func TestMeasuredWithoutInput(t *testing.T) {
	p := formulaProfile(t, decode(t, smallGPT))
	p.Layers[0].Durations.BackwardInput = nil
	if _, err := cssr.Pipeline(measuredConfig(t, smallGPT, p), cssr.Choices{}); err != nil {
		t.Error(err)
	}
}

// TestRecomputable: recomputation that was not measured for a layer which it changes is
// none to choose.
func TestRecomputable(t *testing.T) {
	p := formulaProfile(t, decode(t, smallGPT))
	for i := range p.Layers {
		p.Layers[i].Memory.Full, p.Layers[i].Durations.RecomputeFull = nil, nil
	}
	for want, cfg := range map[string]*config.Config{
		"[none selective]": measuredConfig(t, smallGPT, p), "[none selective full]": decode(t, smallGPT),
	} {
		if got, err := cssr.Recomputable(cfg); fmt.Sprint(got) != want || err != nil {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
}

// TestProfileNetwork: stages that were measured as they are have the network that the
// profile says, chunks of them have none.
func TestProfileNetwork(t *testing.T) {
	const text = `{"kind":"mlp","stacks":[{"layers":3,"hidden":8}],"micro_batch_size":1,"dtype":"fp32","stages":[{"part":0,"first":0,"end":2},{"part":0,"first":2,"end":3}]}`
	load := func(network string) *config.Config {
		stage := config.StageProfile{Durations: config.Durations{Forward: *took(1), BackwardInput: took(1), BackwardWeight: took(1)}}
		p := &config.Profile{Unit: config.Nanosecond, Stages: []config.StageProfile{stage, stage}, Network: config.Object(network)}
		return measuredConfig(t, "devices: 2\nmicro_batches: 2\n", p)
	}
	for chunks, want := range map[int]string{0: text, 1: text, 2: ""} {
		pl, err := cssr.Pipeline(load(text), cssr.Choices{SplitStages: chunks})
		if err != nil {
			t.Fatal(err)
		}
		if pl.Network != want {
			t.Errorf("%d chunks: network %q, want %q", chunks, pl.Network, want)
		}
	}
	for network, want := range map[string]string{
		strings.Replace(text, `"end":2},{"part":0,"first":2,"end":3}`, `"end":3}`, 1): "network: it has the layers of 1 stage, and 2 were measured; list the layers of each stage, or leave it out",
		strings.Replace(text, `"hidden":8`, `"hidden":0`, 1):                          "network: mlp: hidden is 0: must be at least 1; write it as a plan file has it, or leave it out",
	} {
		if _, err := cssr.Pipeline(load(network), cssr.Choices{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
