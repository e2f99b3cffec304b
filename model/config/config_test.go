package config

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Configurations that decode, from which the fuzzer starts.
var validConfigs = map[string]string{
	"everything": `
version: 1
name: gpt-1.5b
devices: [{name: a}, {slowdown: 1.5}, {}, {}]
micro_batches: [1, 1.25, 0.5]
stages: 4
placement: linear
edges: [[0, 1], [1, 2], [2, 3]]
unit: us
costs: {forward: 10, backward_input: 11, backward_weight: 9, backward_full: 19, overlapped: 25}
backward: [split, fused, auto, split]
communication: {latency: 1, links: [{from: 0, to: 1, latency: 2}], mode: blocking}
memory: {activation: 2, freed_by_backward_input: 1, freed_by_backward_weight: 1, static: 0, limit: [8, 8, none, 6]}
objective: span
`,
	"least": `
version: 1
devices: 1
micro_batches: 1
costs: {forward: 0, backward_input: 0, backward_weight: 0}
`,
	"json": `{"version": 1, "name": "a\/b\u0020\"\ud83d\ude00", "devices": 2, "micro_batches": 4, "unit": "ms",
	"costs": {"forward": [1, "250us"], "backward_input": null, "backward_weight": "none"}}`,
	"fused only": `
version: 1
devices: 2
micro_batches: 4
costs: {forward: 1, backward_full: [2, 3]}
backward: fused
`,
	"frozen encoder": `
version: 1
devices: 4
micro_batches: 4
costs:
  forward: [2, 1, 2, 2]
  backward_input: [none, none, 2, 2]
  backward_weight: [none, 1, none, none]
`,
	"gang": `
version: 1
devices: 4
micro_batches: 2
stages: 3
placement: [0, [3, 1], 2]
edges: []
costs: {forward: 1, backward_input: 1, backward_weight: 1}
memory: {activation: 1GiB, freed_by_backward_input: -0.5GiB, limit: 80GB}
`,
	"profile": `
version: 1
devices: 2
micro_batches: 4
profile: profile.json
unit: ms
memory: {limit: 1000}
`,
	"layer profile": `
version: 1
devices: 2
global_batch: 12
profile: layers.json
model: {kind: mlp, layers: 2, hidden: 8, micro_batch_size: 4, dtype: fp32}
unit: ms
partition: [1, 1]
recompute: [full, none]
memory: {limit: 1MiB}
`,
	"graph profile": `
version: 1
devices: 2
global_batch: 12
profile: graph.json
backward: fused
`,
	"gpt": `
version: 1
devices: 4
model: {kind: gpt, layers: 24, hidden: 2304, heads: 24, sequence: 1024, vocabulary: 50304, feed_forward: 9216, micro_batch_size: 2, dtype: bf16, tied_embedding: false}
cluster: {flops: 312e12, efficiency: 0.45, link_bandwidth: 25e9, link_latency: 5us, devices_per_node: 8, node_bandwidth: 12e9}
partition: [[embedding, 5], 6, 6, 6, [1, head]]
recompute: [none, selective, full, none, none]
global_batch: 128
memory: {limit: 80GB}
`,
	"encoder-decoder": `
version: 1
devices: 4
micro_batches: 4
model:
  kind: encoder-decoder
  encoder: {layers: 12, hidden: 512, heads: 8, sequence: 512, vocabulary: 32000}
  decoder: {layers: 12, hidden: 512, heads: 8, sequence: 128, vocabulary: 32000, tied_embedding: true}
cluster: {flops: 1e14, link_bandwidth: 25e9}
partition: even
`,
	"mlp": `
version: 1
devices: 2
micro_batches: 8
global_batch: 32
unit: ns
model: {kind: mlp, layers: 5, hidden: 64, sequence: 2, micro_batch_size: 4, dtype: fp32}
cluster: {flops: 1e9, link_bandwidth: 1e9, link_latency: 0.5us}
partition: [2, 3]
`,
	"two-branch": `
version: 1
devices: 4
micro_batches: 4
model:
  kind: two-branch
  branches: [{layers: 12, hidden: 768, heads: 12, sequence: 197}, {kind: mlp, layers: 6, hidden: 512}]
  joint: {kind: mlp, layers: 2, hidden: 512, feed_forward: 512}
  loss: contrastive
cluster: {flops: 1e14, link_bandwidth: 25e9}
`,
}

