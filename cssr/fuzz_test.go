package cssr_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// oddConfigs are legal and unusual, from which the fuzzer starts beside the examples.
var oddConfigs = []string{
	"devices: 1\nmicro_batches: 1\ncosts: {forward: 0, backward_input: 0, backward_weight: 0}",
	"devices: 3\nmicro_batches: [1e-20, 1e20]\ncosts: {forward: 1, backward_input: none, backward_weight: none}",
	"devices: 2\nmicro_batches: 2\nbackward: fused\ncosts: {forward: 1e-9, backward_full: [2, 1e9]}",
	"devices: 2\nstages: 5\nmicro_batches: 3\nbackward: auto\ncosts: {forward: 1, backward_input: 1, backward_weight: 1, overlapped: 3}\ncommunication: {latency: 1, mode: blocking}",
	"devices: 4\nmicro_batches: 2\nplacement: [0, [3, 1], 2]\nedges: []\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nmemory: {activation: 1GiB, freed_by_backward_input: -0.5GiB, limit: 80GB}",
	"devices: 4\nmicro_batches: 4\ncosts: {forward: [2, 1, 2, 2], backward_input: [none, none, 2, 2], backward_weight: [none, 1, none, none]}",
	"devices: [{slowdown: 0.3}, {memory_limit: 0}]\nmicro_batches: 2\nstages: 4\nplacement: v\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nmemory: {activation: 1, static: 2000000000000000000}",
	"devices: 2\nmicro_batches: 3\nprofile: p.json\nunit: ms\ncommunication: {links: [{from: 1, to: 0, latency: 7}]}",
	"devices: 2\nmicro_batches: 2\nmodel: {kind: mlp, layers: 3, hidden: 1}\ncluster: {flops: 1e30, link_bandwidth: 1e-30}",
	"devices: 3\nmicro_batches: 2\nmodel: {kind: gpt, layers: 3, hidden: 8, heads: 2, sequence: 4, vocabulary: 16}\ncluster: {flops: 1e12, link_bandwidth: 1e9, link_latency: 0.1us, devices_per_node: 2, node_bandwidth: 1e8}\npartition: [embedding, 3, head]\nrecompute: [none, full, selective]",
	"devices: [{}, {slowdown: 3}]\nmicro_batches: [1, 0.3]\ncosts: {forward: 1, backward_full: 1}\nbackward: fused\nmemory: {activation: 1}\noperations: [{name: recompute, letter: R, stages: all, duration: 1, after: forward, before: backward, takes: 2}, {name: offload, stages: 0, engine: copy, duration: 1, after: {kind: forward, stage: next, lag: 1}, gives: 1}, {name: step, devices: all, once: true, fixed: true, duration: 1, after: {kind: recompute, stage: all}}]",
	"devices: [{}, {}, {slowdown: 2}]\nmicro_batches: 3\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nroutes: [linear, [2, [0, 1], 1]]\nroute_of: [1, 0, 1]\ncommunication: {latency: 1}",
	"devices: 9\nmicro_batches: 2\nmodel: {kind: mlp, layers: 3, hidden: 8}\ncluster: {flops: 1e12, link_bandwidth: 1e9}",
	"devices: 4\nmicro_batches: 4\nmodel: {kind: two-branch, branches: [{kind: mlp, layers: 6, hidden: 512}, {kind: mlp, layers: 6, hidden: 512}]}\ncluster: {flops: 1e14, link_bandwidth: 25e9}",
	"devices: [{}, {slowdown: 2}]\nglobal_batch: 8\nprofile: l.json\nmodel: {kind: mlp, layers: 2, hidden: 8, micro_batch_size: 4}\nrecompute: [full, none]\nmemory: {limit: 10KiB}",
	"devices: 3\nglobal_batch: 4\nmodel: {kind: encoder-decoder, encoder: {layers: 2, hidden: 8, heads: 2, sequence: 4}, decoder: {layers: 2, hidden: 8, heads: 2, sequence: 4, vocabulary: 7}, vocabulary_sharding: stage}\ncluster: {flops: 1e12, link_bandwidth: 1e9, link_latency: 0.3us}\npartition: [1, 1, 2]",
}

