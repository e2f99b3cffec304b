package cssr_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// namedPoint returns the named point for a shape.
func namedPoint(t testing.TB, name string, p, m, v int) cssr.Point {
	t.Helper()
	for _, n := range cssr.Named() {
		if n.Name == name {
			return n.At(p, m, v)
		}
	}
	t.Fatalf("no point is named %s", name)
	return cssr.Point{}
}

// unitConfig is a configuration with F = I = W = 1 and B = 2. A stage activation
// of 1 is given back by the gradient of the input or by that of the weights.
func unitConfig(t testing.TB, p, m int, freed string) *config.Config {
	return decode(t, fmt.Sprintf("devices: %d\nmicro_batches: %d\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"+
		"memory: {activation: 1, freed_by_backward_input: %s}\n", p, m, freed))
}

// decodePoint takes a point all the way to a plan.
func decodePoint(t testing.TB, cfg *config.Config, point cssr.Point) (*model.Problem, *model.Plan) {
	t.Helper()
	problem, err := cssr.Build(cfg, point.Choices)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cssr.NewDecoder(problem).Decode(context.Background(), rule(t, &point.Policy, problem), 0)
	if err != nil {
		t.Fatal(err)
	}
	return problem, out.Clone()
}

// peaks returns the peak memory of each device, in stage activations.
func peaks(m *model.Metrics) []int {
	list := make([]int, len(m.Devices))
	for d := range list {
		list[d] = int(m.Devices[d].Peak)
	}
	return list
}

// TestPrioritiesAloneGive demands the published makespans and peaks on 4 devices
// from priorities and bounds, without any explicit order. Chunks have half the
// costs; peaks count chunks until the gradient of the input has run, at M = 8.
func TestPrioritiesAloneGive(t *testing.T) {
	for _, c := range []struct {
		name     string
		v        int
		at8      string
		at16     string
		peaks    []int
		weighted []int // peaks that count until the gradient of the weights has run
	}{
		{"gpipe", 1, "33", "57", []int{8, 8, 8, 8}, []int{8, 8, 8, 8}},
		{"1f1b", 1, "33", "57", []int{4, 3, 2, 1}, []int{4, 3, 2, 1}},
		{"interleaved", 2, "28.5", "52.5", []int{11, 9, 7, 5}, []int{11, 9, 7, 5}},
		{"looped-bfs", 2, "28.5", "52.5", []int{16, 16, 16, 16}, []int{16, 16, 16, 16}},
		{"zb-h1", 1, "27", "51", []int{4, 3, 2, 1}, []int{4, 4, 4, 4}},
		{"zb-v", 2, "25.5", "49.5", []int{8, 8, 8, 8}, []int{8, 8, 8, 8}},
	} {
		for m, want := range map[int]string{8: c.at8, 16: c.at16} {
			point := namedPoint(t, c.name, 4, m, c.v)
			problem, plan := decodePoint(t, unitConfig(t, 4, m, "1"), point)
			metrics := measured(t, problem, plan)
			if got := problem.TimeUnit().Format(int64(metrics.Makespan)); got != want {
				t.Errorf("%s M=%d: makespan %s, want %s", c.name, m, got, want)
			}
			if m == 8 {
				equal(t, c.name+": peaks", peaks(metrics), c.peaks)
				problem, plan = decodePoint(t, unitConfig(t, 4, m, "0"), point)
				equal(t, c.name+": peaks until the weights", peaks(measured(t, problem, plan)), c.weighted)
			}
		}
	}
}

