package dsl

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the tests expect")

// TestErrors runs wrong scripts, each of which must be refused in the words of the file
// beside it, place included.
func TestErrors(t *testing.T) {
	dir := filepath.Join("testdata", "errors")
	names, err := filepath.Glob(filepath.Join(dir, "*.star"))
	if err != nil || len(names) < 20 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(context.Background(), filepath.Base(name), source, Options{
			FS: os.DirFS(dir), Steps: 100_000, Schedules: []string{"1f1b", "zb-h1", "zb-h2"}, Set: settings(name),
		})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		compare(t, strings.TrimSuffix(name, ".star")+".txt", err.Error()+"\n")
	}
}

// settings returns what the command line would set.
func settings(name string) []Setting {
	if strings.HasSuffix(name, "setting.star") {
		return []Setting{{"mirco", "4"}}
	}
	return nil
}

// compare compares a text with a file, or writes the file with -update.
func compare(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", name, got, want)
	}
}
