package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// TestLongestQuiet demands that the factors of micro-batches, latencies and lags count.
func TestLongestQuiet(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(pl *model.Pipeline)
		want   model.Time
	}{
		{"durations", func(*model.Pipeline) {}, 1},
		{"factors", func(pl *model.Pipeline) { pl.Factors, pl.FactorScale = []int64{1, 7, 2}, 1 }, 7},
		{"latency", func(pl *model.Pipeline) { pl.Latency = 9 }, 9},
		{"link", func(pl *model.Pipeline) { pl.Links = []model.Link{{From: 0, To: 1, Latency: 11}} }, 11},
		{"lag", func(pl *model.Pipeline) {
			pl.Operations = []model.Operation{{
				Name: "step", Letter: "STEP", Stage: 0, Single: true,
				After: []model.Ref{{Kind: "forward", Stage: 0, Lag: 13}},
			}}
		}, 13},
	} {
		pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 3})
		c.change(pl)
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		e := execution{candidate: &candidate{problem: p, plan: modelgen.OneForwardOneBackward(p)}}
		if got := e.longestQuiet(); got != c.want {
			t.Errorf("%s: the longest is %d ticks, want %d", c.name, got, c.want)
		}
	}
}

// TestPatience demands twenty times the longest, no less than the least, and no overflow.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		longest model.Time
		perTick float64
		least   time.Duration
		want    time.Duration
	}{
		{7, 1e6, time.Millisecond, 140 * time.Millisecond},
		{7, 1e6, time.Second, time.Second},
		{7, 0, time.Second, time.Second}, // durations are not those of the plan
	} {
		if got := patience(c.longest, c.perTick, c.least); got != c.want {
			t.Errorf("%d ticks of %v ns, at least %v: %v, want %v", c.longest, c.perTick, c.least, got, c.want)
		}
	}
	if got := patience(1<<60, 1e15, time.Second); got < 100*365*24*time.Hour {
		t.Errorf("of the longest time there is: %v", got)
	}
}

// someBackend is one of which only the name is known.
type someBackend struct{ pipert.Backend }

func (someBackend) Name() string { return onCPU }

// TestEnginesAreNoActors demands that engines beside devices do not count among those who share
// cores.
func TestEnginesAreNoActors(t *testing.T) {
	devices := make([]model.Device, cores()+2)
	devices[cores()].Engine, devices[cores()+1].Engine = true, true
	e := execution{
		candidate: &candidate{problem: &model.Problem{Pipeline: &model.Pipeline{Devices: devices}}}, backend: someBackend{},
	}
	if want := fmt.Sprintf("cpu, %s on %s", model.Plural(cores(), "actor"), model.Plural(cores(), "core")); e.label() != want {
		t.Errorf("label %q, want %q", e.label(), want)
	}
	devices[cores()].Engine = false
	if !e.functional() {
		t.Error("more devices than cores, and no core is shared")
	}
}

// broken is a backend that cannot be closed.
type broken struct {
	pipert.Backend
	why error
}

func (b broken) Close() error { return b.why }

func TestCloseAllTellsAllErrors(t *testing.T) {
	first, second := errors.New("no more memory"), errors.New("no more cores")
	err := closeAll([]*execution{
		{candidate: &candidate{name: "a"}, backend: broken{why: first}},
		{candidate: &candidate{name: "b"}, backend: broken{}},
		{candidate: &candidate{name: "c"}, backend: broken{why: second}},
	})
	var exit *exitError
	if !errors.Is(err, first) || !errors.Is(err, second) || !errors.As(err, &exit) || exit.code != exitFailure {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(err.Error(), "closing a: ") || strings.Contains(err.Error(), "closing b") {
		t.Errorf("error %q", err)
	}
	if err := closeAll([]*execution{{candidate: &candidate{name: "b"}, backend: broken{}}}); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
}
