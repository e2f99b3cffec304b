package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flexpipe": main})
}

// TestScripts runs the transcripts of every command. Beside the commands of
// testscript they use
//
//	exits CODE command args...   run a command, which must end with that code
//	json FILE path value         compare a value of a JSON file (or stdout) as it is written
//	untimed FILE NEW             copy a file (or stdout) without measured times and the work of searches
//
// The flag -update rewrites the files that cmp compares with.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "json": jsonValue, "untimed": untimed},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: json FILE path value")
	}
	value := json.RawMessage(ts.ReadFile(args[0]))
	for key := range strings.SplitSeq(args[1], ".") {
		value = member(ts, value, key)
	}
	var compact bytes.Buffer
	ts.Check(json.Compact(&compact, value))
	if got := compact.String(); got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

var (
	measured = regexp.MustCompile(`found in  +[0-9.]+(ns|µs|ms|s|m[0-9.]+s)`)
	searched = regexp.MustCompile(`search      [0-9]+ conflicts?.*`)
	verified = regexp.MustCompile(`[0-9]+ nogoods?, [0-9]+ steps? verified`)
)

func untimed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: untimed FILE NEW")
	}
	text := withoutTimes(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// member returns the member of an object, or the element of an array.
func member(ts *testscript.TestScript, value json.RawMessage, key string) json.RawMessage {
	if i, err := strconv.Atoi(key); err == nil {
		var list []json.RawMessage
		ts.Check(json.Unmarshal(value, &list))
		if i >= len(list) {
			ts.Fatalf("no element %d of %d", i, len(list))
		}
		return list[i]
	}
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal(value, &object))
	inner, ok := object[key]
	if !ok {
		ts.Fatalf("no member %q in %s", key, value)
	}
	return inner
}
