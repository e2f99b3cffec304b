package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {0.01234, "0.01234"}, {8.8154, "8.815"}, {999.96, "1000"}, {9999.4, "9999"}, {9999.6, "10k"}, {10940, "10.9k"},
		{999_499, "999k"}, {999_600, "1M"}, {3.3e6, "3.3M"}, {999_600_000, "1G"}, {1.75e11, "175G"},
	} {
		if got := figure(c.x); got != c.want {
			t.Errorf("figure(%v) is %q, want %q", c.x, got, c.want)
		}
	}
}

func TestSigned(t *testing.T) {
	for _, c := range []struct {
		share         float64
		want, against string
	}{
		{0, "0.0%", "as measured"}, {0.0004, "0.0%", "as measured"}, {-0.0004, "0.0%", "as measured"},
		{0.0006, "+0.1%", "0.1% more than measured"}, {-0.345, "-34.5%", "34.5% less than measured"}, {1.5, "+150.0%", "150.0% more than measured"},
	} {
		if got := signed(c.share); got != c.want {
			t.Errorf("signed(%v) is %q, want %q", c.share, got, c.want)
		}
		if got := against(c.share); got != c.against {
			t.Errorf("against(%v) is %q, want %q", c.share, got, c.against)
		}
	}
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		t    float64
		want string
	}{
		{0, "0s"}, {93.4e-6, "93µs"}, {1.2345e-3, "1.23ms"}, {0.3374, "337ms"}, {3.6189, "3.62s"}, {75, "1m15s"},
	} {
		if got := seconds(c.t); got != c.want {
			t.Errorf("seconds(%v) is %q, want %q", c.t, got, c.want)
		}
	}
}

// TestScale demands that the times of a table share a unit in which the longest has at most five
// digits before the point.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		longest     float64
		unit, texts string
	}{
		{0, "us", "0.0"}, {0.4e-3, "us", "400.0"}, {9.9994e-3, "us", "9999.4"},
		{10e-3, "ms", "10.000"}, {1.5, "ms", "1500.000"}, {12, "s", "12.000"},
	} {
		s := scaleOf(c.longest)
		if got := s.text(c.longest); s.unit != c.unit || got != c.texts {
			t.Errorf("%v s is %s %s, want %s %s", c.longest, got, s.unit, c.texts, c.unit)
		}
		if name := s.column("busy").name; name != "busy "+c.unit {
			t.Errorf("the column is called %q", name)
		}
	}
}

func TestSpecs(t *testing.T) {
	got, err := specsOf("1f1b, interleaved/2,solve")
	if err != nil || !slices.Equal(got, []string{"1f1b", "interleaved/2", "solve"}) {
		t.Errorf("specs %q, %v", got, err)
	}
	for _, bad := range []string{"", ",", "1f1b,", "1f1b,solve,1f1b"} {
		if got, err := specsOf(bad); err == nil {
			t.Errorf("specsOf(%q) is %q and no error", bad, got)
		}
	}
	for spec, want := range map[string]int{"1f1b": 0, "interleaved/1": 1, "interleaved/12": 12} {
		name, chunks, err := splitSpec(spec)
		if plain, _, _ := strings.Cut(spec, "/"); name != plain || chunks != want || err != nil {
			t.Errorf("splitSpec(%q) is %q, %d, %v", spec, name, chunks, err)
		}
	}
	for _, bad := range []string{"interleaved/", "interleaved/0", "interleaved/-1", "interleaved/2/3", "interleaved/two"} {
		if _, _, err := splitSpec(bad); err == nil {
			t.Errorf("splitSpec(%q) is no error", bad)
		}
	}
}

