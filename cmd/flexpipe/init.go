package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model/config"
)

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a commented example configuration",
		ArgsUsage: "[FILE]",
		Flags:     commonFlags("write the example to this `FILE`", writes),
		Action:    p.init,
	}
}

// init writes the example to standard output, or to a file that does not exist.
func (p *program) init(c *cli.Context) error {
	if err := atMost(c, 1); err != nil {
		return err
	}
	name := c.String("output")
	if c.Args().Present() {
		if name != "" {
			return errors.New("init: the file is named twice; leave out -o")
		}
		name = c.Args().First()
	}
	example := func(w io.Writer) error {
		_, err := w.Write(config.Example())
		return err
	}
	if name == "" || name == standard {
		return example(p.out)
	}
	if err := p.writeNew(name, example); err != nil {
		return err
	}
	if !c.Bool("quiet") {
		fmt.Fprintf(p.err, "flexpipe: wrote %s; edit it, then run flexpipe solve %s\n", name, name)
	}
	return nil
}
