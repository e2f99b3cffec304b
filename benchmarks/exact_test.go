package benchmarks

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/proof"
)

// searched are instances of the suite on which bound and heuristics do not meet and
// that a search closes soon.
var searched = []string{
	"V-unit-half-P4-M8", "V-unit-half-P4-M16", "V-unit-half-P4-M32", "V-unit-half-P8-M8", "V-unit-half-P8-M16",
	"V-ten-half-P4-M8", "V-ten-half-P8-M8",
	"V-last-half-P4-M8", "V-last-half-P8-M8", "V-last-half-P8-M16",
	"V-rnd-half-P4-M8", "V-rnd-half-P8-M8",
	"V-ten-1f1b-P4-M8", "V-ten-1f1b-P4-M16", "V-ten-1f1b-P4-M32",
	"V-last-1f1b-P4-M8", "V-last-1f1b-P4-M16", "V-last-1f1b-P4-M32", "V-last-1f1b-P8-M16",
	"V-rnd-1f1b-P4-M8",
	"int2-ten-1f1b-P4-M8", "int2-rnd-1f1b-P8-M8",
}

// exactTime is far more than any of them takes: it keeps a slow machine from failing.
const exactTime = time.Minute

// TestExact proves optima that take a search. Every step of it is verified, once as
// the search tells it and once again from the file that was written meanwhile.
func TestExact(t *testing.T) {
	names := searched
	if testing.Short() {
		names = []string{"V-last-1f1b-P4-M8"}
	}
	instances := byName(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			in := instances[name]
			if in == nil {
				t.Fatal("there is no such instance")
			}
			p, err := in.Problem()
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			r, file := solveToFile(t, p)
			took := time.Since(begin)
			if r.Status != solve.Optimal || r.Proof != solve.CheckedProof || r.Value > in.BestValue || r.Value < in.BestBound {
				t.Fatalf("status %v, proof %q, [%d, %d]; best known are [%d, %d]", r.Status, r.Proof, r.Bound, r.Value, in.BestBound, in.BestValue)
			}
			proved := verifyFile(t, p, file)
			if proved.Bound != r.Value {
				t.Errorf("the file proves the bound %d, the optimum is %d", proved.Bound, r.Value)
			}
			t.Logf("optimum %d: %.2f s, %d conflicts, %d nogoods, file of %d kB",
				r.Value, took.Seconds(), r.Stats.Conflicts, proved.Nogoods, len(file)>>10)
		})
	}
}

func byName(t *testing.T) map[string]*suite.Instance {
	t.Helper()
	instances, err := suite.Instances()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*suite.Instance{}
	for i := range instances {
		m[instances[i].Name] = &instances[i]
	}
	return m
}

// solveToFile solves a problem with one worker and returns the file of its proof, too.
func solveToFile(t *testing.T, p *model.Problem) (*solve.Result, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), exactTime)
	defer cancel()
	var file bytes.Buffer
	w := proof.NewWriter(&file, p)
	r, err := portfolio.Solve(ctx, p, portfolio.Options{Seed: 1, Workers: 1, Mode: portfolio.Exact, NewTrace: func() solve.Trace {
		w.NewSearch()
		return w
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return r, file.Bytes()
}

func verifyFile(t *testing.T, p *model.Problem, file []byte) proof.Result {
	t.Helper()
	proved, err := proof.Verify(t.Context(), p, bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return proved
}
