package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/flexpipe/flexpipe/heuristics"
)

// runIn runs a command line on an input, and returns what it prints.
func runIn(in string, args ...string) (code int, out, messages string) {
	var stdout, stderr bytes.Buffer
	p := &program{in: strings.NewReader(in), out: &stdout, err: &stderr, env: func(string) string { return "" }, exit: os.Exit}
	code = p.run(args)
	return code, stdout.String(), stderr.String()
}

type faultyReader struct{}

func (faultyReader) Read([]byte) (int, error) { panic("out of order") }

// TestPanic demands a code of its own for a fault of the program, which must not
// pass for an infeasible problem.
func TestPanic(t *testing.T) {
	var out, messages bytes.Buffer
	p := &program{in: faultyReader{}, out: &out, err: &messages, env: func(string) string { return "" }}
	if code := p.run([]string{"check", "-", "--json"}); code != exitFailure {
		t.Errorf("exit code %d, want %d", code, exitFailure)
	}
	if !strings.HasPrefix(messages.String(), "flexpipe: internal error: out of order\n") || !strings.Contains(messages.String(), "faultyReader") {
		t.Errorf("the message is no stack: %s", messages.String())
	}
	var e errorJSON
	if err := json.Unmarshal(out.Bytes(), &e); err != nil || e.Code != exitFailure {
		t.Errorf("standard output is %s, %v", out.String(), err)
	}
}

// TestWidth demands that text for people fits a terminal of 100 columns: help, the
// list of schedules, and everything about every example.
func TestWidth(t *testing.T) {
	lines := [][]string{{"--help"}, {"schedules"}}
	for _, c := range (&program{}).app().Commands {
		lines = append(lines, []string{c.Name, "--help"})
	}
	for _, line := range lines {
		if code, out, messages := runIn("", line...); code == exitDone {
			checkWidth(t, strings.Join(line, " "), out)
		} else {
			t.Errorf("%q: exit code %d, %s", line, code, messages)
		}
	}
	if testing.Short() {
		return // the examples take a minute with the race detector
	}
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples: ", err)
	}
	for _, name := range examples {
		checkExampleWidth(t, name)
	}
}

func checkExampleWidth(t *testing.T, name string) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	_, out, _ := runIn("", "validate", name)
	checkWidth(t, "validate "+name, out)
	lines := [][]string{{"solve", name, "--time-limit", "1s", "-o", plan}}
	for _, s := range heuristics.Schedules() {
		lines = append(lines, []string{"solve", name, "--schedule", s.Name, "-o", plan})
		lines = append(lines, []string{"solve", name, "--schedule", s.Name, "--split-stages", "2", "-o", plan})
	}
	for _, line := range lines {
		code, out, _ := runIn("", line...)
		if code != exitDone {
			continue // a schedule for another shape
		}
		checkWidth(t, strings.Join(line, " "), out)
		for _, show := range [][]string{{"check", plan}, {"show", plan}} {
			_, out, _ := runIn("", show...)
			checkWidth(t, show[0]+" after "+strings.Join(line, " "), out)
		}
		_, out, _ = runIn("", "show", plan, "--width", "72")
		for line := range strings.Lines(out) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSpace(line)); n > 72 && !strings.Contains(line, "|") {
				t.Errorf("show --width 72 has a line of %d columns: %s", n, line)
			}
		}
	}
}

func checkWidth(t *testing.T, what, out string) {
	t.Helper()
	if out == "" {
		t.Errorf("%s prints nothing", what)
	}
	for line := range strings.Lines(out) {
		if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n")); n > lineWidth {
			t.Errorf("%s has a line of %d columns: %s", what, n, line)
		}
	}
}

// TestTinyTimes demands that no time rounds to nothing.
func TestTinyTimes(t *testing.T) {
	const config = `{"version": 1, "devices": 2, "micro_batches": 2, "unit": "s",
		"costs": {"forward": 0.00001, "backward_input": 0.00001, "backward_weight": 0.00001}}`
	code, out, messages := runIn(config, "solve", "-")
	if code != exitDone {
		t.Fatal(messages)
	}
	for _, want := range []string{"makespan    0.00007 s (the objective)", "ideal 0.00006 s", "0.00006  "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
