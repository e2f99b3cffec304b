package tune

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

func decoded(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Decode([]byte("{version: 1, "+text+"}"), "odd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func resultOf(t *testing.T, text string, space cssr.Space, o Options) *Result {
	t.Helper()
	r, err := Tune(context.Background(), decoded(t, text), space, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const unitCosts = "costs: {forward: 1, backward_input: 1, backward_weight: 1}"

// TestSpacesThatCannotBe demands an error of lists that are too long, empty in effect, or
// out of range.
func TestSpacesThatCannotBe(t *testing.T) {
	long := make([]int, 130)
	for i := range long {
		long[i] = i + 1
	}
	for name, space := range map[string]cssr.Space{
		"many chunks":       {Chunks: long},
		"linear, 2 chunks":  {Placements: []string{"linear"}, Chunks: []int{2}},
		"no chunks":         {Chunks: []int{0}},
		"negative":          {InFlight: []float64{-1}},
		"huge":              {InFlight: []float64{1e300}},
		"patience":          {Patience: []int{-1}},
		"negative in group": {Groups: []int{-3}},
	} {
		_, err := Tune(context.Background(), decoded(t, "devices: 2, micro_batches: 2, "+unitCosts), space, Options{})
		var wrong *SpaceError
		if !errors.As(err, &wrong) || wrong.Remedy == "" {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// TestNoOrderIsNoProof has a stage graph for which the decoder knows no order that fits,
// and the solvers do: the answer must not be that there is none.
func TestNoOrderIsNoProof(t *testing.T) {
	r := resultOf(t, `devices: 2, micro_batches: 2, stages: 3, placement: [0, 0, [0, 1]],
  costs: {forward: 3, backward_input: 1, backward_weight: 1}, memory: {activation: 3, limit: 9},
  operations: [{name: alpha, letter: X, stages: 1, link: net, duration: 3, after: forward, before: backward_input, takes: 2}]`,
		cssr.Space{Chunks: []int{1}}, Options{Solving: 0})
	if r.Infeasible() {
		t.Fatalf("infeasible: %s", r.Reason)
	}
	if len(r.Rows) == 0 || r.Rows[0].Value != 36 {
		t.Errorf("rows %v, want one of 36", r.Rows)
	}
}

// TestStartHolds demands that the objective and the direction of the start hold for
// every row.
func TestStartHolds(t *testing.T) {
	span := model.Span
	start := &cssr.Point{Choices: cssr.Choices{Objective: &span, Bidirectional: true}}
	r := resultOf(t, "devices: 4, micro_batches: 8, "+unitCosts, cssr.Space{Chunks: []int{1}, Placements: []string{"linear"}}, Options{Start: start, Finalists: -1})
	if len(r.Rows) < 2 {
		t.Fatalf("%d rows", len(r.Rows))
	}
	for i := range r.Rows {
		pl := r.Rows[i].Problem.Pipeline
		if pl.Objective != model.Span || pl.NumRoutes() != 2 {
			t.Errorf("row %d has the objective %v and %d routes", i, pl.Objective, pl.NumRoutes())
		}
	}
}

// TestReferenceStays demands that the reference is not improved with the rows.
func TestReferenceStays(t *testing.T) {
	start := &cssr.Point{Policy: cssr.Policy{Types: []string{"F", "I", "W"}}}
	text, space := "devices: 4, micro_batches: 8, "+unitCosts, cssr.Space{Chunks: []int{1}, Placements: []string{"linear"}}
	alone := resultOf(t, text, space, Options{Start: start, Finalists: -1}).Reference
	r := resultOf(t, text, space, Options{Start: start})
	if alone.Value <= r.Rows[0].Value {
		t.Fatalf("the start has %g, the best row %g: nothing was improved", alone.Value, r.Rows[0].Value)
	}
	if r.Reference.Value != alone.Value || r.Reference.Result.Value != alone.Result.Value {
		t.Errorf("the reference has %g, alone %g", r.Reference.Value, alone.Value)
	}
}

// TestReferenceIsWhatPeopleRun compares references with the schedules of that name.
func TestReferenceIsWhatPeopleRun(t *testing.T) {
	for _, c := range []struct {
		text, name string
		value      float64
	}{
		{"devices: 4, micro_batches: 8, " + unitCosts, "1f1b as configured", 33},
		{"devices: 4, stages: 8, placement: loop, micro_batches: 8, " + unitCosts, "interleaved as configured", 57},
		{"devices: 4, stages: 8, placement: v, micro_batches: 8, " + unitCosts, "best fused plan as configured", 0},
	} {
		r := resultOf(t, c.text, cssr.Space{Chunks: []int{1}}, Options{Finalists: -1})
		if r.ReferenceName != c.name || c.value > 0 && r.Reference.Value != c.value {
			t.Errorf("%s: %s with %g, want %s with %g", c.text, r.ReferenceName, r.Reference.Value, c.name, c.value)
		}
	}
}

// TestBalanced compares the rule with what it gives as the configuration's own.
func TestBalanced(t *testing.T) {
	cfg := decoded(t, `devices: [{}, {slowdown: 3}, {}, {}], micro_batches: 4, partition: even, recompute: [full, none, none, selective],
  model: {kind: gpt, layers: 24, hidden: 256, heads: 4, sequence: 64, vocabulary: 1000}, cluster: {flops: 1e12, link_bandwidth: 25e9}`)
	cut, err := cssr.Cut(cfg, cssr.Choices{}, config.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	own := *cfg
	own.Partition = &config.Partition{Rule: config.Balanced}
	want, err := cssr.Pipeline(&own, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := cssr.Pipeline(cfg, cssr.Choices{Partition: cut})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got.Stages, want.Stages, func(a, b model.Stage) bool { return a.Replicas[0].Durations == b.Replicas[0].Durations }) {
		t.Errorf("the cut %v gives %v, want %v", cut, got.Stages, want.Stages)
	}
}
