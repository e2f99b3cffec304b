package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/runtime/emulated"
)

// patient is a search that ends when it has proved its plan the best. The limit is there for a
// search that has gone wrong, and far from what a machine under load needs.
var patient = search{limit: time.Minute, seed: 1, workers: 1}

// TestNetworks reads every configuration, and makes the plans of its study.
func TestNetworks(t *testing.T) {
	for _, name := range []string{"gpt", "mlp", "small"} {
		list, err := patient.studied(t.Context(), loaded(t, name), append(whole[:len(whole):len(whole)], chunked...))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(list) != 7 {
			t.Errorf("%s: %d plans, want 7", name, len(list))
		}
	}
	if _, err := patient.studied(t.Context(), loaded(t, "waiting"), whole); err != nil {
		t.Error(err)
	}
}

func loaded(t *testing.T, name string) *config.Config {
	t.Helper()
	cfg, err := load(name)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestEffect tests what the study of the effect rests on: that each plan of the list is
// predicted to be no slower than the one it is compared with, under a limit that all keep.
func TestEffect(t *testing.T) {
	o := &options{search: patient}
	for _, name := range []string{"head", "head-4"} {
		cfg, need, err := equalLimit(loaded(t, name))
		if err != nil {
			t.Fatal(err)
		}
		list, err := o.compared(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		var spans []float64 // in microseconds
		for _, c := range list {
			timeline, err := model.Evaluate(c.problem, c.plan)
			if err != nil {
				t.Fatal(err)
			}
			length, _ := c.problem.TimeUnit().Rat(int64(model.Measure(c.problem, c.plan, timeline).Makespan)).Float64()
			spans = append(spans, length)
			if held, err := c.need(); err != nil || held > need {
				t.Errorf("%s: %s holds %d B, the limit is %d; %v", name, c.name, held, need, err)
			}
		}
		if spans[1] > spans[0] || spans[2] >= spans[0] || spans[3] > spans[2] || spans[3] >= spans[1] {
			t.Errorf("%s: makespans %v us, want them to fall from equal layers to the tuned plan", name, spans)
		}
	}
}

// TestTrial trains and waits for an iteration, and reads what is printed.
func TestTrial(t *testing.T) {
	cfg := loaded(t, "small")
	candidates, err := patient.studied(t.Context(), cfg, whole[:2])
	if err != nil {
		t.Fatal(err)
	}
	computed, err := train(t.Context(), cfg, candidates, repeats{warmup: 1, iterations: 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	checkPrinted(t, computed, `(?m)^1f1b .* 1\.000 .*$`, `(?m)^memory: all peaks as predicted to the byte`, `(?m)^operations: forward `)

	candidates, err = patient.studied(t.Context(), loaded(t, "waiting"), whole[:2])
	if err != nil {
		t.Fatal(err)
	}
	waited, err := emulate(t.Context(), candidates, emulated.Options{Dilation: 0.1}, repeats{warmup: 1, iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkPrinted(t, waited, `(?m)^gpipe .* 34\.5ms `, `(?m)^fidelity: median error `)
}

func checkPrinted(t *testing.T, tr *trial, want ...string) {
	t.Helper()
	var w strings.Builder
	if err := tr.print(&w, reference); err != nil {
		t.Fatal(err)
	}
	tr.printFidelity(&w)
	tr.printMemory(&w)
	for _, pattern := range want {
		if !regexp.MustCompile(pattern).MatchString(w.String()) {
			t.Errorf("no %q in\n%s", pattern, w.String())
		}
	}
}

// TestParse tests which flags are refused.
func TestParse(t *testing.T) {
	for want, args := range map[string][]string{
		`unexpected argument "x"`: {"x"},
		"-iterations 0":           {"-iterations", "0"},
		"-warm-up 0":              {"-warm-up", "0"},
	} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", args, err, want)
		}
	}
	if err := run(t.Context(), &options{study: "none"}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "write fidelity or effect") {
		t.Errorf("an unknown study: error %v", err)
	}
}

// TestLossFalls trains for a while.
func TestLossFalls(t *testing.T) {
	c, err := named(loaded(t, "small"), reference, 1)
	if err != nil {
		t.Fatal(err)
	}
	losses, err := trained(t.Context(), c, &options{trained: 12})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := losses[0], losses[len(losses)-1]; !(last < first-0.5) {
		t.Errorf("the loss is %v in the first iteration and %v in the last of %d", first, last, len(losses))
	}
}
