package main

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

func TestQuantities(t *testing.T) {
	tick, third, thousandth := model.Unit{}, model.Unit{Multiplier: 1, Divisor: 3}, model.Unit{Name: "us", Multiplier: 1, Divisor: 10000}
	bytes := func(b int64) string {
		p := &model.Problem{Pipeline: &model.Pipeline{MemoryUnit: model.Unit{Name: "B", Multiplier: 1, Divisor: 1}}}
		return size(p, model.Bytes(b))
	}
	for _, c := range []struct{ got, want string }{
		{amount(tick, model.Time(27)), "27"},
		{amount(third, model.Time(1)), "0.333"},
		{amount(thousandth, model.Time(12345)), "1.235"},
		{amount(thousandth, model.Time(20000)), "2"},
		{string(*number(thousandth, model.Time(12345))), "1.2345"},
		{string(*number(third, model.Time(3))), "1"},
		{string(*number(third, model.Time(1))), "0.3333333333333333"},
		{bytes(0), "0 B"},
		{bytes(1023), "1023 B"},
		{bytes(1536), "1.5 KiB"},
		{bytes(40 << 30), "40 GiB"},
		{bytes(5 << 50), "5120 TiB"},
		{percent(0), "0 %"},
		{percent(1.0 / 9), "11.11 %"},
		{percent(0.5), "50 %"},
		{percent(1), "100 %"},
		{percent(1e-9), "< 0.01 %"},
		{plural(1, "micro-batch"), "1 micro-batch"},
		{plural(8, "micro-batch"), "8 micro-batches"},
		{plural(0, "device"), "0 devices"},
		{stageList(nil), "none"},
		{stageList([]int{0, 7}), "0 7"},
		{stageList([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "0 1 2 3 4 5 ... 9"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
