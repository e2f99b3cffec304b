package heuristics_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestGauge: a plan for measuring is that of 1F1B, and on other shapes a legal one that is always
// the same.
func TestGauge(t *testing.T) {
	reference, err := heuristics.Lookup("1f1b")
	if err != nil {
		t.Fatal(err)
	}
	shaped, decoded := 0, 0
	for seed := range uint64(200) {
		pl := modelgen.RandomPipeline(seed, 4)
		for d := range pl.Devices {
			pl.Devices[d].Limit = model.Unlimited
		}
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := heuristics.Gauge(t.Context(), p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		judge(t, p, plan)
		want, err := reference.Build(p)
		if err != nil {
			decoded++
			if want, err = heuristics.Gauge(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		} else {
			shaped++
		}
		if !reflect.DeepEqual(plan, want) {
			t.Errorf("seed %d:\ngot  %+v\nwant %+v", seed, plan, want)
		}
	}
	if shaped == 0 || decoded == 0 {
		t.Errorf("%d problems of the shape of 1F1B, %d of others; want both", shaped, decoded)
	}
}

// TestGaugeRefusals: what 1F1B takes is judged, and a decoder that is told to stop stops.
func TestGaugeRefusals(t *testing.T) {
	pl := *modelgen.Unit(4, 8).Pipeline
	for d := range pl.Devices {
		pl.Devices[d].Limit = 1
	}
	for s := range pl.Stages {
		pl.Stages[s].Activation = 1
	}
	p, err := model.Compile(&pl)
	if err != nil {
		t.Fatal(err)
	}
	var broken *constraints.RuleError
	if _, err := heuristics.Gauge(t.Context(), p); !errors.As(err, &broken) || broken.Report.Counts[constraints.RuleMemory] == 0 {
		t.Errorf("four activations where one fits: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := heuristics.Gauge(ctx, modelgen.Problem(modelgen.Spec{Devices: 2, Placement: [][]int{{0}, {1}, {0}}, F: []model.Time{1, 1, 1}, I: []model.Time{1, 1, 1}, W: []model.Time{1, 1, 1}, MicroBatches: 1000})); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
