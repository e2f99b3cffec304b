package runtime_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// diary is a backend that writes down what it is asked for.
type diary struct{ lines []string }

func (d *diary) Name() string             { return "diary" }
func (d *diary) Devices() []pipert.Device { return fakes(1) }
func (d *diary) Begin(iteration int) error {
	d.lines = append(d.lines, fmt.Sprint(iteration))
	return nil
}
func (d *diary) Finish() (pipert.Step, error) { return pipert.Step{}, nil }
func (d *diary) Close() error                 { return nil }
func (d *diary) Layers() []pipert.LayerCosts  { return nil }
func (d *diary) ResetTimes()                  { d.lines = append(d.lines, "reset") }

// TestCompareForgetsWarmUp tests that costs measured in iterations to warm up do not count, and
// that there is nothing to forget without them.
func TestCompareForgetsWarmUp(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 1})
	program := lowered(t, p, oneForwardOneBackward(p))
	for warmup, want := range [][]string{{"5", "6"}, {"5", "reset", "6", "7"}, {"5", "6", "reset", "7", "8"}} {
		d := &diary{}
		c := pipert.Contestant{Name: "a", Engine: newEngine(t, program, d.Devices(), pipert.Options{}), Backend: d}
		run, err := pipert.Train(t.Context(), c, pipert.Settings{First: 5, Warmup: warmup, Iterations: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.lines, want) || len(run.Records) != 2 || len(run.Losses) != warmup+2 {
			t.Errorf("warm-up of %d: %v with %d records and %d losses, want %v", warmup, d.lines, len(run.Records), len(run.Losses), want)
		}
	}
}