// TestFitsNot demands that a default schedule is passed over only where it does not fit, or no plan
// was found.
func TestFitsNot(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("wrapped: %w", &heuristics.ShapeError{}), true},
		{&cssr.ChoiceError{}, true},
		{&exitError{exitInfeasible, errors.New("no memory")}, true},
		{&exitError{exitLimit, errors.New("no time")}, true},
		{&exitError{exitRule, errors.New("a wrong plan")}, false},
		{&exitError{exitFailure, errors.New("a fault")}, false},
		{errors.New("something else"), false},
	} {
		if got := fitsNot(c.err); got != c.want {
			t.Errorf("%T %v: %v, want %v", c.err, c.err, got, c.want)
		}
	}
}

// ran returns the outcome of a plan without backend that took so many milliseconds, and by
// prediction so many.
func ran(name string, measured []int, predicted model.Time) *outcome {
	run := &pipert.Run{}
	for _, ms := range measured {
		run.Records = append(run.Records, &pipert.Record{Makespan: time.Duration(ms) * time.Millisecond})
	}
	return &outcome{
		execution:  &execution{candidate: &candidate{name: name}, perTick: 1e6},
		run:        run,
		prediction: &pipert.Prediction{Metrics: &model.Metrics{Makespan: predicted}, PerTick: 1e6},
	}
}

func TestRatios(t *testing.T) {
	// A machine that becomes slower: what counts is the iteration beside, not the median over all.
	b := &comparison{[]*outcome{ran("zb-h1", []int{100, 200, 400}, 75), ran(reference, []int{110, 440, 400}, 100)}}
	measured, predicted, ok := b.ratios(b.rows[0])
	if !ok || math.Abs(measured-1.1) > 1e-12 || math.Abs(predicted-100.0/75) > 1e-12 {
		t.Errorf("ratios %v, %v, %v", measured, predicted, ok)
	}
	f, ok := b.fidelity()
	if want := (125.0/200 + 300.0/400) / 2; !ok || math.Abs(f.Median-want) > 1e-12 || f.Tau != 1 || f.Regret != 0 {
		t.Errorf("fidelity %+v, %v, want deviation %v, tau 1, regret 0", f, ok, want)
	}
	if _, _, ok := (&comparison{b.rows[:1]}).ratios(b.rows[0]); ok {
		t.Error("a ratio without a reference")
	}
}

// TestNothingIsCompared demands that neither iterations of no length nor actors that share cores
// are compared with anything.
func TestNothingIsCompared(t *testing.T) {
	functional := ran("gpipe", []int{100}, 50)
	functional.perTick, functional.problem = 0, modelgen.Unit(cores()+1, 1)
	for _, r := range []*outcome{functional, ran("gpipe", []int{0}, 0), ran("gpipe", []int{100}, 0)} {
		b := &comparison{[]*outcome{ran(reference, []int{120}, 100), r}}
		if _, ok := b.fidelity(); ok {
			t.Error("fidelity of what cannot be compared")
		}
		if _, _, ok := b.ratios(r); ok {
			t.Error("a ratio of what cannot be compared")
		}
		r.name, b.rows[0].name = reference, "zb-h1"
		if _, _, ok := b.ratios(b.rows[0]); ok {
			t.Error("a ratio to what cannot be compared")
		}
	}
}

// TestNoiseOfAllRows demands that the remark about the machine is not that of the first row.
func TestNoiseOfAllRows(t *testing.T) {
	b := &comparison{[]*outcome{ran(reference, []int{120}, 100), ran("zb-h1", []int{100}, 75)}}
	for i, r := range b.rows {
		r.perTick, r.problem = 0, modelgen.Unit(1, 1)
		r.run.Records[0].Start = make([]int64, 4)
		r.run.Records[0].Devices = []pipert.DeviceRecord{{Preempted: 2 * i}}
	}
	if got := b.noise(); !strings.HasPrefix(got, "25.0% of the operations") {
		t.Errorf("remark %q", got)
	}
}

func TestTypical(t *testing.T) {
	r := ran("", []int{7, 30, 10, 12, 11}, 10)
	if got := r.typical().Makespan; got != 11*time.Millisecond {
		t.Errorf("the typical iteration took %v", got)
	}
}
