package model_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

func TestWording(t *testing.T) {
	schedules := []string{"1f1b", "zb-h1", "zb-h2"}
	for _, c := range []struct{ got, want string }{
		{model.Plural(1, "micro-batch"), "1 micro-batch"},
		{model.Plural(8, "micro-batch"), "8 micro-batches"},
		{model.Plural(0, "device"), "0 devices"},
		{model.Percent(0, 7), "0%"},
		{model.Percent(0, 0), "0%"},
		{model.Percent(1, 9), "11.1%"},
		{model.Percent(1, 2), "50.0%"},
		{model.Percent(7, 7), "100%"},
		{model.Percent(1, 80), "1.25%"},
		{model.Percent(9999, 100000), "10.0%"},
		{model.Percent(1, 1<<62), "<0.01%"},
		{model.Percent(-1, 1<<62), ">-0.01%"},
		{model.Percent(-90, 27), "-333%"},
		{model.Percent(-7, 200), "-3.50%"},
		{model.Percent(-7, 20), "-35.0%"},
		{model.Nearest("zb-h3", schedules), "zb-h1"},
		{model.Nearest("1fb1", schedules), "1f1b"},
		{model.Nearest("gpipe", schedules), ""},
		{model.Nearest("", schedules), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestQuantities(t *testing.T) {
	unit := func(name string, multiplier, divisor int64) model.Unit {
		return model.Unit{Name: name, Multiplier: multiplier, Divisor: divisor}
	}
	tick, third, second, bytes := unit("tick", 1, 1), unit("", 1, 3), unit("s", 1, 1_000_000), unit("B", 1, 1)
	for _, c := range []struct{ got, want string }{
		{tick.Amount(1), "1 tick"},
		{tick.Amount(27), "27 ticks"},
		{tick.Amount(0), "0 ticks"},
		{unit("tick", 1, 2).Amount(3), "1.5 ticks"},
		{unit("us", 1, 10).Amount(25), "2.5 us"},
		{third.Amount(1), "1/3"},
		{second.Amount(10), "0.00001 s"},
		{second.Rounded(10), "0.00001"},
		{second.Rounded(123456), "0.1235"},
		{second.Rounded(12345678), "12.346"},
		{second.Rounded(-12345678), "-12.346"},
		{second.Rounded(2_000_000), "2"},
		{second.Rounded(0), "0"},
		{third.Rounded(1), "0.3333"},
		{third.Rounded(4), "1.333"},
		{unit("s", 1, 1<<62).Rounded(1), "0.0000000000000000002168"},
		{bytes.Size(0), "0 B"},
		{bytes.Size(1023), "1023 B"},
		{bytes.Size(1536), "1.5 KiB"},
		{bytes.Size(1<<20 - 1), "1 MiB"},
		{bytes.Size(40 << 30), "40 GiB"},
		{bytes.Size(1<<30 + 1), "1 GiB"},
		{bytes.SizeUp(1<<30 + 1), "1.1 GiB"},
		{bytes.SizeUp(1 << 30), "1 GiB"},
		{bytes.SizeUp(1<<20 - 1), "1 MiB"},
		{unit("byte", 1<<62, 1).Size(1 << 10), "4096 EiB"},
		{unit("GiB", 1, 2).Size(3), "1.5 GiB"},
		{unit("", 1, 1).Size(2048), "2048"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