// TestNamedPointsGiveNamedSchedules compares the decoded orders with those that
// package heuristics lists, for P in {2, 3, 4, 8} and M from P to 3P.
func TestNamedPointsGiveNamedSchedules(t *testing.T) {
	for _, c := range []struct {
		name    string
		chunks  []int
		exact   func(p, m, v int) bool // where the orders are the same
		as      string
		loosely bool // longer or with more memory for few micro-batches
	}{
		{name: "gpipe", chunks: []int{1}, exact: func(int, int, int) bool { return true }},
		{name: "1f1b", chunks: []int{1}, exact: func(int, int, int) bool { return true }},
		{name: "zb-h1", chunks: []int{1}, exact: func(int, int, int) bool { return true }},
		{name: "zb-h2", chunks: []int{1}, exact: func(p, m, _ int) bool { return m >= 2*p-1 }, loosely: true},
		{name: "interleaved", chunks: []int{2, 3}, exact: func(p, m, _ int) bool { return p < 4 || m < 3*p && p < 8 || m < 2*p }},
		{name: "looped-bfs", chunks: []int{1, 2, 3}, exact: func(int, int, int) bool { return false }},
		{name: "zb-v", as: "zbv", chunks: []int{2}, exact: func(int, int, int) bool { return false }, loosely: true},
	} {
		if c.as == "" {
			c.as = c.name
		}
		for _, p := range []int{2, 3, 4, 8} {
			for m := p; m <= 3*p; m++ {
				for _, v := range c.chunks {
					what := fmt.Sprintf("%s P=%d M=%d v=%d", c.name, p, m, v)
					comparePoint(t, what, c.as, p, m, namedPoint(t, c.name, p, m, v), c.exact(p, m, v), c.loosely && m < 2*p-1)
				}
			}
		}
	}
}

// comparePoint compares the plan of a point with a named schedule.
func comparePoint(t *testing.T, what, schedule string, p, m int, point cssr.Point, exact, loosely bool) {
	t.Helper()
	problem, plan := decodePoint(t, unitConfig(t, p, m, "0"), point)
	s, err := heuristics.Lookup(schedule)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Build(problem)
	if err != nil {
		t.Fatal(err)
	}
	published, decoded := measured(t, problem, want), measured(t, problem, plan)
	if decoded.Makespan > published.Makespan && !loosely {
		t.Errorf("%s: makespan %d, published %d", what, decoded.Makespan, published.Makespan)
	}
	if slices.Max(peaks(decoded)) > slices.Max(peaks(published)) && !loosely {
		t.Errorf("%s: peaks %v, published %v", what, peaks(decoded), peaks(published))
	}
	for d := range want.Order {
		if exact && !slices.Equal(want.Order[d], plan.Order[d]) {
			t.Errorf("%s device %d: another order", what, d)
		}
	}
}

// TestHanayo demands the memory of 1F1B's first device and less idle time than
// 1F1B, up to two micro-batches per device.
func TestHanayo(t *testing.T) {
	for _, p := range []int{2, 4, 8} {
		for _, v := range []int{2, 4} {
			for m := p; m <= 2*p; m++ {
				problem, plan := decodePoint(t, unitConfig(t, p, m, "0"), namedPoint(t, "hanayo", p, m, v))
				metrics := measured(t, problem, plan)
				if peak := slices.Max(peaks(metrics)); peak > p*v {
					t.Errorf("P=%d M=%d v=%d: %d chunks, the first device of 1F1B has %d", p, m, v, peak, p*v)
				}
				if idle, than := int(metrics.Makespan)-3*m*v, 3*v*(p-1); idle >= than {
					t.Errorf("P=%d M=%d v=%d: idle for %d, 1F1B for %d", p, m, v, idle, than)
				}
			}
		}
	}
}

// TestNamedPointsAreSound demands that each passes Check and its text leads back.
func TestNamedPointsAreSound(t *testing.T) {
	for _, n := range cssr.Named() {
		v := n.Chunks
		if v == 0 {
			v = 3
		}
		point := n.At(4, 8, v)
		if err := point.Check(); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		parsed, err := cssr.ParsePoint(point.String())
		if err != nil || parsed.String() != point.String() {
			t.Errorf("%s: %s leads to %s, error %v", n.Name, point.String(), parsed.String(), err)
		}
	}
}
