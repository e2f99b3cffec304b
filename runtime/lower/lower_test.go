package lower_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// TestRefusals: plans that have no programs.
func TestRefusals(t *testing.T) {
	s := spec(1, 1)
	s.Backward = model.Auto
	auto := modelgen.Pipeline(s)
	tests := []struct{ name, order, want string }{
		{"a half is missing", "0F0 0I0", "device 0, position 2: 0W0 is missing, and so is 0B0 in its place"},
		{"nothing waits for what is missing", "0I0 0W0", "the plan cannot run, an operation is missing: 0I0 (device 0) waits for 0F0, which is not in the order of device 0"},
		{"both cases", "0F0 0I0 0W0 0B0", "device 0, position 1: 0I0 stands beside 0B0, which does the same; delete one of them"},
		{"a forward alone", "0F0", "device 0, position 1: 0I0 is missing, and so is 0B0 in its place"},
		{"nothing", "", "device 0, position 0: 0F0 is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, plan := example{pl: auto, orders: []string{test.order}}.plan(t)
			_, err := lower.Lower(p, plan)
			wantError(t, err, test.want)
		})
	}
	p, plan := example{pl: modelgen.Pipeline(spec(2, 1)), orders: []string{"0I0 0F0 0W0", "1F0 1I0 1W0"}}.plan(t)
	var cycle *model.CycleError
	if _, err := lower.Lower(p, plan); !errors.As(err, &cycle) {
		t.Errorf("error %v, want a cycle", err)
	}
}

// TestFused: who waits for a backward input of a plan that runs the fused one waits for that.
func TestFused(t *testing.T) {
	s := spec(2, 1)
	s.Backward = model.Auto
	g := example{name: "auto", pl: modelgen.Pipeline(s), orders: []string{"0F0 0I0 0W0", "1F0 1B0"}}.lower(t)
	got := g.Messages[len(g.Messages)-1]
	if p := g.Problem; len(g.Messages) != 2 || p.Name(got.Producer) != "1B0" || p.Name(got.Consumer) != "0I0" || got.Carries != lower.Gradient {
		t.Errorf("messages %v", g.Messages)
	}
}

// TestWaitForOutput: a wait for an operation whose output comes anyway takes no message of its
// own, and two waits for the same one take one.
func TestWaitForOutput(t *testing.T) {
	pl := modelgen.Pipeline(fused(spec(2, 2)))
	orders := []string{"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}
	for _, test := range []struct {
		waits []string
		want  int
	}{
		{nil, 4},
		{[]string{"0F0 1F0", "1B1 0B1"}, 4},
		{[]string{"0F0 1F1"}, 4}, // the output of 0F1 comes later
		{[]string{"1F0 0B1", "1F0 0B1"}, 4},
		{[]string{"1F0 0F1", "1F0 0F1"}, 5},
	} {
		g := example{name: "waits", pl: pl, orders: orders, waits: test.waits}.lower(t)
		if len(g.Messages) != test.want {
			t.Errorf("%d messages with waits %q, want %d", len(g.Messages), test.waits, test.want)
		}
	}
}

// TestOwnOperations: an operation of the pipeline's own hears of the end of what it waits for,
// and gets neither outputs nor gradients, though its stage reads or is read by the other one.
func TestOwnOperations(t *testing.T) {
	pl := modelgen.Pipeline(fused(spec(2, 1)))
	pl.Operations = []model.Operation{
		{Name: "late", Letter: "L", Stage: 0, Duration: 1, After: []model.Ref{{Kind: model.Backward, Stage: 1}}},
		{Name: "check", Letter: "C", Stage: 1, Duration: 1, After: []model.Ref{{Kind: "forward", Stage: 0}}},
	}
	g := example{name: "own", pl: pl, orders: []string{"0F0 0B0 0L0", "1C0 1F0 1B0"}}.lower(t)
	want := map[string]lower.Carries{"0F0 1F0": lower.Output, "1B0 0B0": lower.Gradient, "0F0 1C0": lower.Nothing, "1B0 0L0": lower.Nothing}
	for _, m := range g.Messages {
		pair := g.Problem.Name(m.Producer) + " " + g.Problem.Name(m.Consumer)
		if carries, ok := want[pair]; !ok || carries != m.Carries {
			t.Errorf("the message %s carries %v", pair, m.Carries)
		}
		delete(want, pair)
	}
	if len(want) > 0 {
		t.Errorf("no messages %v", want)
	}
}

// TestZeroLengths: operations of no length that start at the same moment stand behind what
// they wait for, also against their numbers.
func TestZeroLengths(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 3, MicroBatches: 3, F: []model.Time{0}, I: []model.Time{0}, W: []model.Time{0}, B: []model.Time{0}})
	slices.Reverse(pl.Stages)
	for s := range pl.Stages { // 2 -> 1 -> 0
		pl.Stages[s].After = nil
		if s < 2 {
			pl.Stages[s].After = []int{s + 1}
		}
	}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		plan, _ := modelgen.RandomPlan(p, seed)
		g, err := lower.Lower(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDeterministic: the same plan gives the same programs.
func TestDeterministic(t *testing.T) {
	for _, e := range examples() {
		a, b := e.lower(t), e.lower(t)
		if !slices.Equal(a.Messages, b.Messages) || !slices.EqualFunc(a.Devices, b.Devices, slices.Equal) {
			t.Errorf("%s: two lowerings differ", e.name)
		}
	}
}
