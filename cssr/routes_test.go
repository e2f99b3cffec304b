package cssr_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// replicas returns the devices of all replicas of all stages.
func replicas(pl *model.Pipeline) string {
	var list [][][]int
	for _, s := range pl.Stages {
		var gangs [][]int
		for _, r := range s.Replicas {
			gangs = append(gangs, r.Devices)
		}
		list = append(list, gangs)
	}
	return fmt.Sprint(list)
}

func TestRoutes(t *testing.T) {
	const text = `
devices: [{}, {slowdown: 1.5}]
micro_batches: 3
costs: {forward: [1, 4], backward_full: 2}
backward: fused
routes: [[0, 1], [[0, 1], 0]]
`
	pl := pipeline(t, text, cssr.Choices{})
	if got := replicas(pl); got != "[[[0] [0 1]] [[1] [0]]]" {
		t.Errorf("replicas %s", got)
	}
	equal(t, "routes", pl.Routes, []int{0, 0, 1})
	var durations []model.Time
	for _, s := range pl.Stages {
		for _, r := range s.Replicas {
			durations = append(durations, r.Durations.Forward, r.Durations.BackwardFull)
		}
	}
	// In ticks of 1/2: 1 and 2, both times 1.5 on device 1 or with it; 4 and 2 likewise.
	equal(t, "durations", durations, []model.Time{2, 4, 3, 6, 12, 6, 8, 4})
	pl = pipeline(t, text+"route_of: [1, 0, 1]", cssr.Choices{})
	equal(t, "routes", pl.Routes, []int{1, 0, 1})
	refused(t, text, cssr.Choices{Placement: "loop"}, "test.yaml:7:9: routes: placement loop: the configuration has routes")
	pl = pipeline(t, "devices: 2\nmicro_batches: 2\ncosts: {forward: 4, backward_full: 2}\nbackward: fused\nroutes: [linear, [1, 0]]", cssr.Choices{SplitStages: 2})
	if got := replicas(pl); got != "[[[0] [1]] [[1] [0]] [[0] [1]] [[1] [0]]]" {
		t.Errorf("replicas of chunks %s", got)
	}
	pl = pipeline(t, "devices: 2\nmicro_batches: 2\ncosts: {forward: 4, backward_full: 2}\nbackward: fused\nroutes: [[1, 0]]", cssr.Choices{})
	if got := replicas(pl); got != "[[[1]] [[0]]]" || pl.Routes != nil {
		t.Errorf("a single route: replicas %s, routes %v", got, pl.Routes)
	}
}

// TestDealOfRoutes: what a partition cuts sits on the devices of all routes.
func TestDealOfRoutes(t *testing.T) {
	const text = "devices: 3\nstages: 2\nmicro_batches: 2\nmodel: {kind: mlp, layers: 4, hidden: 8}\ncluster: {flops: 1e12, link_bandwidth: 1e9}\n"
	for _, c := range []struct {
		text    string
		choices cssr.Choices
		want    string
	}{
		{text + "placement: [0, 1]", cssr.Choices{}, "[[0] [1]]"},
		{text + "routes: [[0, 1], [2, 1]]", cssr.Choices{}, "[[0 2] [1]]"},
		{text + "placement: [0, 1]", cssr.Choices{Bidirectional: true}, "[[0 2] [1]]"},
	} {
		deal, err := cssr.NewDeal(decode(t, c.text), c.choices)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(deal.Devices); got != c.want {
			t.Errorf("%s: stages sit on %s, want %s", c.text, got, c.want)
		}
	}
}

// TestRouteDelays checks that latencies which follow from the edges cover the pairs
// of every route.
func TestRouteDelays(t *testing.T) {
	cfg := decode(t, "devices: 3\nstages: 2\nmicro_batches: 2\nroutes: [[0, 1], [2, 0]]\nmodel: {kind: mlp, layers: 2, hidden: 8}\ncluster: {flops: 1e12, link_bandwidth: 1e9, link_latency: 1us, devices_per_node: 2, node_bandwidth: 1e6}")
	pl, err := cssr.Pipeline(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	within := map[[2]int]bool{}
	for _, l := range pl.Links {
		if l.Latency >= pl.Latency {
			t.Errorf("%+v is no faster than the slowest, %d", l, pl.Latency)
		}
		within[[2]int{l.From, l.To}] = true
	}
	// Devices 0 and 1 share a node; 2 and 0 do not, which sets the latency of all others.
	if len(within) != 2 || !within[[2]int{0, 1}] || !within[[2]int{1, 0}] {
		t.Errorf("links %+v", pl.Links)
	}
}

func TestBidirectional(t *testing.T) {
	const costs = "\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"
	pl := pipeline(t, "devices: 4\nmicro_batches: 5"+costs, cssr.Choices{Bidirectional: true})
	if got := replicas(pl); got != "[[[0] [3]] [[1] [2]] [[2] [1]] [[3] [0]]]" {
		t.Errorf("replicas %s", got)
	}
	equal(t, "routes", pl.Routes, []int{0, 0, 0, 1, 1})
	pl = pipeline(t, "devices: 2\nmicro_batches: 2"+costs, cssr.Choices{Bidirectional: true, SplitStages: 2, Placement: "v"})
	if got := replicas(pl); got != "[[[0] [1]] [[1] [0]] [[1] [0]] [[0] [1]]]" {
		t.Errorf("replicas of a v %s", got)
	}
	for _, c := range []struct{ text, words string }{
		{"devices: 2\nmicro_batches: 2\nroutes: [linear]", "test.yaml:4:9: routes: bidirectional: the configuration has routes already; leave the routes out"},
		{"devices: 2\nmicro_batches: 1", "test.yaml:3:16: micro_batches: bidirectional: each route needs a micro-batch"},
		{"devices: 2\nmicro_batches: 2\nplacement: [0, [0, 1]]", "test.yaml:4:16: placement[1]: bidirectional: stage 1 sits on a gang of 2 devices"},
	} {
		err := refused(t, c.text+costs, cssr.Choices{Bidirectional: true}, c.words)
		var choice *cssr.ChoiceError
		if !errors.As(err, &choice) {
			t.Errorf("%v is no ChoiceError", err)
		}
	}
}

// TestRouteOperations checks operations beside stages with a replica on each route.
func TestRouteOperations(t *testing.T) {
	const text = "devices: [{}, {slowdown: 2}]\nmicro_batches: 2\ncosts: {forward: 1, backward_full: 2}\nbackward: fused\nroutes: [[0, 1], [1, 0]]\noperations: "
	pl := pipeline(t, text+"[{name: sum, stages: 0, engine: e, once: true, duration: 3}, {name: step, stages: 1, once: true, duration: 3}, {name: a, stages: 0, devices: 0, duration: 3}]", cssr.Choices{})
	equal(t, "engines beside both replicas", pl.Operations[0].Devices, []int{2, 3})
	equal(t, "durations", []model.Time{pl.Operations[0].Duration, pl.Operations[1].Duration, pl.Operations[2].Duration}, []model.Time{3, 6, 3})
	refused(t, text+"[{name: copy, stages: 0, engine: e, duration: 3}]", cssr.Choices{}, "operations[0].engine: the routes through stage 0 use different devices")
	refused(t, text+"[{name: a, stages: 0, duration: 3}]", cssr.Choices{}, "operations[0]: on the routes through stage 0 its devices have the slowdowns 1 and 2")
}
