package cssr_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// twoDevices is a configuration of two stages.
const twoDevices = "version: 1\ndevices: 2\nmicro_batches: 2\ncosts: {forward: 1, backward_full: 2}\nbackward: fused\n"

func specOf(document string) *cssr.Spec {
	return cssr.NewSpec(config.Source{Name: "test.yaml", Data: []byte(document)})
}

// TestSpecBuilds describes 1F1B in three ways, which give the same plan.
func TestSpecBuilds(t *testing.T) {
	want := [][]string{{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "1B0", "1F1", "1B1"}}
	for name, spec := range map[string]*cssr.Spec{
		"priorities": specOf(twoDevices).Prefer("B", "F").InFlight(2, 1),
		"orders":     specOf(twoDevices).Order(0, want[0]...).Order(1, "1F0", "1B0").Order(1, "1F1", "1B1"),
		"keys":       specOf(twoDevices).Set("micro_batches", 1).Set("micro_batches", 2).Prefer("backward_full", "forward").InFlight(2, 1),
	} {
		request, err := spec.Request()
		if err != nil {
			t.Fatal(name, err)
		}
		problem, err := request.Problem()
		if err != nil {
			t.Fatal(name, err)
		}
		if err := request.Check(problem); err != nil {
			t.Fatal(name, err)
		}
		plan, err := request.Plan(context.Background(), problem, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		got := make([][]string, len(plan.Order))
		for d, order := range plan.Order {
			for _, op := range order {
				got[d] = append(got[d], problem.Name(op))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestSpecErrorSticks demands the first error, of the right type.
func TestSpecErrorSticks(t *testing.T) {
	var choice *cssr.ChoiceError
	var policy *cssr.PolicyError
	var verbs *cssr.SpecError
	var placed *config.Error
	var order *cssr.OrderError
	for _, c := range []struct {
		spec  *cssr.Spec
		as    any
		words string
	}{
		{specOf(twoDevices).Backward("fussed").InFlight(-1), &choice, "did you mean fused?"},
		{specOf(twoDevices).Objective("length"), &choice, "use makespan or span"},
		{specOf(twoDevices).Place("zigzag", 1), &policy, "zigzag"},
		{specOf(twoDevices).Place("loop", 0), &choice, "at least 1 chunk"},
		{specOf(twoDevices).InFlight(-1).Backward("fussed"), &policy, "-1 is out of range"},
		{specOf(twoDevices).Traverse("wavy", 0), &policy, "did you mean wave?"},
		{specOf(twoDevices).Weights("fill", 3), &policy, "use deferred"},
		{specOf(twoDevices).Weights("later"), &policy, "by-type"},
		{specOf(twoDevices).Memory("lots"), &policy, `"lots"`},
		{specOf(twoDevices).Prefer("F", "F"), &policy, "stands twice"},
		{specOf(twoDevices).Patience("", 65), &policy, "65"},
		{specOf(twoDevices).Set("devices", 0), &placed, "devices: 0 is out of range"},
		{specOf(twoDevices).Order(-1, "0F0"), &order, "no device -1"},
		{specOf(twoDevices).Schedule("1f1b").InFlight(2), &verbs, "in_flight"},
		{specOf(twoDevices).Order(0, "0F0").Prefer("F"), &verbs, "for prefer; keep"},
		{specOf(twoDevices).Order(0, "0F0").Schedule("1f1b"), &verbs, "of its own"},
		{specOf(twoDevices).Order(0, "0F0").Solve(cssr.SolveRequest{}), &verbs, "nothing to search"},
		{specOf(twoDevices).Schedule("1f1b").Tune(cssr.Space{}), &verbs, "nothing to search"},
		{specOf("version: 1\n"), &placed, "missing"},
		{specOf(twoDevices).Operation(map[string]any{"name": "step"}), &placed, "operations[0]"},
	} {
		_, err := c.spec.Request()
		if err == nil || !errors.As(err, c.as) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%T: error %v, want %q", c.as, err, c.words)
		}
	}
}

// TestSpecShape asks where stages sit.
func TestSpecShape(t *testing.T) {
	s := specOf(twoDevices).Place("v", 2)
	if s.Err() != nil || s.Stages() != 4 || !reflect.DeepEqual(s.StagesOn(1), []int{1, 2}) || !reflect.DeepEqual(s.DevicesOf(3), []int{0}) {
		t.Errorf("error %v, %d stages, device 1 holds %v", s.Err(), s.Stages(), s.StagesOn(1))
	}
	if s.Bidirectional(); s.Err() != nil || len(s.StagesOn(1)) != 4 {
		t.Errorf("error %v, device 1 holds %v on both routes", s.Err(), s.StagesOn(1))
	}
}

// TestOrderErrors demands where an order is at fault.
func TestOrderErrors(t *testing.T) {
	for _, c := range []struct {
		orders           [][]string
		device, position int
		words            string
	}{
		{[][]string{{"0F0", "0F1", "0B0", "0B1"}}, -1, -1, "device 1 has no order"},
		{[][]string{{"0F0", "0F1", "0B0", "0B1"}, {"1F0"}, {"1F0"}}, 2, -1, "there is no device 2"},
		{[][]string{{"0F0", "0G0"}, {"1F0"}}, 0, 1, `"0G0" is no operation: there is no kind`},
		{[][]string{{"0F0", "1F1"}, {"1F0"}}, 0, 1, "1F1 runs on device 1, not on device 0"},
		{[][]string{{"0F0", "0F1", "0F0"}, {"1F0"}}, 0, 2, "at positions 0 and 2"},
		{[][]string{{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "1B0", "1B1"}}, 1, -1, "1F1 is missing in the order of device 1"},
		{[][]string{{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "1B0", "1B1", "1F1"}}, 1, 2, "1B1 (device 1) waits for 1F1, which stands behind 1B1"},
	} {
		spec := specOf(twoDevices)
		for d, order := range c.orders {
			spec.Order(d, order...)
		}
		request, err := spec.Request()
		if err != nil {
			t.Fatal(err)
		}
		problem, err := request.Problem()
		if err != nil {
			t.Fatal(err)
		}
		var wrong *cssr.OrderError
		if err = request.Check(problem); !errors.As(err, &wrong) || wrong.Device != c.device || wrong.Position != c.position || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: %+v", c.orders, err)
		}
	}
}

// TestOrderOfChoice reads orders that choose between split and fused, and one that
// chooses both.
func TestOrderOfChoice(t *testing.T) {
	const one = "version: 1\ndevices: 1\nmicro_batches: 2\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nbackward: auto\n"
	for order, words := range map[string]string{
		"0F0 0F1 0B0 0I1 0W1":     "",
		"0F0 0F1 0I0 0W0 0I1 0W1": "",
		"0F0 0F1 0B0 0I1":         "0W1",
		"0F0 0F1 0B0 0B1 0W1":     "0W1",
	} {
		request, err := specOf(one).Order(0, strings.Fields(order)...).Request()
		if err != nil {
			t.Fatal(err)
		}
		problem, err := request.Problem()
		if err != nil {
			t.Fatal(err)
		}
		switch err = request.Check(problem); {
		case words == "" && err != nil:
			t.Errorf("%s: %v", order, err)
		case words != "" && (err == nil || !strings.Contains(err.Error(), words)):
			t.Errorf("%s: error %v, want %q", order, err, words)
		}
	}
}

// TestPriorityOfMissingBackward refuses a priority that ranks the backward which no
// stage runs, and only that.
func TestPriorityOfMissingBackward(t *testing.T) {
	mixed := "version: 1\ndevices: 2\nmicro_batches: 2\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nbackward: [split, fused]\n"
	split := strings.Replace(mixed, "[split, fused]", "split", 1)
	for _, c := range []struct {
		document string
		types    []string
		refused  bool
	}{
		{split, []string{"B", "F"}, true},
		{split, []string{"F"}, false},
		{split, []string{"I", "B", "F"}, false},
		{mixed, []string{"B", "F"}, false},
		{twoDevices, []string{"backward_input", "F"}, true},
		{twoDevices, []string{"backward_full", "F", "W"}, false},
	} {
		request, err := specOf(c.document).PreferIn(cssr.AnyActor, cssr.Steady, c.types...).Request()
		if err != nil {
			t.Fatal(err)
		}
		problem, err := request.Problem()
		if err != nil {
			t.Fatal(err)
		}
		var policy *cssr.PolicyError
		err = request.Check(problem)
		if c.refused != errors.As(err, &policy) || c.refused && policy.Key != "types.steady" {
			t.Errorf("%v: error %v", c.types, err)
		}
	}
}

// TestBoundsLeaveEnginesAlone resolves lists by device beside an engine.
func TestBoundsLeaveEnginesAlone(t *testing.T) {
	document := twoDevices + "memory: {activation: 1, limit: 4}\noperations: [{name: step, stages: all, link: network, once: true, duration: 1, after: backward}]\n"
	request, err := specOf(document).InFlight(2, 1).Memory("50%", "3").Request()
	if err != nil {
		t.Fatal(err)
	}
	problem, err := request.Problem()
	if err != nil {
		t.Fatal(err)
	}
	rule := rule(t, &request.Point.Policy, problem)
	equal(t, "in flight", rule.Actor, []int32{2, 1, 0})
	equal(t, "memory", rule.Memory, []model.Bytes{2, 3, model.Unlimited})
}