// Profiles that the configurations above name.
const (
	chainProfile = `{"format": "flexpipe/profile", "version": 1, "unit": "us",
"provenance": {"device": "two cores"},
"stages": [
 {"durations": {"forward": {"median": 1500, "p10": 1400, "p90": 1600.5, "samples": 20}},
  "memory": {"activation": 0, "static": 700}},
 {"durations": {"forward": {"median": 1000}, "backward_input": {"median": 0.1}, "backward_weight": {"median": 0.2}, "overlapped": {"median": 3}},
  "memory": {"activation": 300, "freed_by_backward_input": 100, "freed_by_backward_weight": 200, "static": 700}}
]}`
	graphProfile = `{"format": "flexpipe/profile", "version": 1, "unit": "ns", "micro_batch_size": 3,
"stages": [
 {"durations": {"forward": {"median": 1}, "backward_full": {"median": 2}}},
 {"durations": {"forward": {"median": 1}, "backward_full": {"median": 2}}},
 {"durations": {"forward": {"median": 1}, "backward_input": {"median": 1}, "backward_weight": {"median": 2}, "backward_full": {"median": 2}}}
],
"edges": [{"from": 0, "to": 2, "latency": 7}, {"from": 1, "to": 2, "latency": 8}]}`
)

// load decodes one of validConfigs.
func load(t *testing.T, name string) *Config {
	t.Helper()
	files := fstest.MapFS{
		"c.yaml":       {Data: []byte(validConfigs[name])},
		"profile.json": {Data: []byte(chainProfile)},
		"graph.json":   {Data: []byte(graphProfile)},
		"layers.json":  {Data: []byte(layerProfile)},
	}
	config, err := Load(files, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, config)
	return config
}

