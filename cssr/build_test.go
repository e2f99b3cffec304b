package cssr_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// decode returns the configuration that text writes, without its version.
func decode(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, err := config.Decode([]byte("version: 1\n"+text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// pipeline returns the compiled pipeline of a configuration.
func pipeline(t testing.TB, text string, choices cssr.Choices) *model.Pipeline {
	t.Helper()
	p, err := cssr.Build(decode(t, text), choices)
	if err != nil {
		t.Fatal(err)
	}
	return p.Pipeline
}

// mode returns a pointer to m.
func mode(m model.Mode) *model.Mode { return &m }

// forwards returns the forward durations of all stages.
func forwards(pl *model.Pipeline) []model.Time {
	var list []model.Time
	for _, s := range pl.Stages {
		list = append(list, s.Replicas[0].Durations.Forward)
	}
	return list
}

// gangs returns the devices of all stages.
func gangs(pl *model.Pipeline) [][]int {
	var list [][]int
	for _, s := range pl.Stages {
		list = append(list, s.Replicas[0].Devices)
	}
	return list
}

// equal fails unless got is want.
func equal[E comparable](t testing.TB, what string, got, want []E) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestBuildWholeConfiguration(t *testing.T) {
	pl := pipeline(t, `
name: all
devices: [{name: a, slowdown: 1.5}, {memory_limit: 3GB}]
micro_batches: 4
unit: ms
costs: {forward: [2, 3], backward_input: [none, 3], backward_weight: 4, overlapped: [none, 9]}
backward: [split, auto]
communication: {latency: 500us, links: [{from: 1, to: 0, latency: 1}], mode: blocking}
memory: {activation: 1GB, freed_by_backward_input: 0.5GB, static: [0, 1GB]}
objective: span
`, cssr.Choices{})
	switch {
	case pl.Name != "all" || pl.Objective != model.Span || pl.MicroBatches != 4 || !pl.Blocking:
		t.Errorf("head: %+v", pl)
	case pl.TimeUnit != model.Unit{Name: "ms", Multiplier: 1, Divisor: 2}:
		t.Errorf("time unit %+v", pl.TimeUnit)
	case pl.MemoryUnit != model.Unit{Name: "B", Multiplier: 500_000_000, Divisor: 1}:
		t.Errorf("memory unit %+v", pl.MemoryUnit)
	}
	equal(t, "devices", pl.Devices, []model.Device{{Name: "a", Limit: model.Unlimited}, {Limit: 6}})
	equal(t, "links", pl.Links, []model.Link{{From: 1, To: 0, Latency: 2}})
	first, last := pl.Stages[0], pl.Stages[1]
	want := model.Durations{Forward: 6, BackwardInput: model.Absent, BackwardWeight: 12, BackwardFull: model.Absent, Overlapped: model.Absent}
	if got := first.Replicas[0].Durations; got != want {
		t.Errorf("stage 0: got %+v, want %+v", got, want)
	}
	want = model.Durations{Forward: 6, BackwardInput: 6, BackwardWeight: 8, BackwardFull: 14, Overlapped: 18}
	if got := last.Replicas[0].Durations; got != want {
		t.Errorf("stage 1: got %+v, want %+v", got, want)
	}
	if first.Backward != model.Split || last.Backward != model.Auto {
		t.Errorf("modes %v, %v", first.Backward, last.Backward)
	}
	if last.Activation != 2 || last.FreedByInput != 1 || last.Static != 2 || first.Static != 0 {
		t.Errorf("memory of the last stage: %+v", last)
	}
	if pl.Latency != 1 || len(first.After) != 0 || !slices.Equal(last.After, []int{0}) {
		t.Errorf("latency %d, stages %v and %v", pl.Latency, first.After, last.After)
	}
}

func TestBuildStageGraph(t *testing.T) {
	pl := pipeline(t, "devices: 3\nmicro_batches: 1\nedges: [[0, 2], [1, 2]]\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}", cssr.Choices{})
	equal(t, "before stage 2", pl.Stages[2].After, []int{0, 1})
	equal(t, "before stage 1", pl.Stages[1].After, nil)
}

func TestGangTakesTheLargestSlowdown(t *testing.T) {
	pl := pipeline(t, `
devices: [{slowdown: 2}, {slowdown: 3}, {slowdown: 7}]
micro_batches: 1
placement: [[0, 1], 2]
costs: {forward: 1, backward_input: 1, backward_weight: 1}
`, cssr.Choices{})
	equal(t, "forwards", forwards(pl), []model.Time{3, 7})
	equal(t, "gang", gangs(pl)[0], []int{0, 1})
}

func TestChooseBackward(t *testing.T) {
	const text = `
devices: 3
micro_batches: 2
costs: {forward: 1, backward_input: [none, 2, 2], backward_weight: [3, 4, 4], backward_full: [none, none, 5]}
`
	pl := pipeline(t, text, cssr.Choices{})
	if full := pl.Stages[1].Replicas[0].Durations.BackwardFull; full != model.Absent {
		t.Errorf("stage 1 has a full backward of %d that nobody asked for", full)
	}
	pl = pipeline(t, text, cssr.Choices{Backward: mode(model.Fused)})
	var full []model.Time
	for _, s := range pl.Stages {
		full = append(full, s.Replicas[0].Durations.BackwardFull)
	}
	equal(t, "full backwards", full, []model.Time{model.Absent, 6, 5})
	if pl.Stages[1].Backward != model.Fused || pl.Stages[2].Backward != model.Fused {
		t.Errorf("stages 1 and 2 are %v and %v", pl.Stages[1].Backward, pl.Stages[2].Backward)
	}
}

func TestSplitNeedsHalves(t *testing.T) {
	const fused = "devices: 2\nmicro_batches: 1\nbackward: fused\ncosts: {forward: 1, backward_full: 2}"
	pipeline(t, fused, cssr.Choices{Backward: mode(model.Auto)})
	refused(t, fused, cssr.Choices{Backward: mode(model.Split)}, "backward split", "stage 0", "backward_full only")
}

func TestObjectiveChoice(t *testing.T) {
	span := model.Span
	if pl := pipeline(t, "devices: 1\nmicro_batches: 1\ncosts: {forward: 1, backward_input: none, backward_weight: none}", cssr.Choices{Objective: &span}); pl.Objective != model.Span {
		t.Errorf("objective %v", pl.Objective)
	}
}

func TestProfile(t *testing.T) {
	files := fstest.MapFS{
		"c.yaml": {Data: []byte("version: 1\ndevices: 2\nstages: 3\nmicro_batches: 2\nunit: us\nprofile: p.json\n")},
		"p.json": {Data: []byte(`{"format": "flexpipe/profile", "version": 1, "unit": "ms", "stages": [
			{"durations": {"forward": {"median": 1}, "backward_input": {"median": 2}, "backward_weight": {"median": 2}}},
			{"durations": {"forward": {"median": 1}, "backward_input": {"median": 2}, "backward_weight": {"median": 2}}},
			{"durations": {"forward": {"median": 1}, "backward_input": {"median": 2}, "backward_weight": {"median": 2}}}],
			"edges": [{"from": 0, "to": 1, "latency": 0.25}, {"from": 1, "to": 2, "latency": 0.5}]}`)},
	}
	cfg, err := config.Load(files, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pl, err := cssr.Pipeline(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	// Both edges join devices 0 and 1: the slower counts.
	if want := (model.Unit{Name: "us", Multiplier: 500, Divisor: 1}); pl.TimeUnit != want || pl.Latency != 1 || len(pl.Links) != 0 {
		t.Errorf("unit %+v, latency %d, links %v", pl.TimeUnit, pl.Latency, pl.Links)
	}
	equal(t, "forwards", forwards(pl), []model.Time{2, 2, 2})
}

func TestExamples(t *testing.T) {
	const dir = "../examples"
	names, err := filepath.Glob(dir + "/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		cfg, err := config.Load(os.DirFS(dir), filepath.Base(name))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := cssr.Build(cfg, cssr.Choices{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
