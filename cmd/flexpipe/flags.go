package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// nature is what a command is about.
type nature uint8

const (
	searches nature = iota // it searches, and prints a result
	reports                // it prints a result
	runs                   // it executes plans, and prints a report; the seed decides data and parameters
	compares               // it searches and executes; the seed decides all of it
	writes                 // it writes text or a picture, which has no JSON form
)

// commonFlags are the flags that every command takes. Those that mean nothing to
// a command, which does not search, are not in its help.
func commonFlags(output string, command nature) []cli.Flag {
	hidden, asJSON := command != searches && command != compares, "print the result, or an error, as JSON"
	seed := "seed of the randomised searches"
	switch command {
	case runs:
		seed = "seed of parameters and data"
	case compares:
		seed = "seed of searches, parameters and data"
	case writes:
		asJSON = "print an error as JSON; nothing else has that form here"
	}
	return []cli.Flag{
		&cli.DurationFlag{Name: "time-limit", Value: 30 * time.Second, Hidden: hidden, Usage: "stop the search after this `TIME`"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Hidden: hidden && command != runs, Usage: seed},
		&cli.IntFlag{Name: "workers", Value: runtime.GOMAXPROCS(0), DefaultText: "cores", Hidden: hidden, Usage: "search with this many goroutines"},
		&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: asJSON},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: output + " (- is standard output)", TakesFile: true},
		&cli.BoolFlag{Name: "quiet", DisableDefaultText: true, Aliases: []string{"q"}, Usage: "only the essence of the result, no progress"},
		&cli.BoolFlag{Name: "no-color", DisableDefaultText: true, Usage: "no colours, as with the environment variable NO_COLOR"},
	}
}

// toStandard reports whether a command that writes nothing but its result writes
// it to standard output.
func toStandard(c *cli.Context) bool {
	return c.String("output") == "" || c.String("output") == standard
}

// search holds the values of the search flags.
type search struct {
	limit   time.Duration
	seed    uint64
	workers int
}

func searchOf(c *cli.Context) (search, error) {
	s := search{c.Duration("time-limit"), c.Uint64("seed"), c.Int("workers")}
	switch {
	case s.limit <= 0:
		return s, fmt.Errorf("--time-limit %v: write a duration above 0, such as 30s", s.limit)
	case s.workers < 1:
		return s, fmt.Errorf("--workers %d: at least 1 is needed", s.workers)
	}
	return s, nil
}

// oneOf returns the value of a flag, which must be one of the words.
func oneOf(c *cli.Context, flag string, words ...string) (string, error) {
	value := c.String(flag)
	if err := unbuilt(unbuiltWords[flag], value, "--"+flag+" "+value); err != nil {
		return "", err
	}
	if !slices.Contains(words, value) {
		return "", fmt.Errorf("--%s %q: write %s", flag, value, joined(words, "or"))
	}
	return value, nil
}

// fileOf returns the file that a flag names, "" if it is not set.
func fileOf(c *cli.Context, flag string) (string, error) {
	name := c.String(flag)
	if c.IsSet(flag) && name == "" {
		return "", fmt.Errorf("the name after --%s is empty; write a file, or - for standard input or output", flag)
	}
	return name, nil
}

// joined joins words: "a, b or c".
func joined(words []string, conjunction string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// argument returns the only argument of a command.
func argument(c *cli.Context, what string) (string, error) {
	if (c.IsSet("output") || c.IsSet("o")) && c.String("output") == "" {
		return "", errors.New("the name after -o is empty; write a file, or - for standard output")
	}
	if !c.Args().Present() {
		return "", fmt.Errorf("%s needs a %s, or - for standard input", c.Command.Name, what)
	}
	return c.Args().First(), atMost(c, 1)
}

// atMost refuses surplus arguments.
func atMost(c *cli.Context, n int) error {
	if c.NArg() > n {
		return fmt.Errorf("%s: surplus argument %q", c.Command.Name, c.Args().Get(n))
	}
	return nil
}
