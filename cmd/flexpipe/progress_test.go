package main

import (
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

func TestProgressLine(t *testing.T) {
	line := &progressLine{problem: modelgen.Unit(2, 2), began: time.Now()}
	if got, want := line.text(), "0s, computing the bound and a first plan"; got != want {
		t.Errorf("at first %q, want %q", got, want)
	}
	for _, c := range []struct {
		progress portfolio.Progress
		want     string
	}{
		{portfolio.Progress{Engine: "heuristic", Value: 8, Bound: 7, Rule: "due by head", Tries: 16, Limit: 64},
			"0s, best 8 ticks, bound 7 ticks, gap 12.5%, 16 of 64 rules tried, found by due by head"},
		{portfolio.Progress{Engine: "lcg", Value: 8, Bound: 7, Conflicts: 1}, "0s, best 8 ticks, bound 7 ticks, gap 12.5%, engine lcg, 1 conflict"},
		{portfolio.Progress{Engine: "sat", Value: model.Absent, Bound: 7}, "0s, bound 7 ticks, engine sat, 0 conflicts"},
	} {
		if line.update(c.progress); line.text() != c.want {
			t.Errorf("%q, want %q", line.text(), c.want)
		}
	}
}
