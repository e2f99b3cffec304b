package main

import (
	"os"

	"github.com/urfave/cli/v2"
)

// isTerminal reports whether someone may be looking at w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// color reports whether the text of a command may be coloured, which goes to
// standard output or not.
func (p *program) color(c *cli.Context, toStandard bool) bool {
	return toStandard && !c.Bool("no-color") && p.env("NO_COLOR") == "" && p.env("TERM") != "dumb" && isTerminal(p.out)
}

// The colours of verdicts.
const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
)

func paint(on bool, color, text string) string {
	if !on {
		return text
	}
	return color + text + "\x1b[0m"
}
