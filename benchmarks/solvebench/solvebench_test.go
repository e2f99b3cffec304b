package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

func instance(t *testing.T, name string) *suite.Instance {
	t.Helper()
	all, err := suite.Instances()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	t.Fatalf("the suite has no %s", name)
	return nil
}

func problem(t *testing.T, name string) *model.Problem {
	t.Helper()
	p, err := instance(t, name).Problem()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestExchange tests that a legal plan keeps every row of the exchange format, and
// that the format has what the problem has.
func TestExchange(t *testing.T) {
	for _, name := range []string{"lin-rnd-1f1b-P4-M8", "V-ten-half-P4-M8", "linc-ten-1f1b-P4-M8"} {
		p := problem(t, name)
		x, err := newExchange(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := portfolio.Solve(context.Background(), p, portfolio.Options{Seed: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Operations) != p.NumOps() || len(x.Memory) != p.NumDevices() {
			t.Errorf("%s: %d operations and %d limits", name, len(x.Operations), len(x.Memory))
		}
		start := r.Timeline.Start
		for _, pr := range x.Precedences {
			if start[pr[1]] < start[pr[0]]+p.Duration(model.OpID(pr[0]))+model.Time(pr[2]) {
				t.Errorf("%s: a legal plan breaks the precedence %v", name, pr)
			}
		}
		testMemory(t, p, x, start)
		if again := planOf(p, start); again.NumOps() != r.Plan.NumOps() {
			t.Errorf("%s: the plan of the starts has %d entries, want %d", name, again.NumOps(), r.Plan.NumOps())
		}
	}
}

func testMemory(t *testing.T, p *model.Problem, x *exchange, start []model.Time) {
	t.Helper()
	for _, l := range x.Memory {
		sum := int64(0)
		for _, at := range l.Deltas {
			sum += at[1] + at[2]
			held := at[1]
			for _, other := range l.Deltas {
				if other[0] != at[0] && start[other[0]] < start[at[0]] {
					held += other[1] + other[2]
				}
			}
			if held > int64(l.Limit) {
				t.Errorf("device %d: %s meets %d, the limit is %d", l.Device, p.Name(model.OpID(at[0])), held, l.Limit)
			}
		}
		if sum != 0 {
			t.Errorf("device %d keeps %d", l.Device, sum)
		}
	}
}

func testOptions(t *testing.T, engines ...string) *options {
	return &options{
		limit: 20 * time.Second, workers: 1, seed: 1, engines: engines, filter: regexp.MustCompile(""),
		output: filepath.Join(t.TempDir(), "results.json"),
	}
}

// TestResume tests that a second run measures only what is not there, that a fresh
// one measures again, and that the later cell counts.
func TestResume(t *testing.T) {
	o := testOptions(t, "portfolio")
	in := []suite.Instance{*instance(t, "lin-unit-1f1b-P4-M8")}
	for run, fresh := range []bool{false, false, true} {
		o.fresh = fresh
		if err := measureAll(context.Background(), o, in); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(o.output)
		if err != nil {
			t.Fatal(err)
		}
		if have, want := bytes.Count(text, []byte("\n")), []int{1, 1, 2}[run]; have != want {
			t.Errorf("run %d: %d lines, want %d", run, have, want)
		}
	}
	cells, err := readCells(o.output)
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 1 || cells[0].Status != "optimal" || cells[0].Value != 27 || cells[0].Bound != 27 {
		t.Errorf("cells %+v", cells)
	}
}

// TestTable tests that a table names contradictions, gaps and stale cells.
func TestTable(t *testing.T) {
	closed, open := instance(t, "lin-unit-1f1b-P4-M8"), instance(t, "V-ten-half-P8-M32")
	o := testOptions(t, "portfolio")
	add := func(engine string, in *suite.Instance, status string, bound, value model.Time, seconds float64) cell {
		return cell{key: keyOf(engine, in, o), Status: status, Bound: bound, Value: value, Seconds: seconds}
	}
	stale := add("cbc", closed, "optimal", 27, 27, 1)
	stale.Sum = "other"
	cells := []cell{
		add("portfolio", closed, "optimal", 27, 27, 1),
		add("cpsat", closed, "optimal", 27, 27, 4),
		add("z3", closed, "feasible", 28, 30, 5),
		add("portfolio", open, "feasible", 1000, 9999, 5),
		add("cbc", open, "error", 0, 0, 5),
		stale,
	}
	f, err := os.Create(o.output)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		if err := appendCell(f, &cells[i]); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	var out strings.Builder
	all, _ := suite.Instances()
	if err := printTable(&out, o.output, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"144 instances of the suite, 20 s and 1 worker a cell",
		"│ cpsat     │     1 │      1 │             1 │          1 │      4 │           1 │  4.00 │",
		"must be none: 3\n",
		"lin-unit-1f1b-P4-M8: bound 28 by z3 is above value 27 by best known",
		"Not proved by any engine here: 1\n  V-ten-half-P8-M32",
		"portfolio [1000, 9999]",
		"Faults and refusals: 1\n",
		"1 cell for instances that have changed since",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

// TestPeers runs every peer on small instances whose optimum is known, where their
// packages are installed.
func TestPeers(t *testing.T) {
	const python = "../../bin/peers/bin/python"
	if _, err := os.Stat(python); err != nil {
		t.Skip("peers: not installed (make peers)")
	}
	if testing.Short() {
		t.Skip("short: peers take seconds for each instance")
	}
	o := testOptions(t, "cpsat", "z3", "cbc")
	o.limit = 5 * time.Second
	o.python, o.peers = python, "../peers"
	var in []suite.Instance
	for _, name := range []string{"lin-unit-1f1b-P4-M8", "linc-rnd-1f1b-P4-M8"} {
		in = append(in, *instance(t, name))
	}
	if err := measureAll(context.Background(), o, in); err != nil {
		t.Fatal(err)
	}
	cells, err := readCells(o.output)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		best := instance(t, c.Instance).BestValue
		if c.Status == "error" || c.Bound > best || c.has() && c.Value < best || c.proved() && c.Value != best {
			t.Errorf("%s %s: %s [%d, %d] %s, the optimum is %d", c.Engine, c.Instance, c.Status, c.Bound, c.Value, c.Note, best)
		}
	}
}
