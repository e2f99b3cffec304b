package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

var modes = map[string]portfolio.Mode{"auto": portfolio.Auto, "exact": portfolio.Exact, "heuristic": portfolio.Heuristic}

// engineNames returns the names of the exact engines.
func engineNames() []string {
	var names []string
	for _, e := range portfolio.Engines() {
		names = append(names, e.Name())
	}
	return names
}

// engineOf returns what --mode and --engine say.
func engineOf(c *cli.Context) (mode portfolio.Mode, engine string, err error) {
	word, err := oneOf(c, "mode", "auto", "exact", "heuristic")
	if err != nil || !c.IsSet("engine") {
		return modes[word], "", err
	}
	if engine, err = oneOf(c, "engine", engineNames()...); err != nil {
		return 0, "", err
	}
	switch {
	case c.IsSet("schedule"):
		err = errors.New("--schedule builds one plan, so there is nothing to search with --engine; leave one of them out")
	case word == "heuristic":
		err = errors.New("--engine names an exact engine, which --mode heuristic does not use; leave one of them out")
	}
	return modes[word], engine, err
}

// refusal says what to do about an engine that cannot take a problem; named is what
// --engine says, "" without it.
func refusal(problem *model.Problem, named string, err error) error {
	var feature *solve.FeatureError
	if !errors.As(err, &feature) {
		return err
	}
	var can []string
	for _, e := range portfolio.Engines() {
		if e.Refuses(problem) == nil {
			can = append(can, e.Name())
		}
	}
	remedy := "use --mode auto"
	if named != "" {
		remedy += " without --engine"
	}
	if len(can) > 0 {
		remedy += ", or --engine " + joined(can, "or") + ", which can"
	}
	return fmt.Errorf("%w; %s", feature, remedy)
}
