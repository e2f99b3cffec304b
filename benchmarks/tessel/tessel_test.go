// Package tessel tests the configurations of this folder.
package tessel

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// TestPlacements demands plans as good as those that are known, and with growing
// numbers of micro-batches that each one more costs no more than a device has to do
// for it: a steady state without bubbles.
func TestPlacements(t *testing.T) {
	for _, c := range []struct {
		file   string
		work   model.Time // of a device for a micro-batch
		value  model.Time // with 12 micro-batches
		steady bool       // found without bubbles
	}{
		{"vshape.yaml", 4, 60, true},
		{"xshape.yaml", 8, 102, true},
		{"mshape.yaml", 6, 84, true},
		{"nnshape.yaml", 8, 108, true},
		{"kshape.yaml", 6, 76, false},
	} {
		few, many := solveWith(t, c.file, 12), solveWith(t, c.file, 36)
		if few.Value > c.value {
			t.Errorf("%s: value %d, known is %d", c.file, few.Value, c.value)
		}
		grown := many.Value - few.Value
		if grown < 24*c.work && few.Status == solve.Optimal {
			t.Errorf("%s: 24 micro-batches add %d, less than the work of a device, %d", c.file, grown, 24*c.work)
		}
		if c.steady && grown > 24*c.work {
			t.Errorf("%s: 24 micro-batches add %d, want %d", c.file, grown, 24*c.work)
		}
		t.Logf("%-12s M=12: [%d, %d], M=36: [%d, %d]", c.file, few.Bound, few.Value, many.Bound, many.Value)
	}
}

// problem reads a placement and compiles it for a number of micro-batches and a memory
// limit of every device, that of the file if it is 0.
func problem(t *testing.T, file string, microBatches int, limit model.Bytes) *model.Problem {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Decode(text, file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := cssr.Build(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	if have := p.MicroBatches(); have != 12 {
		t.Fatalf("%s has %d micro-batches", file, have)
	}
	pl := *p.Pipeline
	pl.MicroBatches = microBatches
	if limit > 0 {
		pl.Devices = slices.Clone(pl.Devices)
		for d := range pl.Devices {
			pl.Devices[d].Limit = limit
		}
	}
	if p, err = model.Compile(&pl); err != nil {
		t.Fatal(err)
	}
	return p
}

func solveWith(t *testing.T, file string, microBatches int) *solve.Result {
	t.Helper()
	p := problem(t, file, microBatches, 0)
	r, err := portfolio.Solve(context.Background(), p, portfolio.Options{Seed: 1, Workers: 2, Mode: portfolio.Heuristic})
	if err != nil {
		t.Fatal(err)
	}
	if r.Plan == nil {
		t.Fatalf("%s: no plan: %s", file, r.Reason)
	}
	return r
}