// dec returns the decimal that text writes.
func dec(text string) Decimal {
	d, err := ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// ref returns a pointer to the decimal that text writes.
func ref(text string) *Decimal { d := dec(text); return &d }

// repeat returns a list of n times v.
func repeat[T any](n int, v T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// same fails when got differs from want.
func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEverything(t *testing.T) {
	same(t, &Config{
		Name: "gpt-1.5b",
		Devices: []Device{
			{Name: "a", Limit: ref("8"), Slowdown: dec("1")}, {Limit: ref("8"), Slowdown: dec("1.5")},
			{Slowdown: dec("1")}, {Limit: ref("6"), Slowdown: dec("1")},
		},
		MicroBatches: 3,
		Factors:      []Decimal{dec("1"), dec("1.25"), dec("0.5")},
		Stages:       4,
		Placement:    Placement{Rule: Linear, Devices: [][]int{{0}, {1}, {2}, {3}}},
		Edges:        []Edge{{0, 1}, {1, 2}, {2, 3}},
		Unit:         Microsecond,
		Costs: repeat(4, StageCosts{
			Forward: dec("10"), BackwardInput: ref("11"), BackwardWeight: ref("9"), BackwardFull: ref("19"), Overlapped: ref("25"),
		}),
		Backward:      []Backward{Split, Fused, Auto, Split},
		Communication: Communication{Latency: dec("1"), Links: []Link{{0, 1, dec("2")}}, Blocking: true},
		Memory:        repeat(4, StageMemory{Activation: dec("2"), FreedByBackwardInput: dec("1"), FreedByBackwardWeight: dec("1")}),
		Objective:     Span,
	}, load(t, "everything"))
}

func TestDefaults(t *testing.T) {
	same(t, &Config{
		Devices:      []Device{{Slowdown: dec("1")}},
		MicroBatches: 1,
		Stages:       1,
		Placement:    Placement{Rule: Linear, Devices: [][]int{{0}}},
		Edges:        []Edge{},
		Unit:         Tick,
		Costs:        []StageCosts{{BackwardInput: ref("0"), BackwardWeight: ref("0"), BackwardFull: ref("0")}},
		Backward:     []Backward{Split},
		Objective:    Makespan,
	}, load(t, "least"))
}

func TestJSON(t *testing.T) {
	config := load(t, "json")
	same(t, `a/b "😀`, config.Name)
	same(t, []StageCosts{{Forward: dec("1")}, {Forward: dec("0.25")}}, config.Costs)
}

func TestOperationsThatStagesLack(t *testing.T) {
	same(t, []StageCosts{
		{Forward: dec("1"), BackwardFull: ref("2")},
		{Forward: dec("1"), BackwardFull: ref("3")},
	}, load(t, "fused only").Costs)
	same(t, []StageCosts{
		{Forward: dec("2")},
		{Forward: dec("1"), BackwardWeight: ref("1")},
		{Forward: dec("2"), BackwardInput: ref("2")},
		{Forward: dec("2"), BackwardInput: ref("2")},
	}, load(t, "frozen encoder").Costs)
}

// One value for all stages means all stages that have such an operation.
func TestSharedBackwardFull(t *testing.T) {
	config, err := Decode([]byte(`
version: 1
devices: 2
micro_batches: 4
costs: {forward: 1, backward_input: [none, 1], backward_weight: [none, 1], backward_full: 1.5, overlapped: 2}
backward: fused
`), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	same(t, []StageCosts{
		{Forward: dec("1")},
		{Forward: dec("1"), BackwardInput: ref("1"), BackwardWeight: ref("1"), BackwardFull: ref("1.5"), Overlapped: ref("2")},
	}, config.Costs)
}

func TestGangsAndSizes(t *testing.T) {
	config := load(t, "gang")
	same(t, Placement{Rule: Listed, Devices: [][]int{{0}, {1, 3}, {2}}}, config.Placement)
	same(t, []Edge{}, config.Edges)
	same(t, true, config.SizesInBytes)
	same(t, repeat(3, StageMemory{
		Activation: dec("1073741824"), FreedByBackwardInput: dec("-536870912"), FreedByBackwardWeight: dec("1610612736"),
	}), config.Memory)
	same(t, repeat(4, Device{Limit: ref("80e9"), Slowdown: dec("1")}), config.Devices)
}

func TestPlacementRules(t *testing.T) {
	for _, test := range []struct {
		keys string
		want Placement
	}{
		{"stages: 2", Placement{Linear, [][]int{{0}, {1}}}},
		{"stages: 5", Placement{Loop, [][]int{{0}, {1}, {0}, {1}, {0}}}},
		{"stages: 6\nplacement: v", Placement{Vee, [][]int{{0}, {1}, {1}, {0}, {0}, {1}}}},
		{"placement: [1, 1, 0]", Placement{Listed, [][]int{{1}, {1}, {0}}}},
	} {
		config, err := Decode([]byte("version: 1\ndevices: 2\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"+test.keys), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		same(t, test.want, config.Placement)
	}
}

func TestProfile(t *testing.T) {
	config := load(t, "profile")
	same(t, []StageCosts{
		{Forward: dec("1.5")},
		{Forward: dec("1"), BackwardInput: ref("0.0001"), BackwardWeight: ref("0.0002"), BackwardFull: ref("0.0003"), Overlapped: ref("0.003")},
	}, config.Costs)
	same(t, []StageMemory{
		{Static: dec("700")},
		{Activation: dec("300"), FreedByBackwardInput: dec("100"), FreedByBackwardWeight: dec("200"), Static: dec("700")},
	}, config.Memory)
	same(t, repeat(2, Device{Limit: ref("1000"), Slowdown: dec("1")}), config.Devices)
	same(t, true, config.SizesInBytes)
	same(t, 20, config.Profile.Stages[0].Durations.Forward.Samples)
}

func TestProfileGraph(t *testing.T) {
	config := load(t, "graph profile")
	same(t, Nanosecond, config.Unit)
	same(t, 4, config.MicroBatches)
	same(t, []Edge{{0, 2}, {1, 2}}, config.Edges)
	same(t, []Decimal{dec("7"), dec("8")}, config.Communication.EdgeLatency)
	same(t, StageCosts{Forward: dec("1"), BackwardFull: ref("2")}, config.Costs[0])
}

func TestProfileBesideConfiguration(t *testing.T) {
	files := fstest.MapFS{
		"plans/gpt/c.yaml":    {Data: []byte("version: 1\ndevices: 2\nmicro_batches: 1\nprofile: ../measured.json\n")},
		"plans/measured.json": {Data: []byte(chainProfile)},
	}
	if _, err := Load(files, "plans/gpt/c.yaml"); err != nil {
		t.Fatal(err)
	}
}

func TestModel(t *testing.T) {
	config := load(t, "gpt")
	same(t, 64, config.MicroBatches)
	same(t, 128, config.GlobalBatch)
	same(t, Microsecond, config.Unit)
	same(t, &Model{
		Kind: GPT, MicroBatchSize: 2, DType: BF16, VocabularySharding: VocabularyNone,
		Parts: []Part{{Role: Body, Kind: GPT, Layers: 24, Hidden: 2304, Heads: 24, Sequence: 1024, Vocabulary: 50304, FeedForward: 9216}},
	}, config.Model)
	same(t, &Cluster{
		FLOPS: dec("312e12"), Efficiency: dec("0.45"), LinkBandwidth: dec("25e9"), LinkLatency: dec("5"),
		DevicesPerNode: 8, NodeBandwidth: dec("12e9"),
	}, config.Cluster)
	same(t, &Partition{Rule: PartitionListed, Stages: []StageLayers{
		{Layers: 5, Embedding: true}, {Layers: 6}, {Layers: 6}, {Layers: 6}, {Layers: 1, Head: true},
	}}, config.Partition)
	same(t, []Recompute{RecomputeNone, RecomputeSelective, RecomputeFull, RecomputeNone, RecomputeNone}, config.Recompute)
	same(t, 2, config.Model.DType.Bytes())
	same(t, 4, FP32.Bytes())
}

func TestMLP(t *testing.T) {
	config := load(t, "mlp")
	same(t, dec("500"), config.Cluster.LinkLatency)
	same(t, []StageLayers{{Layers: 2}, {Layers: 3}}, config.Partition.Stages)
	same(t, []Part{{Role: Body, Kind: MLP, Layers: 5, Hidden: 64, Sequence: 2, FeedForward: 256}}, config.Model.Parts)
	same(t, []Edge{{0, 1}}, config.Edges)
}

func TestEmbeddingAndHeadUnlessListed(t *testing.T) {
	text := strings.Replace(validConfigs["gpt"], "[[embedding, 5], 6, 6, 6, [1, head]]", "[6, 6, 6, 6, 0]", 1)
	config, err := Decode([]byte(text), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	same(t, []StageLayers{{Layers: 6, Embedding: true}, {Layers: 6}, {Layers: 6}, {Layers: 6}, {Head: true}}, config.Partition.Stages)
}

func TestExample(t *testing.T) {
	config, err := Decode(Example(), "example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, config)
	if config.Warnings != nil {
		t.Error(config.Warnings)
	}
	same(t, ref("19000"), config.Costs[3].BackwardInput)
	Example()[0] = 'x'
	if Example()[0] == 'x' {
		t.Error("callers share one example")
	}
}

// Each commented key of the example decodes once its mark is taken away.
func TestExampleAlternatives(t *testing.T) {
	base := string(Example())
	for line := range strings.SplitSeq(base, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		key, marked := strings.CutPrefix(trimmed, "#- ")
		if !marked || strings.HasPrefix(key, "profile") {
			continue
		}
		text := base
		indent := line[:len(line)-len(trimmed)]
		name, _, _ := strings.Cut(key, ":")
		switch name {
		case "model", "cluster", "partition", "recompute", "global_batch":
			continue
		case "devices":
			text = strings.Replace(strings.Replace(text, "devices: 4\n", "", 1), "limit: 40GiB", "", 1)
			text = strings.NewReplacer("stages: 4", "stages: 2", "[18100, 18100, 18100, 19ms]", "18100").Replace(text)
		}
		text = strings.Replace(text, line, indent+key, 1)
		if _, err := Decode([]byte(text), "example.yaml"); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestExampleModel(t *testing.T) {
	text := "version: 1\ndevices: 4\n"
	for line := range strings.SplitSeq(string(Example()), "\n") {
		for _, key := range []string{"model", "cluster", "partition", "recompute", "global_batch"} {
			if strings.HasPrefix(line, "#- "+key+":") {
				text += strings.TrimPrefix(line, "#- ") + "\n"
			}
		}
	}
	config, err := Decode([]byte(text), "example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	same(t, 128, config.MicroBatches)
}

func TestUnreadable(t *testing.T) {
	_, err := Load(fstest.MapFS{}, "c.yaml")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, test := range []struct{ name, text, want string }{
		{"not UTF-8", "version: 1\nname: é\xff\n", "-:2:8: byte 0xff is not UTF-8 text; save the file as UTF-8"},
		{"too large", strings.Repeat(" ", maxFileBytes+1), "-:1:1: the file is larger than 8388608 bytes; write one value for all stages instead of long lists"},
		{"profile without a file", validConfigs["profile"], "-:5:10: profile: a profile is read from beside the configuration's file, and there is no such file; give the configuration as a file"},
	} {
		if _, err := Decode([]byte(test.text), "-"); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func TestManyProblemsAreCut(t *testing.T) {
	_, err := Decode([]byte("version: 2\ndevices: 1\nmicro_batches: 0\ncosts: {forward: 1}\nmodel:\n"+strings.Repeat("  ? []\n", 40)), "c.yaml")
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxShown+1 || !strings.HasPrefix(lines[maxShown], "and ") {
		t.Errorf("got %d lines:\n%v", len(lines), err)
	}
}

// Counts that are at their limits must not take long or much memory.
func TestLargestCounts(t *testing.T) {
	config, err := Decode([]byte("version: 1\ndevices: 65536\nmicro_batches: 8191\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nmemory: {activation: 1}\n"), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, config)
}
