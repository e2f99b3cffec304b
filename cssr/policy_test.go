package cssr_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// measured evaluates and judges a plan.
func measured(t *testing.T, p *model.Problem, plan *model.Plan) *model.Metrics {
	t.Helper()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := constraints.Check(p, plan, tl).Err(); err != nil {
		t.Fatal(err)
	}
	return model.Measure(p, plan, tl)
}

// rule resolves a policy.
func rule(t testing.TB, policy *cssr.Policy, p *model.Problem) *cssr.Rule {
	t.Helper()
	rule, err := policy.Rule(p)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// TestTightBoundsNeverBlock decodes random problems with in-flight bounds of 1
// or 2 and memory for little more than one micro-batch, and judges the plans.
func TestTightBoundsNeverBlock(t *testing.T) {
	for seed := range uint64(2000) {
		spec := modelgen.Random(seed, 6)
		p := modelgen.Problem(spec)
		point := cssr.Policy{
			Types:     [][]string{{"F"}, {"backward_input", "F"}, {"W"}}[seed%3],
			Traversal: cssr.Traversal(seed / 3 % 3),
			Group:     int(seed / 9 % 4),
			InFlight:  []int{1 + int(seed%2)},
			Patience:  []cssr.Wait{{Eighths: int(seed / 2 % 2 * 8)}},
		}
		out, err := cssr.NewDecoder(p).Decode(context.Background(), rule(t, &point, p), 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		measured(t, p, &out.Plan)
	}
}

// TestPoliciesGivePlans decodes random problems under random policies. Each decode
// ends with a plan that the judge accepts, twice the same, or because memory does
// not suffice.
func TestPoliciesGivePlans(t *testing.T) {
	plans, tried := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p, err := model.Compile(modelgen.RandomPipeline(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 6))
		if err != nil {
			t.Fatal(err)
		}
		tried++
		policy := drawPolicy(t, p.NumDevices(), len(p.Pipeline.Stages), nil)
		rule, err := policy.Rule(p)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cssr.NewDecoder(p).Decode(context.Background(), rule, 0)
		if memory := (*cssr.MemoryError)(nil); errors.As(err, &memory) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		plans++
		tl, err := model.Evaluate(p, &out.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := constraints.Check(p, &out.Plan, tl).Err(); err != nil {
			t.Fatal(err)
		}
		again, err := cssr.NewDecoder(p).Decode(context.Background(), rule, 0)
		if err != nil || !reflect.DeepEqual(out, again) {
			t.Fatalf("two decodes differ, error %v", err)
		}
	})
	if plans < tried/4 {
		t.Errorf("only %d plans of %d problems", plans, tried)
	}
}

// TestBacklogIsBounded demands that no more weight gradients are outstanding than
// allowed whenever a forward or gradient starts.
func TestBacklogIsBounded(t *testing.T) {
	for most := range 4 {
		problem := modelgen.Unit(4, 12)
		policy := cssr.Policy{Types: []string{"I", "F"}, Weights: cssr.Weights{Mode: cssr.Deferred, Most: []int{most}}}
		out, err := cssr.NewDecoder(problem).Decode(context.Background(), rule(t, &policy, problem), 0)
		if err != nil {
			t.Fatal(err)
		}
		largest := 0
		for _, order := range out.Plan.Order {
			outstanding := 0
			for _, op := range order {
				switch problem.Row(op).Kind {
				case model.BackwardInput:
					outstanding++
				case model.BackwardWeight:
					outstanding--
				}
				largest = max(largest, outstanding)
			}
		}
		if largest != most+1 {
			t.Errorf("deferred:%d: %d outstanding at most, want %d", most, largest, most+1)
		}
	}
}

// TestPhases demands that a device keeps to the priorities of its phases: first
// gradients come late, then early.
func TestPhases(t *testing.T) {
	problem := modelgen.Unit(1, 4)
	for text, want := range map[string]string{
		"types=I>W>F": "0F0 0I0 0W0 0F1 0I1 0W1 0F2 0I2 0W2 0F3 0I3 0W3",
		"types=I>W>F types.warm-up=F in-flight=3":                                             "0F0 0F1 0F2 0I0 0I1 0I2 0W0 0W1 0W2 0F3 0I3 0W3",
		"types.steady=W>F types.cool-down=W>I types=F in-flight=2":                            "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0F3 0I2 0W2 0I3 0W3",
		"types@0.steady=W>F types.steady=I types@0=F types=I in-flight=2 types@0.cool-down=W": "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0F3 0I2 0W2 0I3 0W3",
	} {
		point, err := cssr.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cssr.NewDecoder(problem).Decode(context.Background(), rule(t, &point.Policy, problem), 0)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, op := range out.Plan.Order[0] {
			names = append(names, problem.Name(op))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestPolicyErrors demands a typed error that names the key.
func TestPolicyErrors(t *testing.T) {
	p := modelgen.Unit(3, 2)
	for _, c := range []struct{ text, key, words string }{
		{"types=F>recompute", "types", `unknown kind "recompute"; the problem has forward`},
		{"types.warm-up=F>backwardinput", "types.warm-up", "did you mean backward_input?"},
		{"types=F>forward", "types", "stands twice"},
		{"types@3=F", "types@3", "3 devices"},
		{"in-flight=1,2", "in-flight", "2 numbers for 3 devices"},
		{"weights=deferred:1,2", "weights", "2 numbers for 3 devices"},
		{"fuse=yes,no", "fuse", "2 numbers for 3 stages"},
		{"memory=1,2", "memory", "2 numbers for 3 devices"},
		{"memory=8GB", "memory", "bare numbers"},
		{"patience=X:3", "patience", `unknown kind "X"`},
		{"patience=F:3,forward:4", "patience", "stands twice"},
	} {
		point, err := cssr.ParsePoint(c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = point.Policy.Rule(p)
		var wrong *cssr.PolicyError
		if !errors.As(err, &wrong) || wrong.Key != c.key || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v", c.text, err)
		}
	}
}

// TestMemoryShares resolves parts and amounts of memory in both kinds of units.
func TestMemoryShares(t *testing.T) {
	for _, c := range []struct {
		sizes, text string
		want        []model.Bytes
	}{
		{"{activation: 0.5, limit: [10, 7]}", "memory=50%,100%", []model.Bytes{10, 14}},
		{"{activation: 0.5, limit: [10, 7]}", "memory=3", []model.Bytes{6, 6}},
		{"{activation: 0.5, limit: [10, 3.5]}", "memory=33%", []model.Bytes{6, 2}},
		{"{activation: 1GB, limit: 8GB}", "memory=2GB,2500MB", []model.Bytes{2, 2}},
		{"{activation: 1GB, limit: 8GB}", "memory=7000000000", []model.Bytes{7, 7}},
		{"{activation: 1GB}", "memory=50%", []model.Bytes{model.Unlimited, model.Unlimited}},
	} {
		problem, err := cssr.Build(decode(t, "devices: 2\nmicro_batches: 2\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nmemory: "+c.sizes), cssr.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		point, err := cssr.ParsePoint(c.text)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.sizes+" "+c.text, rule(t, &point.Policy, problem).Memory, c.want)
	}
}
