package cssr_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// threeStages is a chain of which the first stage is frozen and the last is slow.
const threeStages = `
devices: [{}, {}, {slowdown: 2}]
micro_batches: [1, 0.5]
costs: {forward: 4, backward_input: [none, 4, 4], backward_weight: [none, 4, 4]}
memory: {activation: [0, 4, 4]}
`

func TestOperations(t *testing.T) {
	pl := pipeline(t, threeStages+`
operations:
  - {name: recompute, letter: R, stages: [1, 2], duration: [1, 3], after: {kind: forward, lag: 0.25}, before: backward, takes: [2, 6]}
  - {name: offload, stages: all, engine: copy, duration: 1, fixed: true, after: [{kind: forward, stage: next}, {kind: recompute, stage: 1}]}
  - {name: reduce, letter: AR, stages: [2, 1], link: wire, duration: 1, once: true, after: [backward, {kind: forward, stage: previous}]}
  - {name: step, devices: [2, 0], once: true, duration: 3, after: [{kind: reduce, stage: all}, {kind: backward, stage: all}], takes: 2}
  - {name: load, stages: 0, engine: copy, duration: 0.5, before: {kind: step, stage: none}}
`, cssr.Choices{})
	if pl.TimeUnit != (model.Unit{Name: "tick", Multiplier: 1, Divisor: 4}) || pl.FactorScale != 2 || pl.MemoryUnit.Multiplier != 2 {
		t.Errorf("units %+v and %+v, factors over %d", pl.TimeUnit, pl.MemoryUnit, pl.FactorScale)
	}
	want := []model.Operation{
		{Name: "recompute", Letter: "R", Stage: 1, Duration: 4, Takes: 1, After: []model.Ref{{Kind: "forward", Stage: 1, Lag: 1}}, Before: []model.Ref{{Kind: "backward", Stage: 1}}},
		{Name: "recompute", Letter: "R", Stage: 2, Duration: 24, Takes: 3, After: []model.Ref{{Kind: "forward", Stage: 2, Lag: 1}}, Before: []model.Ref{{Kind: "backward", Stage: 2}}},
		{Name: "offload", Letter: "OFFLOAD", Stage: 0, Devices: []int{3}, Duration: 4, Fixed: true, After: []model.Ref{{Kind: "forward", Stage: 1}, {Kind: "recompute", Stage: 1}}},
		{Name: "offload", Letter: "OFFLOAD", Stage: 1, Devices: []int{4}, Duration: 4, Fixed: true, After: []model.Ref{{Kind: "forward", Stage: 2}, {Kind: "recompute", Stage: 1}}},
		{Name: "offload", Letter: "OFFLOAD", Stage: 2, Devices: []int{5}, Duration: 4, Fixed: true, After: []model.Ref{{Kind: "recompute", Stage: 1}}},
		{Name: "reduce", Letter: "AR", Stage: 2, Single: true, Devices: []int{6}, Duration: 4, After: []model.Ref{{Kind: "backward", Stage: 2}, {Kind: "forward", Stage: 1}}},
		{Name: "reduce", Letter: "AR", Stage: 1, Single: true, Devices: []int{6}, Duration: 4, After: []model.Ref{{Kind: "backward", Stage: 1}, {Kind: "forward", Stage: 0}}},
		{Name: "step", Letter: "STEP", Stage: -1, Single: true, Devices: []int{0, 2}, Duration: 24, Takes: 1, After: []model.Ref{
			{Kind: "reduce", Stage: 1}, {Kind: "reduce", Stage: 2}, {Kind: "backward", Stage: 1}, {Kind: "backward", Stage: 2},
		}},
		{Name: "load", Letter: "LOAD", Stage: 0, Devices: []int{3}, Duration: 2, Before: []model.Ref{{Kind: "step", Stage: -1}}},
	}
	if diff := cmp.Diff(want, pl.Operations); diff != "" {
		t.Error(diff)
	}
	var engines []string
	for _, d := range pl.Devices {
		if d.Engine {
			engines = append(engines, d.Name)
		}
	}
	equal(t, "engines", engines, []string{"copy 0", "copy 1", "copy 2", "wire"})
	if len(pl.Devices) != 7 || pl.RealDevices() != 3 {
		t.Errorf("%d devices, %d real ones", len(pl.Devices), pl.RealDevices())
	}
}