const fuzzLayers = `{"format": "flexpipe/profile", "version": 1, "unit": "us", "micro_batch_size": 4, "layers": [
 {"name": "block 0", "durations": {"forward": {"median": 1.5}, "backward_input": {"median": 1}, "backward_weight": {"median": 1}, "recompute_full": {"median": 1.5}},
  "memory": {"activation": 100, "retained": 40, "full": 10, "work": 3}},
 {"name": "block 1", "durations": {"forward": {"median": 1}, "backward_weight": {"median": 0.1}}, "memory": {"activation": 70, "retained": 90}}],
"link": {"latency": 3}, "network": {"kind": "mlp", "stacks": [{"layers": 2, "hidden": 8}], "micro_batch_size": 4, "dtype": "bf16", "stages": [{"part": 0, "first": 0, "end": 2}]}}`

const fuzzProfile = `{"format": "flexpipe/profile", "version": 1, "unit": "us", "stages": [
 {"durations": {"forward": {"median": 1.5}, "backward_full": {"median": 3}, "backward_input": {"median": 1}, "backward_weight": {"median": 1}}},
 {"durations": {"forward": {"median": 1}, "backward_input": {"median": 0.1}}}],
"edges": [{"from": 0, "to": 1, "latency": 0.25}]}`

// FuzzBuild builds what package config accepts, under several choices. It must be a
// problem that follows from its pipeline, or be refused at a place of the document.
func FuzzBuild(f *testing.F) {
	names, err := filepath.Glob("../examples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range oddConfigs {
		f.Add([]byte("version: 1\n" + text + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files := fstest.MapFS{"c.yaml": {Data: data}, "p.json": {Data: []byte(fuzzProfile)}, "l.json": {Data: []byte(fuzzLayers)}}
		cfg, err := config.Load(files, "c.yaml")
		if err != nil || !small(cfg) {
			return
		}
		for _, choices := range []cssr.Choices{
			{}, {SplitStages: 2}, {SplitStages: 3, Placement: "v"}, {Placement: "linear"},
			{Backward: mode(model.Split)}, {Backward: mode(model.Fused)}, {Backward: mode(model.Auto), SplitStages: 2}, {Bidirectional: true},
			{Vocabulary: "stage", MicroBatchSize: 2}, {Vocabulary: "none", SplitStages: 2},
		} {
			checkBuild(t, cfg, choices)
		}
	})
}

// small reports whether a configuration is one to build quickly.
func small(cfg *config.Config) bool {
	gangs := 0
	for _, placement := range append([]config.Placement{cfg.Placement}, cfg.Routes...) {
		for _, gang := range placement.Devices {
			gangs += len(gang) * len(gang)
		}
	}
	return len(cfg.Devices) <= 1000 && cfg.Stages <= 100 && len(cfg.Edges) <= 1000 && gangs <= 1000 &&
		cfg.MicroBatches <= 1000 && (cfg.Model == nil || smallModel(cfg))
}

// smallModel is small for a configuration with a model, whose vocabulary all devices may
// share, and whose micro-batches may be cut anew.
func smallModel(cfg *config.Config) bool {
	return cfg.Model.Layers() <= 1000 && cfg.GlobalBatch <= 1000 && (len(cfg.Devices) <= 50 || !cfg.Model.HasVocabulary())
}

// checkBuild fails unless a configuration is built soundly or refused properly.
func checkBuild(t *testing.T, cfg *config.Config, choices cssr.Choices) {
	t.Helper()
	p, err := cssr.Build(cfg, choices)
	if err == nil && len(p.Pipeline.Operations) > 0 {
		return // which the independent reading of a pipeline does not know yet
	}
	if err == nil {
		if err := constraints.CheckCompiled(p).Err(); err != nil {
			t.Errorf("%+v: %v", choices, err)
		}
		return
	}
	var placed *config.Error
	if !errors.As(err, &placed) {
		t.Fatalf("%+v: %v has no place", choices, err)
	}
	if placed.File == "" || placed.Line < 1 || placed.Column < 1 || placed.Problem == "" || placed.Remedy == "" && placed.Cause == nil {
		t.Errorf("%+v: incomplete error %+v", choices, placed)
	}
}
