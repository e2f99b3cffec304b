package cssr_test

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// refused fails unless the configuration is refused in these words.
func refused(t testing.TB, text string, choices cssr.Choices, words ...string) error {
	t.Helper()
	_, err := cssr.Build(decode(t, text), choices)
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	return err
}

func TestDecimalsAreExact(t *testing.T) {
	pl := pipeline(t, `
devices: 1
stages: 3
micro_batches: 1
costs: {forward: 0.1, backward_input: 0.2, backward_weight: 0.3}
memory: {activation: 0.1, static: 0, limit: 0.3}
`, cssr.Choices{})
	if pl.Stages[0].Activation != 1 || pl.Devices[0].Limit != 3 {
		t.Errorf("activation %d, limit %d: three times 0.1 must fit into 0.3", pl.Stages[0].Activation, pl.Devices[0].Limit)
	}
	equal(t, "forwards", forwards(pl), []model.Time{1, 1, 1})
	if got := pl.TimeUnit.Format(7); got != "0.7" {
		t.Errorf("7 ticks are %s", got)
	}
}

func TestFactors(t *testing.T) {
	const text = "devices: 1\nmicro_batches: [%s]\ncosts: {forward: 1, backward_input: 1, backward_weight: 3}"
	pl := pipeline(t, fmt.Sprintf(text, "1, 1.5, 0.75"), cssr.Choices{})
	equal(t, "factors", pl.Factors, []int64{4, 6, 3})
	if pl.FactorScale != 4 || pl.Stages[0].Replicas[0].Durations.BackwardWeight != 12 {
		t.Errorf("scale %d, durations %+v", pl.FactorScale, pl.Stages[0].Replicas[0].Durations)
	}
	if pl = pipeline(t, fmt.Sprintf(text, "1, 1.0"), cssr.Choices{}); pl.Factors != nil {
		t.Errorf("factors %v where all are 1", pl.Factors)
	}
}

func TestZeroNumbers(t *testing.T) {
	pl := pipeline(t, "devices: 1\nmicro_batches: 1\ncosts: {forward: 0, backward_input: 0, backward_weight: 0}", cssr.Choices{})
	if want := (model.Unit{Name: "tick", Multiplier: 1, Divisor: 1}); pl.TimeUnit != want {
		t.Errorf("unit %+v", pl.TimeUnit)
	}
}

func TestOverflow(t *testing.T) {
	const text = "devices: 2\nmicro_batches: 1\ncosts: {forward: %s, backward_input: 1, backward_weight: 1}\nmemory: {activation: %s, static: %s, limit: %s}"
	for _, c := range []struct {
		forward, activation, static, limit string
		words                              []string
	}{
		{"[1e-9, 1e20]", "0", "0", "none", []string{"test.yaml:4:25: costs.forward[1]: 100000000000000000000 ticks, ", " 0.000000001 ticks: ", "; round the durations to fewer digits"}},
		{"1e-30", "0", "0", "none", []string{"test.yaml:4:18: costs.forward: ", "in a smaller unit"}},
		{"1", "1", "0", "1e25", []string{"test.yaml:5:43: memory.limit: ", "round the sizes"}},
		{"1", "1e25", "0", "none", []string{"test.yaml:5:22: memory.activation: ", "in a larger unit"}},
		{"1", "[1, 1e-25]", "0", "none", []string{"test.yaml:5:26: memory.activation[1]: "}},
	} {
		err := refused(t, fmt.Sprintf(text, c.forward, c.activation, c.static, c.limit), cssr.Choices{}, c.words...)
		if scale := (*cssr.ScaleError)(nil); !errors.As(err, &scale) || !strings.Contains(err.Error(), scale.Error()) {
			t.Errorf("%v is no ScaleError", err)
		}
	}
	const rest = "\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"
	refused(t, "devices: [{}, {memory_limit: 1e-30}]"+rest, cssr.Choices{}, "test.yaml:2:30: devices[1].memory_limit: ")
	refused(t, "devices: 2\ncommunication: {latency: 1e-30}"+rest, cssr.Choices{}, "test.yaml:3:26: communication.latency: ")
	refused(t, "devices: 2\ncommunication: {links: [{from: 0, to: 1, latency: 1e-30}]}"+rest, cssr.Choices{}, "test.yaml:3:51: communication.links[0].latency: ")
	refused(t, "devices: 1\nmicro_batches: [1e-20]\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}", cssr.Choices{}, "test.yaml:3:17: micro_batches[0]: ")
}

