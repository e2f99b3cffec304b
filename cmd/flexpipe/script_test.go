package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flexpipe": main})
}

// TestScripts runs the transcripts of every command. Beside the commands of
// testscript they use
//
//	exits CODE command args...      run a command, which must end with that code
//	interrupted RE command args...  interrupt a command so late that its output matches
//	json FILE path value            compare a value of a JSON file (or stdout) as it is written
//	alike FILE path FILE path       compare two values of JSON files as they are written
//	keys FILE path key...           compare the keys of an object in a JSON file, in any order
//	untimed FILE NEW                copy a file (or stdout) without measured times and the work of searches
//
// and beside its conditions [parallel]: two actors do not share a core, so that times are compared.
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
		Condition: func(condition string) (bool, error) {
			if condition != "parallel" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return cores() > 1, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "interrupted": interrupted, "json": jsonValue, "alike": alike, "keys": keys, "untimed": untimed,
		},
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

// How long interrupted lets a command run, in its first and in its last attempt.
const (
	firstPatience = 250 * time.Millisecond
	lastPatience  = 2 * time.Minute
)

// interrupted runs a command again and again, each time for twice as long before it
// interrupts it, until what it prints in answer matches: how long the command takes to
// get there depends on the machine and on what else runs there.
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupted RE command args...")
	}
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	for patience := firstPatience; patience <= lastPatience; patience *= 2 {
		out, messages, ended := interruptAfter(ts, patience, args[1:])
		if ended != nil {
			ts.Fatalf("%v ended before it was interrupted: %v\n%s%s", args[1:], ended, out, messages)
		}
		if want.Match(out) {
			ts.Stdout().Write(out)
			ts.Stderr().Write(messages)
			return
		}
	}
	ts.Fatalf("%v prints nothing that matches %q", args[1:], args[0])
}

// interruptAfter interrupts a command and returns what it prints; ended is how it ended
// if it did so before. A command that ends with an error prints nothing.
func interruptAfter(ts *testscript.TestScript, patience time.Duration, args []string) (out, messages []byte, ended *os.ProcessState) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &stdout, &stderr
	signalled := false
	cmd.Cancel = func() error {
		signalled = true
		return cmd.Process.Signal(os.Interrupt)
	}
	cmd.WaitDelay = time.Minute // then it is killed
	ts.Check(cmd.Start())
	cmd.Wait() // its error tells that the command was interrupted
	switch {
	case !signalled:
		return stdout.Bytes(), stderr.Bytes(), cmd.ProcessState
	case !cmd.ProcessState.Success():
		return nil, nil, nil
	}
	return stdout.Bytes(), stderr.Bytes(), nil
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
