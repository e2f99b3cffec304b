package main

import (
	"context"
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
}

// run executes the command line without the name of the program, and returns the
// exit code.
func (p *program) run(args []string) int {
	app := p.app()
	arranged, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(context.Background(), append([]string{app.Name}, arranged...))
	}
	return p.report(err, wantsJSON(args))
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
		Writer:          p.out,
		ErrWriter:       p.err,
		ExitErrHandler:  func(*cli.Context, error) {}, // report does it
		Commands: []*cli.Command{
			p.solveCommand(),
			p.checkCommand(),
			p.showCommand(),
			p.schedulesCommand(),
			p.validateCommand(),
			p.initCommand(),
			p.completionCommand(),
		},
	}
	for _, c := range app.Commands {
		c.HideHelpCommand = true
		c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return flagError(c.Name, err) }
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
