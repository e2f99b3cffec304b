package portfolio

import (
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// TestMerge demands that a bound that an engine raised names that engine, also where
// the best plan is still the one it was given.
func TestMerge(t *testing.T) {
	p := modelgen.Unit(2, 2)
	r := solve.NewResult(p)
	found := &solve.Result{Status: solve.Feasible, Engine: "incumbent", Bound: r.Bound + 1, Proof: solve.CheckedProof}
	if err := merge(p, r, found, "lcg"); err != nil {
		t.Fatal(err)
	}
	if r.Bound != found.Bound || r.Proof != solve.CheckedProof || !strings.Contains(r.BoundReason, "by lcg") {
		t.Errorf("bound %d, proof %q, reason %q", r.Bound, r.Proof, r.BoundReason)
	}
}
