package cssr_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

const gaugedModel = `
devices: 2
micro_batches: 20
unit: us
memory: {limit: 1}
communication: {mode: blocking}
backward: fused
model: {kind: gpt, layers: 2, hidden: 16, heads: 2, sequence: 16, vocabulary: 128, micro_batch_size: 2}
cluster: {flops: 10e9, link_bandwidth: 5e9, link_latency: 30us}
`

// TestGauge builds the problem in which costs are measured.
func TestGauge(t *testing.T) {
	cfg := decode(t, gaugedModel)
	free, choices := cssr.Gauge(cfg, network.RecomputeFull)
	p, err := cssr.Build(free, choices)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.MicroBatches(); n != 8 {
		t.Errorf("%d micro-batches, want 4 for each of 2 devices", n)
	}
	for d, limit := range p.Limits {
		if limit != model.Unlimited {
			t.Errorf("device %d has the limit %d", d, limit)
		}
	}
	for s, stage := range p.Pipeline.Stages {
		if stage.Backward != model.Split {
			t.Errorf("stage %d is %v", s, stage.Backward)
		}
	}
	if p.Pipeline.Blocking {
		t.Error("transfers occupy devices")
	}
	b, err := network.DecodeBlueprint(p.Pipeline.Network)
	if err != nil {
		t.Fatal(err)
	}
	for s, slice := range b.Stages {
		if slice.Recompute != network.RecomputeFull {
			t.Errorf("stage %d recomputes %v", s, slice.Recompute)
		}
	}
	if cfg.MicroBatches != 20 || cfg.Devices[0].Limit == nil || !cfg.Communication.Blocking {
		t.Errorf("the configuration has changed: %+v", cfg)
	}
}

// TestGaugeKeeps: what a count of micro-batches cannot say stays, and so do stages that are given.
func TestGaugeKeeps(t *testing.T) {
	cfg := decode(t, "devices: 1\nmicro_batches: [1, 2, 1, 1, 1, 1]\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}")
	free, choices := cssr.Gauge(cfg, network.RecomputeFull)
	if free.MicroBatches != 6 || choices.Recompute != nil {
		t.Errorf("%d micro-batches, recomputation %v", free.MicroBatches, choices.Recompute)
	}
	if _, err := cssr.Build(free, choices); err != nil {
		t.Error(err)
	}
}
