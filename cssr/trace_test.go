package cssr_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestTraceIsNeutral decodes random problems under random rules with and without a
// trace. The plans are equal, and the trace tells every start, in the order of time.
func TestTraceIsNeutral(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(700) {
		p, err := model.Compile(modelgen.RandomPipeline(seed, 5))
		if err != nil {
			t.Fatal(err)
		}
		rule := randomRule(p, seed)
		plain, plainErr := cssr.NewDecoder(p).Decode(context.Background(), rule, 0)
		d := cssr.NewDecoder(p)
		var told []*cssr.Decision
		d.Trace(func(c *cssr.Decision) { told = append(told, c) })
		out, err := d.Decode(context.Background(), rule, 0)
		var memory *cssr.MemoryError
		if errors.As(plainErr, &memory) && errors.As(err, &memory) {
			continue
		}
		if err != nil || !reflect.DeepEqual(plain, out) {
			t.Fatalf("seed %d: a trace changes the plan, or error %v", seed, err)
		}
		checkTrace(t, p, out, told)
		for _, c := range told {
			for _, word := range []string{"starts", "waits", "stands by", "idles", "by type", "by traversal", "nothing else", "cap of the stage", "(in-flight cap)", "memory", "outstanding"} {
				if strings.Contains(c.Text(p), word) {
					seen[word]++
				}
			}
		}
		d.Trace(nil)
		before := len(told)
		if again, _ := d.Decode(context.Background(), rule, 0); !reflect.DeepEqual(plain, again) || len(told) != before {
			t.Fatalf("seed %d: the trace does not end", seed)
		}
	}
	if len(seen) != 11 {
		t.Errorf("the test has lost its material: %v", seen)
	}
}

// checkTrace fails unless the decisions tell each start once, at its time.
func checkTrace(t *testing.T, p *model.Problem, out *cssr.Outcome, told []*cssr.Decision) {
	t.Helper()
	starts, ops := map[model.OpID]bool{}, map[model.OpID]bool{}
	last := model.Time(0)
	for _, c := range told {
		if c.Time < last {
			t.Fatalf("%s is told after time %d", c.Text(p), last)
		}
		last = c.Time
		if c.Act != cssr.Starts {
			continue
		}
		if starts[c.Op] || out.Timeline.Start[c.Op] != c.Time {
			t.Fatalf("%s, but it starts at %d", c.Text(p), out.Timeline.Start[c.Op])
		}
		starts[c.Op] = true
	}
	for _, order := range out.Plan.Order {
		for _, op := range order {
			ops[op] = true
		}
	}
	if !reflect.DeepEqual(starts, ops) {
		t.Fatalf("%d starts are told of %d", len(starts), len(ops))
	}
}

// TestTraceText reads the trace of ZB-H1 on two devices.
func TestTraceText(t *testing.T) {
	p := modelgen.Unit(2, 3)
	point := namedPoint(t, "zb-h1", 2, 3, 1)
	d := cssr.NewDecoder(p)
	var lines []string
	d.Trace(func(c *cssr.Decision) { lines = append(lines, c.Text(p)) })
	if _, err := d.Decode(context.Background(), rule(t, &point.Policy, p), 0); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lines, "\n")
	want := strings.TrimSpace(`
t=0 device 0: starts 0F0 (nothing else can start)
t=1 device 0: starts 0F1 (nothing else can start)
t=1 device 1: starts 1F0 (nothing else can start)
t=2 device 0: idles; held back: 0F2 (in-flight cap)
t=2 device 1: starts 1I0 (what ranks before it is held back); held back: 1F1 (in-flight cap)
t=3 device 0: starts 0I0 (what ranks before it is held back); held back: 0F2 (in-flight cap)
t=3 device 1: starts 1F1 before 1W0 (by type)
t=4 device 0: starts 0W0 before 0F2 (too many weight gradients are outstanding)
t=4 device 1: starts 1I1 before 1W0 (by type)
t=5 device 0: starts 0F2 before 0I1 (by type)
t=5 device 1: starts 1W0 (nothing else can start)
t=6 device 0: starts 0I1 (nothing else can start)
t=6 device 1: starts 1F2 before 1W1 (by type)
t=7 device 0: starts 0W1 (nothing else can start)
t=7 device 1: starts 1I2 before 1W1 (by type)
t=8 device 0: starts 0I2 (nothing else can start)
t=8 device 1: starts 1W1 (nothing else can start)
t=9 device 0: starts 0W2 (nothing else can start)
t=9 device 1: starts 1W2 (nothing else can start)
`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
