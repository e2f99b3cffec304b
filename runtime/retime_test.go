package runtime

import (
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

// pair returns a pipeline of two stages on two devices with three micro-batches.
func pair() *model.Pipeline {
	stage := func(d int, after ...int) model.Stage {
		return model.Stage{
			After: after, Activation: 2, FreedByInput: 1,
			Replicas: []model.Replica{{Devices: []int{d}, Durations: model.Durations{
				Forward: 1, BackwardInput: 1, BackwardWeight: 1, BackwardFull: model.Absent, Overlapped: model.Absent}}},
		}
	}
	return &model.Pipeline{
		TimeUnit: model.Unit{Name: "us", Multiplier: 1, Divisor: 1}, MicroBatches: 3, Latency: 5,
		Devices: []model.Device{{Limit: 4}, {Limit: 4}},
		Stages:  []model.Stage{stage(0), stage(1, 0)},
	}
}

func TestRetime(t *testing.T) {
	pl := pair()
	pl.Links = []model.Link{{From: 0, To: 1, Latency: 50}}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	costs := []StageCosts{
		{Forward: 10.4, BackwardInput: 20, BackwardWeight: 30, Activation: 100, FreedByInput: -20, Static: 7},
		{Forward: 11, BackwardInput: 21, BackwardWeight: 31.6, BackwardFull: 52, Activation: 200, FreedByInput: 40, Static: 9},
	}
	got, err := Retime(p, costs, 2.5)
	if err != nil {
		t.Fatal(err)
	}
	if got.NumOps() != p.NumOps() || len(got.Rows) != len(p.Rows) {
		t.Fatalf("%d operations in %d rows, want %d in %d", got.NumOps(), len(got.Rows), p.NumOps(), len(p.Rows))
	}
	for op := range model.OpID(p.NumOps()) {
		if got.Name(op) != p.Name(op) {
			t.Errorf("operation %d is %s, want %s", op, got.Name(op), p.Name(op))
		}
	}
	want := [2]model.Durations{
		{Forward: 10, BackwardInput: 20, BackwardWeight: 30, BackwardFull: model.Absent, Overlapped: model.Absent},
		{Forward: 11, BackwardInput: 21, BackwardWeight: 32, BackwardFull: model.Absent, Overlapped: model.Absent},
	}
	for s := range want {
		if d := got.Pipeline.Stages[s].Replicas[0].Durations; d != want[s] {
			t.Errorf("stage %d: %+v, want %+v", s, d, want[s])
		}
	}
	if got.Pipeline.Latency != 3 || got.Pipeline.Links != nil || got.Limits[0] != model.Unlimited || got.Statics[1] != 9 || got.TimeUnit().Name != "ns" {
		t.Errorf("latency %d, limit %d, static %d, unit %v", got.Pipeline.Latency, got.Limits[0], got.Statics[1], got.TimeUnit())
	}
	if p.Pipeline.Stages[0].Replicas[0].Durations.Forward != 1 || p.Limits[0] != 4 {
		t.Error("the given problem has changed")
	}
}

func TestRetimeRefusals(t *testing.T) {
	for want, change := range map[string]func(*model.Pipeline){
		"costs of 2 stages for a problem of 1": func(pl *model.Pipeline) { pl.Stages = pl.Stages[:1] },
		"blocking transfers":                   func(pl *model.Pipeline) { pl.Blocking = true },
		"unequal micro-batches":                func(pl *model.Pipeline) { pl.Factors, pl.FactorScale = []int64{1, 2, 1}, 1 },
		"operation all_reduce": func(pl *model.Pipeline) {
			pl.Operations = []model.Operation{{Name: "all_reduce", Letter: "R", Stage: 0, Single: true, Duration: 1,
				After: []model.Ref{{Kind: "backward_weight", Stage: 0}}}}
		},
	} {
		pl := pair()
		change(pl)
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(want, err)
		}
		if _, err := Retime(p, make([]StageCosts, 2), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
