package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of "go test -json" (see "go doc test2json").
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64
	Output  string
}

// testID names one test of one package.
type testID struct{ pkg, test string }

// report prints events as they come and counts the outcomes.
type report struct {
	w        io.Writer
	verbose  bool
	required []string

	output  map[testID][]string // lines of tests that have not ended
	order   []testID            // their order of first appearance
	passed  int
	failed  int
	skipped int
	broken  int // packages that failed, build failures included
	missing []string
}

// newReport returns a report that writes to w. Empty names in required are ignored.
func newReport(w io.Writer, verbose bool, required []string) *report {
	r := &report{w: w, verbose: verbose, output: make(map[testID][]string)}
	for _, name := range required {
		if name = strings.TrimSpace(name); name != "" {
			r.required = append(r.required, name)
		}
	}
	return r
}

// read consumes events until the end of in. A line that is no event is printed as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				r.add(e)
			} else {
				fmt.Fprint(r.w, line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading go test's output: %w", err)
		}
	}
}

func (r *report) add(e event) {
	if e.Test == "" {
		r.addPackage(e)
		return
	}
	id := testID{e.Package, e.Test}
	switch e.Action {
	case "output":
		if strings.HasPrefix(e.Output, "=== ") {
			return
		}
		if _, seen := r.output[id]; !seen {
			r.order = append(r.order, id)
		}
		r.output[id] = append(r.output[id], e.Output)
	case "pass":
		r.passed++
		if r.verbose {
			fmt.Fprintf(r.w, "--- PASS: %s (%.2fs)\n", e.Test, e.Elapsed)
		}
		r.forget(id)
	case "skip":
		r.skipped++
		reason := skipReason(r.output[id])
		fmt.Fprintf(r.w, "--- SKIP: %s %s: %s\n", e.Package, e.Test, reason)
		name, _, _ := strings.Cut(reason, ":")
		if slices.Contains(r.required, name) {
			r.missing = append(r.missing, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason))
		}
		r.forget(id)
	case "fail":
		r.failed++
		r.print(id)
	}
}

func (r *report) addPackage(e event) {
	switch e.Action {
	case "output", "build-output":
		if e.Output != "PASS\n" {
			fmt.Fprint(r.w, e.Output)
		}
	case "fail":
		r.broken++
		// A panic or a time-out ends the package before its tests report an outcome.
		for _, id := range slices.Clone(r.order) {
			if id.pkg == e.Package {
				r.print(id)
			}
		}
	}
}

// print writes what a test said and forgets it.
func (r *report) print(id testID) {
	for _, line := range r.output[id] {
		fmt.Fprint(r.w, line)
	}
	r.forget(id)
}

func (r *report) forget(id testID) {
	delete(r.output, id)
	r.order = slices.DeleteFunc(r.order, func(other testID) bool { return other == id })
}

// finish prints the totals and reports whether all is well.
func (r *report) finish() bool {
	for _, m := range r.missing {
		fmt.Fprintf(r.w, "FAIL required test was skipped: %s\n", m)
	}
	fmt.Fprintf(r.w, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if r.passed+r.failed+r.skipped == 0 {
		fmt.Fprintln(r.w, "FAIL no test ran")
		return false
	}
	return r.failed == 0 && r.broken == 0 && len(r.missing) == 0
}

// skipReason returns the message that a skipped test logged last, without its "file.go:12: ".
func skipReason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- ") {
			continue
		}
		if position, message, found := strings.Cut(line, ": "); found && strings.Contains(position, ".go:") {
			return message
		}
		return line
	}
	return "no reason given"
}
