package main

import (
	"strings"
	"testing"
)

func TestArrange(t *testing.T) {
	app := (&program{}).app()
	for _, c := range []struct{ in, want string }{
		{"", "--help"},
		{"--json -q", "--help"},
		{"--help", "--help"},
		{"help", "--help"},
		{"help solve", "solve --help"},
		{"solve x --seed 3 -h", "solve --help"},
		{"solve --version x", "--version"},
		{"solve x", "solve -- x"},
		{"solve x --json", "solve --json -- x"},
		{"solve --json x", "solve --json -- x"},
		{"--json --seed 7 solve x", "solve --json --seed=7 -- x"},
		{"solve x -o -", "solve -o=- -- x"},
		{"solve -o plan - -q", "solve -o=plan -q -- -"},
		{"solve --seed=3 x --workers 2 y", "solve --seed=3 --workers=2 -- x y"},
		{"solve -json x", "solve -json -- x"},
		{"solve --json=false x", "solve --json=false -- x"},
		{"solve -- --json", "solve -- --json"},
		{"-- solve x", "solve -- x"},
		{"solve --seed -3 x", "solve --seed=-3 -- x"},
	} {
		got, err := arrange(app, strings.Fields(c.in))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("arrange(%q) = %q, %v; want %q", c.in, strings.Join(got, " "), err, c.want)
		}
	}
}

func TestArrangeRefuses(t *testing.T) {
	app := (&program{}).app()
	for _, c := range []struct{ in, want string }{
		{"slove x", `unknown command "slove", did you mean solve?`},
		{"frobnicate", `unknown command "frobnicate"; the commands are solve, tune, build, check`},
		{"solve x --jsno", "solve has no flag --jsno, did you mean --json?"},
		{"solve x --frobnicate", "solve has no flag --frobnicate; flexpipe solve --help"},
		{"check x --gantt", "check has no flag --gantt;"},
		{"solve x --seed", "flag --seed needs a value"},
		{"--jsn", "unknown flag --jsn before a command"},
	} {
		_, err := arrange(app, strings.Fields(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("arrange(%q): error %v, want %q in it", c.in, err, c.want)
		}
	}
}

func TestWantsJSON(t *testing.T) {
	for in, want := range map[string]bool{
		"solve x": false, "solve x --json": true, "-json": true, "--json=true solve": true, "--json=false": false,
		"solve -- --json": false, "solve json": false, "solve --json=maybe": false,
	} {
		if got := wantsJSON(strings.Fields(in)); got != want {
			t.Errorf("wantsJSON(%q) = %t", in, got)
		}
	}
}

// TestCommonFlags makes sure that every command takes the flags of all.
func TestCommonFlags(t *testing.T) {
	app := (&program{}).app()
	for _, c := range app.Commands {
		line := []string{"--json", "-q", "--no-color", "--seed", "3", "--workers=2", "--time-limit", "1s", c.Name, "-o", "out"}
		if _, err := arrange(app, line); err != nil {
			t.Error(err)
		}
	}
}

// TestFlagsAgree makes sure that the order of command and flags does not matter:
// a flag takes a value in all commands or in none.
func TestFlagsAgree(t *testing.T) {
	app := (&program{}).app()
	takes := map[string]bool{}
	for _, c := range app.Commands {
		own := &flagTable{takesValue: map[string]bool{}, commands: map[string][]string{}}
		own.add(c.Name, c.Flags...)
		for name, value := range own.takesValue {
			if before, seen := takes[name]; seen && before != value {
				t.Errorf("%s: flag %s takes a value in some commands only", c.Name, name)
			}
			takes[name] = value
		}
	}
}
