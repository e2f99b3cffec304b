package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/cssr/dsl"
	"github.com/flexpipe/flexpipe/model/config"
)

// The exit codes.
const (
	exitDone        = 0
	exitInput       = 1 // usage or input error
	exitInfeasible  = 2
	exitRule        = 3 // the plan breaks a rule
	exitUnavailable = 4 // no such backend or engine here
	exitLimit       = 5 // a limit was reached before the first plan
	exitFailure     = 6 // execution failed, or a fault of this program
	exitInterrupted = 130
)

// exitError ends the program with a code other than that of an input error.
type exitError struct {
	code int
	err  error // nil: what was printed says it all
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith ends the program with a code; the result is on standard output.
func exitWith(code int) error { return &exitError{code: code} }

// placedError is an error at a place of an input file.
type placedError struct {
	where string // file:line:column
	err   error
}

func (e *placedError) Error() string { return e.where + ": " + e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

// flagNamed finds the flag in what the flag package says.
var flagNamed = regexp.MustCompile(`(flag|for|argument:) -([a-z][a-z-]*)`)

// flagError words what the flag package says about a value.
func flagError(c *cli.Command, err error) error {
	name := ""
	text := flagNamed.ReplaceAllStringFunc(err.Error(), func(found string) string {
		var word string
		word, name, _ = strings.Cut(found, " -")
		return word + " " + dashes(name)
	})
	if value, _, invalid := strings.Cut(text, ": "); invalid && strings.HasPrefix(value, "invalid value") {
		text = value + "; write " + wanted(c, name)
	}
	return fmt.Errorf("%s: %s", c.Name, text)
}

// wanted says what a flag of a command takes.
func wanted(c *cli.Command, flag string) string {
	for _, f := range c.Flags {
		if !slices.Contains(f.Names(), flag) {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return "a duration such as 30s or 5m"
		case *cli.Float64Flag:
			return "a number such as 2.5"
		}
	}
	return "a whole number"
}

// report prints an error, and returns the exit code. With JSON, an error that no
// result has told yet is an object on standard output.
func (p *program) report(err error, asJSON bool) int {
	if err == nil {
		return exitDone
	}
	code := exitInput
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
		if exit.err == nil {
			return code
		}
	}
	if asJSON {
		writeJSON(p.out, errorJSON{"flexpipe/error", 1, code, err.Error(), where(err)})
	}
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, " ") { // else it belongs to the line above
			line = "flexpipe: " + line
		}
		fmt.Fprintln(p.err, strings.TrimRight(line, "\n"))
	}
	return code
}

type errorJSON struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Where   string `json:"where"` // file:line:column or file; empty where no file is at fault
}

// where returns the place of an input file that an error is about.
func where(err error) string {
	var inScript *dsl.Error
	var inConfig *config.Error
	var placed *placedError
	var path *fs.PathError
	switch {
	case errors.As(err, &inScript):
		return inScript.Where()
	case errors.As(err, &inConfig):
		if inConfig.Line == 0 {
			return inConfig.File
		}
		return fmt.Sprintf("%s:%d:%d", inConfig.File, inConfig.Line, inConfig.Column)
	case errors.As(err, &placed):
		return placed.where
	case errors.As(err, &path):
		return path.Path
	}
	return ""
}
