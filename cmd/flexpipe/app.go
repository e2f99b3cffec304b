package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// program is what the commands share: the world around them.
type program struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	exit     func(int) // ends the process at once

	input string // the file that the command reads, once it has
}

// run executes the command line without the name of the program, and returns the
// exit code.
func (p *program) run(args []string) (code int) {
	app := p.app()
	arranged, err := arrange(app, args)
	asJSON := wantsJSON(arranged)
	if err != nil {
		return p.report(err, wantsJSON(args))
	}
	defer func() {
		if fault := recover(); fault != nil {
			code = p.report(&exitError{exitFailure, fmt.Errorf("internal error: %v", fault)}, asJSON)
			fmt.Fprintf(p.err, "%s\nThis is a fault of flexpipe, not of its input.\n", debug.Stack())
		}
	}()
	return p.report(app.RunContext(context.Background(), append([]string{app.Name}, arranged...)), asJSON)
}

// app returns the table of commands.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:            "flexpipe",
		HelpName:        "flexpipe",
		Usage:           "plan pipeline-parallel training",
		UsageText:       "flexpipe COMMAND [flags] [argument]",
		Version:         version(),
		HideHelpCommand: true, // arrange turns "help X" into "X --help"
		Reader:          p.in,
		// A comma may be a part of a value.
		DisableSliceFlagSeparator: true,
		Writer:                    p.out,
		ErrWriter:                 p.err,
		ExitErrHandler:            func(*cli.Context, error) {}, // report does it
		Commands: []*cli.Command{
			p.solveCommand(),
			p.tuneCommand(),
			p.buildCommand(),
			p.checkCommand(),
			p.showCommand(),
			p.runCommand(),
			p.benchCommand(),
			p.profileCommand(),
			p.schedulesCommand(),
			p.validateCommand(),
			p.initCommand(),
			p.completionCommand(),
		},
	}
	for _, c := range app.Commands {
		c.HideHelpCommand = true
		c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return flagError(c, err) }
	}
	return app
}

// version returns the version of the module that the program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
