package sat_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/irifrance/gini"
	"github.com/irifrance/gini/dimacs"
	"github.com/irifrance/gini/z"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/sat"
)

// reader hands a formula to a solver, and counts.
type reader struct {
	*gini.Gini
	clauses int
	most    z.Var
}

func (r *reader) Init(int, int) {}

func (r *reader) Add(m z.Lit) {
	if m == z.LitNull {
		r.clauses++
	}
	r.most = max(r.most, m.Var())
	r.Gini.Add(m)
}

func (r *reader) Eof() {}

// satisfiable writes a formula, reads it back and solves it.
func satisfiable(t *testing.T, p *model.Problem, value model.Time) bool {
	t.Helper()
	var text bytes.Buffer
	if err := sat.WriteDIMACS(&text, p, value); err != nil {
		t.Fatal(err)
	}
	var variables, clauses int
	header := text.String()[strings.Index(text.String(), "\np cnf")+1:]
	if _, err := fmt.Sscanf(header, "p cnf %d %d", &variables, &clauses); err != nil {
		t.Fatalf("no header: %v", err)
	}
	r := &reader{Gini: gini.New()}
	if err := dimacs.ReadCnf(&text, r); err != nil {
		t.Fatal(err)
	}
	if r.clauses != clauses || int(r.most) > variables {
		t.Errorf("the header says %d variables, %d clauses; there are %d, %d", variables, clauses, r.most, r.clauses)
	}
	return r.Solve() == 1
}

// TestDIMACS solves written formulas at and below the optimum.
func TestDIMACS(t *testing.T) {
	for _, x := range named[:2] {
		if !satisfiable(t, x.problem, x.best) {
			t.Errorf("%s: no schedule of %d", x.name, x.best)
		}
		if satisfiable(t, x.problem, x.best-1) {
			t.Errorf("%s: a schedule of %d", x.name, x.best-1)
		}
	}
}

// TestDIMACSRandom compares written formulas with the engine, for problems that
// use all that a pipeline can say.
func TestDIMACSRandom(t *testing.T) {
	for seed := range uint64(60) {
		pl := modelgen.RandomPipeline(seed, 2)
		pl.Objective = model.Objective(seed % 2)
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		if sat.New().Refuses(p) != nil {
			continue // operations that depend on a choice
		}
		r := solveNamed(t, p)
		if r.Plan != nil && !satisfiable(t, p, r.Value) {
			t.Errorf("seed %d: no schedule of %d, which a plan has", seed, r.Value)
		}
		if r.Plan != nil && satisfiable(t, p, r.Bound-1) {
			t.Errorf("seed %d: a schedule of %d, below the bound", seed, r.Bound-1)
		}
	}
}

// TestDIMACSText tests what a formula says about itself, and that it is the same
// every time.
func TestDIMACSText(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, F: []model.Time{2}, I: []model.Time{4}, W: []model.Time{2},
		Activation: []model.Bytes{1}, Limit: []model.Bytes{2}})
	var texts [2]bytes.Buffer
	for i := range texts {
		if err := sat.WriteDIMACS(&texts[i], p, 22); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Error("two texts differ")
	}
	for _, line := range []string{
		"c FlexPipe: is there a schedule with a makespan of at most 22 ticks?",
		"c Unsatisfiable: no, every plan has a larger makespan. Satisfiable: yes.",
		"c Times below are in units of 2 ticks. Variables:",
		"c 1: true",
		"c 2: 0F0 has started by 0",
		"c 3 to 5: 0F1 has started by 1 ... 3",
		"c 25 to 29: one of 0F0 ... 0F1 runs in unit 0 ... 4",
		"c 59: 1W0 stands before 1F1",
	} {
		if !strings.Contains("\n"+texts[0].String(), "\n"+line+"\n") {
			t.Errorf("no line %q in:\n%s", line, strings.SplitAfter(texts[0].String(), "p cnf")[0])
		}
	}
	var feature *solve.FeatureError
	if err := sat.WriteDIMACS(io.Discard, modelgen.Unit(4, 400), 1); !errors.As(err, &feature) {
		t.Errorf("error %v for a problem that is refused", err)
	}
	if err := sat.WriteDIMACS(failing{}, p, 22); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v for a writer that fails", err)
	}
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
