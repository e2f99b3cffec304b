package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	transcript = regexp.MustCompile("(?s)```console\n\\$ flexpipe ([^\n]*)\n(.*?)```")
	readmeFile = regexp.MustCompile("(?s)```yaml ([a-z-]+\\.yaml)\n(.*?)```")
)

// TestReadme runs the commands of README.md one after the other and compares what
// they print, beside files that README.md shows under their names. With -update it puts the new
// output in.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the scripts run the same commands")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(filepath.Join(root, "examples"), "examples"); err != nil {
		t.Skip("links:", err)
	}
	for _, file := range readmeFile.FindAllSubmatch(text, -1) {
		if err := os.WriteFile(string(file[1]), file[2], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	blocks := transcript.FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("no transcripts")
	}
	for _, b := range blocks {
		got, want := runReadme(t, string(b[1])), string(b[2])
		comparable := withoutTimes
		if measures.Match(b[1]) {
			comparable = withoutFigures
		}
		if comparable(got) == comparable(want) {
			continue
		}
		if !*update {
			t.Errorf("flexpipe %s prints\n%s\nREADME.md has\n%s", b[1], got, want)
		}
		text = bytes.Replace(text, b[0], []byte("```console\n$ flexpipe "+string(b[1])+"\n"+got+"```"), 1)
	}
	if *update {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlanFileExample judges the plan file that docs/plan-file.md shows.
func TestPlanFileExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/plan-file.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	plan, _, _ := strings.Cut(rest, "```")
	if code, out, messages := runIn(plan, "check", "-q", "-"); code != exitDone {
		t.Errorf("exit code %d: %s%s", code, out, messages)
	}
}

func runReadme(t *testing.T, args string) string {
	t.Helper()
	code, out, messages := runIn("", strings.Fields(args)...)
	if code != exitDone || messages != "" {
		t.Fatalf("flexpipe %s: exit code %d, %s", args, code, messages)
	}
	return out
}

// withoutTimes replaces what differs from run to run: times, and how much work a
// search was.
func withoutTimes(text string) string {
	text = measured.ReplaceAllString(text, "found in    TIME")
	text = searched.ReplaceAllString(text, "search      WORK")
	return verified.ReplaceAllString(text, "WORK verified")
}

// measures matches commands whose figures, and with them pictures, depend on the machine.
var measures = regexp.MustCompile(`^(run|bench|profile) |measured\.yaml`)

var (
	picture  = regexp.MustCompile(`(?ms)^[a-z-]+: (predicted [^\n]*, )?measured .*`)
	machine  = regexp.MustCompile(`(?m)^machine .*\n( +.*\n)*`)
	relation = regexp.MustCompile(`, ([0-9.]+% (less|more) than measured|as measured)`)
	amount   = regexp.MustCompile(`[+-]?[0-9][0-9.]*[GMk]?( ?(ns|µs|us|ms|s|B|KiB|MiB)\b|%)?`)
	units    = regexp.MustCompile(`\b(us|ms|s)\b`)
	status   = regexp.MustCompile(`, (optimal|feasible).*`)
)

// withoutFigures leaves the words of what a command prints that has measured something, each once:
// how wide figures are decides which columns of a table stand side by side.
func withoutFigures(text string) string {
	for _, cut := range []struct {
		pattern *regexp.Regexp
		by      string
	}{{picture, ""}, {machine, ""}, {relation, ""}, {status, ""}, {amount, "N"}, {units, "UNIT"}} {
		text = cut.pattern.ReplaceAllString(text, cut.by)
	}
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// TestWithoutFigures demands that words are compared, and figures are not.
func TestWithoutFigures(t *testing.T) {
	const one = "x: 2 devices\nmeasured  9.9ms (p10 1ms, p90 1.02s)\npredicted 9ms, 3.1% less than measured, by costs\n" +
		"machine   7% of the operations: a noisy\n          machine\n\nstage  busy ms\n0      0.017\n\nx: predicted 1 ms, measured 2 ms\n|F0|\nletters\n"
	const other = "x: 2 devices\nmeasured  123µs (p10 1.1ms, p90 2ms)\npredicted 1.2ms, as measured, by costs\n" +
		"machine   0.0% of the operations\n\nstage  busy us\n0      17.0\n\nx: predicted 1 us, measured 2 us\n|I0|\nother letters\n"
	if a, b := withoutFigures(one), withoutFigures(other); a != b {
		t.Errorf("differ:\n%s\n%s", a, b)
	}
	if a, b := withoutFigures(one), withoutFigures(strings.Replace(one, "by costs", "by guesses", 1)); a == b {
		t.Errorf("other words are the same:\n%s", a)
	}
}
