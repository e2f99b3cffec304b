package runtime

import (
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

func TestPrediction(t *testing.T) {
	p, err := model.Compile(pair())
	if err != nil {
		t.Fatal(err)
	}
	plan := &model.Plan{Order: make([][]model.OpID, 2)}
	for m := range 3 { // both devices run forward and backward of one micro-batch after the other
		for d := range 2 {
			for _, kind := range []model.Kind{model.Forward, model.BackwardInput, model.BackwardWeight} {
				plan.Order[d] = append(plan.Order[d], p.Op(rowOf(p, d, kind), m))
			}
		}
	}
	got, err := Predict(p, plan, 1000)
	if err != nil {
		t.Fatal(err)
	}
	// A micro-batch takes five operations, those of device 0 and two of device 1, and two
	// transfers of 5 ticks, one after the other.
	if want := 1000 * 3 * (5 + 2*5) / 1e9; got.Seconds() != want {
		t.Errorf("%v seconds, want %v", got.Seconds(), want)
	}
	if ns := got.RowNanoseconds(rowOf(p, 1, model.Forward)); ns != 1000 {
		t.Errorf("a forward takes %v ns, want 1000", ns)
	}
	uneven := pair()
	uneven.Factors, uneven.FactorScale = []int64{1, 3, 4}, 1
	if scaled, err := model.Compile(uneven); err != nil {
		t.Error(err)
	} else if ns := (&Prediction{Problem: scaled, PerTick: 10}).RowNanoseconds(rowOf(scaled, 1, model.Forward)); ns != 30 {
		t.Errorf("a forward of uneven micro-batches takes %v ns, want 30, the median", ns)
	}
	want := []MemoryDeviation{{1, 2, 3, 0}, {2, 2, 2, 1}}
	got.Metrics.Devices = append(got.Metrics.Devices, got.Metrics.Devices[0])
	if list := got.MemoryDeviations([]Memory{{Peak: 2}, {Peak: 3}, {Peak: 2, Live: 1}}); !reflect.DeepEqual(list, want) {
		t.Errorf("deviations %+v, want %+v", list, want)
	}
	plan.Order[0][0], plan.Order[0][1] = plan.Order[0][1], plan.Order[0][0]
	if _, err := Predict(p, plan, 1000); err == nil {
		t.Error("a prediction of a plan that cannot run")
	}
}