// Sums are refused where the stage stands that is one too many, however many chunks
// it is divided into.
func TestOverflowOfSums(t *testing.T) {
	const text = "devices: 2\nmicro_batches: 2\ncosts: {forward: %s, backward_input: 1, backward_weight: 1}\nmemory: {activation: 1, static: [2000000000000000000, %d]}"
	refused(t, fmt.Sprintf(text, "1", 1<<60), cssr.Choices{}, "test.yaml:5:55: memory.static[1]: ", "up to stage 1", "2^61", "fewer digits")
	refused(t, fmt.Sprintf(text, "1", 1<<60), cssr.Choices{SplitStages: 2}, "memory.static[0]: ", "up to stage 0 ")
	err := refused(t, "devices: 2\nmicro_batches: 2\ncosts: {forward: [1, 2000000000000000000], backward_input: 1, backward_weight: 1}", cssr.Choices{}, "test.yaml:1:1: ", "durations add up")
	if placed := (*config.Error)(nil); !errors.As(err, &placed) || placed.Cause == nil {
		t.Errorf("%v has no place or no cause", err)
	}
}

// What a profile says is refused in its file.
func TestOverflowOfProfile(t *testing.T) {
	const stage = `{"durations": {"forward": {"median": %s}, "backward_input": {"median": 2}, "backward_weight": {"median": 2}}, "memory": {"activation": %s}}`
	const profile = `{"format": "flexpipe/profile", "version": 1, "unit": "us", "edges": [{"from": 0, "to": 1, "latency": %s}],` + "\n" + `"stages": [` + stage + ",\n" + stage + "]}"
	for _, c := range []struct {
		latency, forward, activation string
		place                        string
	}{
		{"1e-30", "1", "1", "p.json:1:69: edges: "},
		{"1", "1e-30", "1", "p.json:3:27: stages[1].durations.forward: "},
		{"1", "1", "1e-30", "p.json:3:135: stages[1].memory.activation: "},
	} {
		files := fstest.MapFS{
			"c.yaml": {Data: []byte("version: 1\ndevices: 2\nmicro_batches: 2\nprofile: p.json\n")},
			"p.json": {Data: fmt.Appendf(nil, profile, c.latency, "1", "1", c.forward, c.activation)},
		}
		cfg, err := config.Load(files, "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = cssr.Build(cfg, cssr.Choices{}); err == nil || !strings.HasPrefix(err.Error(), c.place) {
			t.Errorf("got %v, want an error at %s", err, c.place)
		}
	}
}

// Costs that are all so many times as long make the same whole numbers, and the
// unit leads back to the exact costs.
func TestScaleInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := rapid.IntRange(1, 4).Draw(t, "stages")
		digits := rapid.SliceOfN(rapid.IntRange(0, 99_999), 3*stages+1, 3*stages+1).Draw(t, "digits")
		factor := rapid.SampledFrom([]string{"1", "0.5, 1.25", "3, 1"}).Draw(t, "factors")
		build := func(power int) *model.Pipeline {
			cfg, err := config.Decode([]byte(costText(stages, digits, factor, power)), "test.yaml")
			if err != nil {
				t.Fatal(err)
			}
			pl, err := cssr.Pipeline(cfg, cssr.Choices{})
			if err != nil {
				t.Fatal(err)
			}
			return pl
		}
		base := build(0)
		for s, got := range forwards(base) {
			if base.TimeUnit.Rat(int64(got)).Cmp(big.NewRat(int64(digits[3*s]), 1)) != 0 {
				t.Fatalf("%d ticks of %+v are not %d", got, base.TimeUnit, digits[3*s])
			}
		}
		for _, power := range []int{-3, -1, 9} {
			scaled := build(power)
			scaled.TimeUnit = base.TimeUnit
			if !reflect.DeepEqual(base, scaled) {
				t.Fatalf("times 1e%d: %+v, want %+v", power, scaled, base)
			}
		}
	})
}

// costText writes a configuration whose costs are digits · 10^power: three for
// each stage, then the latency.
func costText(stages int, digits []int, factors string, power int) string {
	column := func(first int) string {
		var items []string
		for s := range stages {
			items = append(items, fmt.Sprintf("%de%d", digits[3*s+first], power))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprintf("version: 1\ndevices: 2\nmicro_batches: [%s]\ncommunication: {latency: %de%d}\n"+
		"costs: {forward: %s, backward_input: %s, backward_weight: %s}\n",
		factors, digits[3*stages], power, column(0), column(1), column(2))
}
