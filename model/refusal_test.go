package model_test

import (
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

func TestRefusals(t *testing.T) {
	type pipeline = model.Pipeline
	first := func(pl *pipeline) *model.Durations { return &pl.Stages[0].Replicas[0].Durations }
	for _, c := range []struct {
		want  string
		wrong func(pl *pipeline)
	}{
		{"no devices", func(pl *pipeline) { pl.Devices = nil }},
		{"no stages", func(pl *pipeline) { pl.Stages = nil }},
		{"0 micro-batches: at least 1 is needed", func(pl *pipeline) { pl.MicroBatches = 0 }},
		{"1 factors for 2 micro-batches", func(pl *pipeline) { pl.Factors = []int64{1} }},
		{"micro-batch factors must be positive", func(pl *pipeline) { pl.Factors, pl.FactorScale = []int64{1, 0}, 1 }},
		{"micro-batch factors must be positive", func(pl *pipeline) { pl.Factors = []int64{1, 1} }},
		{"stage 0: duration 1 is not a multiple of the factor scale 2", func(pl *pipeline) { pl.Factors, pl.FactorScale = []int64{1, 1}, 2 }},
		{"3 routes for 2 micro-batches", func(pl *pipeline) { pl.Routes = []int{0, 0, 0} }},
		{"micro-batch 1 has route 1: there are 1", func(pl *pipeline) { pl.Routes = []int{0, 1} }},
		{"micro-batch 0 has route -1: there are 1", func(pl *pipeline) { pl.Routes = []int{-1, 0} }},
		{"unknown objective 9", func(pl *pipeline) { pl.Objective = 9 }},
		{"device 1: memory limit -1 is negative", func(pl *pipeline) { pl.Devices[1].Limit = -1 }},
		{`unit "us": multiplier -1 and divisor 1 must not be negative`, func(pl *pipeline) { pl.TimeUnit = model.Unit{Name: "us", Multiplier: -1, Divisor: 1} }},
		{`unit "GiB": multiplier 1 and divisor -1 must not be negative`, func(pl *pipeline) { pl.MemoryUnit = model.Unit{Name: "GiB", Multiplier: 1, Divisor: -1} }},
		{"stage 0: 0 replicas: 1 or one for each of 1 routes is needed", func(pl *pipeline) { pl.Stages[0].Replicas = nil }},
		{"stage 0: 2 replicas: 1 or one for each of 3 routes is needed", func(pl *pipeline) {
			pl.Stages[0].Replicas = make([]model.Replica, 2)
			pl.Stages[1].Replicas = make([]model.Replica, 3)
		}},
		{"stage 1: unknown backward mode 3", func(pl *pipeline) { pl.Stages[1].Backward = 3 }},
		{"stage 1: activation -1 and static memory 0 must not be negative", func(pl *pipeline) { pl.Stages[1].Activation = -1 }},
		{"stage 1: activation 5 and static memory -2 must not be negative", func(pl *pipeline) { pl.Stages[1].Static = -2 }},
		{"stage 1: backward input gives back 6 of an activation of 5", func(pl *pipeline) { pl.Stages[1].FreedByInput = 6 }},
		{"stage 1: freed by backward input -9223372036854775808 is out of range", func(pl *pipeline) { pl.Stages[1].FreedByInput = -1 << 63 }},
		{"stage 1: follows stage 2 of 2", func(pl *pipeline) { pl.Stages[1].After = []int{2} }},
		{"stage 1: follows stage 1 of 2", func(pl *pipeline) { pl.Stages[1].After = []int{1} }},
		{"stage 0: sits on no device", func(pl *pipeline) { pl.Stages[0].Replicas[0].Devices = nil }},
		{"stage 0: sits on device 2: there are 2", func(pl *pipeline) { pl.Stages[0].Replicas[0].Devices = []int{2} }},
		{"stage 0: lists device 1 twice", func(pl *pipeline) { pl.Stages[0].Replicas[0].Devices = []int{1, 1} }},
		{"stage 0: has no forward", func(pl *pipeline) { first(pl).Forward = none }},
		{"stage 0: duration -2 is out of range", func(pl *pipeline) { first(pl).BackwardFull = -2 }},
		{"stage 0: duration -3 is out of range", func(pl *pipeline) { first(pl).Overlapped = -3 }},
		{"stage 0: duration 4611686018427387904 is out of range", func(pl *pipeline) { first(pl).Forward = 1 << 62 }},
		{"stage 0: its replicas have different operations", func(pl *pipeline) {
			other := pl.Stages[0].Replicas[0]
			other.Durations.BackwardFull = none
			pl.Stages[0].Replicas = append(pl.Stages[0].Replicas, other)
		}},
		{"latency -1 is out of range", func(pl *pipeline) { pl.Latency = -1 }},
		{"link from device 0 to device 0: two different devices of 2 are needed", func(pl *pipeline) { pl.Links = []model.Link{{}} }},
		{"link from device 0 to device 2: two different devices of 2 are needed", func(pl *pipeline) { pl.Links = []model.Link{{From: 0, To: 2}} }},
		{"link from device 0 to device 1: latency -1 is out of range", func(pl *pipeline) { pl.Links = []model.Link{{From: 0, To: 1, Latency: -1}} }},
		{"link from device 0 to device 1 is given twice", func(pl *pipeline) { pl.Links = []model.Link{{From: 0, To: 1}, {From: 1, To: 0}, {From: 0, To: 1}} }},
		{"the stage graph has a cycle through stage 0", func(pl *pipeline) { pl.Stages[0].After = []int{1} }},
		{"stage 0 has a backward operation, but stage 1, which follows it, has no backward_input and so sends no gradient", func(pl *pipeline) {
			pl.Stages[1].Replicas[0].Durations = durations(1, none, 1, 2)
		}},
		{"stage 0 has a backward operation, but stage 1, which follows it, has no backward_input and so sends no gradient", func(pl *pipeline) {
			*first(pl) = durations(1, none, none, 2)
			pl.Stages[1].Replicas[0].Durations = durations(1, none, none, none)
		}},
		{"2^31 operations: reduce stages or micro_batches", func(pl *pipeline) { pl.MicroBatches = 1 << 29 }},
		{"the durations add up to more than 2^61 ticks; write fewer digits, so that a tick can be larger, or take fewer micro-batches", func(pl *pipeline) { first(pl).Forward = 1 << 60; first(pl).BackwardInput = 1 }},
		{"the durations add up to more than 2^61 ticks; write fewer digits, so that a tick can be larger, or take fewer micro-batches", func(pl *pipeline) { pl.Latency = 1 << 60 }},
		{"stage 0: durations overflow; write fewer digits, so that a tick can be larger, or take fewer micro-batches", func(pl *pipeline) {
			pl.Factors, pl.FactorScale = []int64{1, 1 << 62}, 1
		}},
		{"the memory amounts add up to more than 2^61; write fewer digits, so that a tick can be larger, or take fewer micro-batches", func(pl *pipeline) { pl.Stages[0].Activation = 1 << 60 }},
		{"the memory amounts add up to more than 2^61; write fewer digits, so that a tick can be larger, or take fewer micro-batches", func(pl *pipeline) { pl.Stages[0].FreedByInput = -1 << 61 }},
		{"device 0: the static memory adds up to more than 2^61; write fewer digits, so that a tick can be larger, or take fewer micro-batches", func(pl *pipeline) {
			pl.Stages[0].Static, pl.Stages[1].Static = 1<<60, 1<<61
			pl.Stages[1].Replicas[0].Devices = []int{0}
		}},
	} {
		pl := chain(model.Split, durations(1, 1, 1, 2), durations(1, 1, 1, 2))
		c.wrong(pl)
		_, err := model.Compile(pl)
		if err == nil || !strings.HasPrefix(err.Error(), `pipeline "test": `) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}
