package constraints_test

import (
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/google/go-cmp/cmp"
)

func TestEnumeration(t *testing.T) {
	// Rows: 0F 0I 0W 0B, 1F 1I 1W 1B; device 1 has no limit.
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 3, Latency: 4, Backward: model.Auto,
		Activation: []model.Bytes{5}, FreedByI: []model.Bytes{-1}, Static: []model.Bytes{7}, Limit: []model.Bytes{20, model.Unlimited}})
	equal(t, slices.Collect(constraints.Precedences(p)), []constraints.Precedence{
		{Before: 0, After: 1, StandIn: -1}, {Before: 5, After: 1, Lag: 4, StandIn: 7},
		{Before: 1, After: 2, StandIn: 3},
		{Before: 0, After: 3, StandIn: -1}, {Before: 5, After: 3, Lag: 4, StandIn: 7},
		{Before: 0, After: 4, Lag: 4, StandIn: -1},
		{Before: 4, After: 5, StandIn: -1},
		{Before: 5, After: 6, StandIn: 7},
		{Before: 4, After: 7, StandIn: -1},
	})
	equal(t, slices.Collect(constraints.Resources(p)), []constraints.Resource{
		{Device: 0, Rows: []int32{0, 1, 2, 3}}, {Device: 1, Rows: []int32{4, 5, 6, 7}},
	})
	equal(t, slices.Collect(constraints.MemoryLimits(p)), []constraints.MemoryLimit{
		{Device: 0, Limit: 20, Static: 7, Deltas: []constraints.RowDelta{
			{Row: 0, Delta: model.Delta{AtStart: 5}},
			{Row: 1, Delta: model.Delta{AtStart: 1}},
			{Row: 2, Delta: model.Delta{AtEnd: -6}},
			{Row: 3, Delta: model.Delta{AtStart: 1, AtEnd: -6}},
		}},
	})
	equal(t, slices.Collect(constraints.Alternatives(p)), []constraints.Alternative{
		{Stage: 0, Fused: 3, Split: [2]int32{1, 2}}, {Stage: 1, Fused: 7, Split: [2]int32{5, 6}},
	})
}

func TestEnumerationsStop(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 1, Backward: model.Auto, Limit: []model.Bytes{9}})
	for range constraints.Precedences(p) {
		break
	}
	for range constraints.Resources(p) {
		break
	}
	for range constraints.MemoryLimits(p) {
		break
	}
	for range constraints.Alternatives(p) {
		break
	}
}

func TestNoChoiceNoAlternative(t *testing.T) {
	if got := slices.Collect(constraints.Alternatives(modelgen.Unit(2, 2))); got != nil {
		t.Errorf("got %v", got)
	}
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