// TestSplitOperations checks that operations are divided with the stages that they
// are beside.
func TestSplitOperations(t *testing.T) {
	const text = "devices: 2\nmicro_batches: 1\ncosts: {forward: 4, backward_full: 4}\nbackward: fused\nmemory: {activation: 4}\n"
	pl := pipeline(t, text+"operations: [{name: again, stages: [1, 0], engine: e, duration: [2, 4], takes: 4, after: {kind: forward, lag: 1}, before: backward}]", cssr.Choices{SplitStages: 2})
	var stages, devices, durations []int
	for _, o := range pl.Operations {
		stages, devices, durations = append(stages, o.Stage), append(devices, o.Devices...), append(durations, int(o.Duration))
		if o.Takes != pl.Stages[0].Activation || !reflect.DeepEqual(o.After, []model.Ref{{Kind: "forward", Stage: o.Stage, Lag: 1}}) {
			t.Errorf("%+v", o)
		}
	}
	equal(t, "stages", stages, []int{2, 3, 0, 1})
	equal(t, "devices", devices, []int{2, 3, 2, 3})
	equal(t, "durations", durations, []int{1, 1, 2, 2})
	for _, c := range []struct{ operations, key string }{
		{"[{name: again, stages: 0, duration: 1}]", "operations[0].stages"},
		{"[{name: x, stages: all, duration: 1}, {name: step, devices: all, duration: 1}]", "operations[1].stages"},
		{"[{name: again, stages: all, duration: 1, after: [forward, {kind: forward, stage: next}]}]", "operations[0].after[1]"},
		{"[{name: again, stages: all, duration: 1, before: {kind: backward, stage: 0}}]", "operations[0].before"},
	} {
		err := refused(t, text+"operations: "+c.operations, cssr.Choices{SplitStages: 2}, ": "+c.key, "split-stages 2", "write the chunks as stages")
		var choice *cssr.ChoiceError
		if !errors.As(err, &choice) {
			t.Errorf("%v is no ChoiceError", err)
		}
	}
}

// TestOperationRefusals checks that what only the compiled problem shows is refused
// at the operation that causes it.
func TestOperationRefusals(t *testing.T) {
	for _, c := range []struct {
		operations string
		words      []string
	}{
		{"[{name: a, stages: all, duration: 1, after: backward}]", []string{"test.yaml:7:14: operations[0]: there is no backward of stage 0; stage 0 has forward, a"}},
		{"[{name: a, stages: 1, duration: 1}, {name: b, letter: X, stages: 1, duration: 1, after: {kind: forward, stage: 1}, before: {kind: forward, stage: 0}}]", []string{"test.yaml:7:49: operations[1]: b of stage 1 waits for itself"}},
		{"[{name: a, stages: [0, 1], duration: 1}, {name: c, stages: 2, duration: 1, takes: 1, devices: 0}]", []string{"operations[1]: it takes 1 and gives 0 on devices that do not hold its stage"}},
		{"[{name: a, stages: 1, duration: 1, gives: 9}]", []string{"test.yaml:7:13: operations: stage 1: its operations give back 9 more"}},
		{"[{name: a, stages: 1, duration: 1, after: {kind: backward_full, stage: all}}]", []string{"operations[0].after: no stage has a backward_full; leave it out"}},
		{"[{name: a, stages: 1, duration: [1e-30], takes: 1e30}]", []string{"operations[0].duration[0]: "}},
		{"[{name: a, stages: 1, duration: 1, after: [forward, {kind: forward, stage: 0, lag: 1e-30}]}]", []string{"operations[0].after[1].lag: "}},
		{"[{name: a, stages: 1, duration: 1, takes: 1e-30}]", []string{"operations[0].takes: "}},
	} {
		refused(t, strings.TrimPrefix(threeStages, "\n")+"\noperations: "+c.operations, cssr.Choices{}, c.words...)
	}
}

// TestOperationsOfModel checks that operations stand beside the stages of a network
// or a profile, and that their sizes are bytes there.
func TestOperationsOfModel(t *testing.T) {
	const own = "operations: [{name: step, stages: all, duration: [1, 2us], once: true, after: backward, takes: 2MiB}]\n"
	for _, source := range []string{
		"model: {kind: mlp, layers: 2, hidden: 8}\ncluster: {flops: 1e12, link_bandwidth: 1e9}\nunit: us\n",
		"profile: p.json\n",
	} {
		files := fstest.MapFS{"c.yaml": {Data: []byte("version: 1\ndevices: 2\nmicro_batches: 2\n" + source + own)}, "p.json": {Data: []byte(fuzzProfile)}}
		cfg, err := config.Load(files, "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := cssr.Build(cfg, cssr.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		for s, o := range p.Pipeline.Operations {
			if o.Stage != s || p.FormatTime(o.Duration) != []string{"1 us", "2 us"}[s] || p.FormatMemory(o.Takes) != "2 MiB" {
				t.Errorf("%s: %+v", source, o)
			}
		}
	}
}

// TestWaitsFollowEdges checks that next and previous follow the stage graph.
func TestWaitsFollowEdges(t *testing.T) {
	pl := pipeline(t, `
devices: 4
micro_batches: 1
edges: [[0, 2], [1, 2], [2, 3]]
costs: {forward: 1, backward_input: 1, backward_weight: 1}
operations: [{name: sum, stages: [2, 0], duration: 1, after: {kind: forward, stage: previous}, before: {kind: backward, stage: next}}]
`, cssr.Choices{})
	middle, first := pl.Operations[0], pl.Operations[1]
	want := []model.Ref{{Kind: "forward", Stage: 0}, {Kind: "forward", Stage: 1}}
	if !reflect.DeepEqual(middle.After, want) || !reflect.DeepEqual(middle.Before, []model.Ref{{Kind: "backward", Stage: 3}}) {
		t.Errorf("stage 2: %+v", middle)
	}
	if first.After != nil || !reflect.DeepEqual(first.Before, []model.Ref{{Kind: "backward", Stage: 2}}) {
		t.Errorf("stage 0: %+v", first)
	}
}
