package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var transcript = regexp.MustCompile("(?s)```console\n\\$ flexpipe ([^\n]*)\n(.*?)```")

// TestReadme runs the commands of README.md one after the other and compares what
// they print. With -update it puts the new output in.
func TestReadme(t *testing.T) {
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
	blocks := transcript.FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("no transcripts")
	}
	for _, b := range blocks {
		got, want := runReadme(t, string(b[1])), string(b[2])
		if withoutTimes(got) == withoutTimes(want) {
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
