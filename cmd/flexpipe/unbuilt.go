package main

import (
	"fmt"
	"slices"
)

// What the program is meant to have, and this build has not.
var (
	unbuiltCommands = []string{"frontier", "import", "export"}
	// unbuiltFlags lists flags by command.
	unbuiltFlags = map[string][]string{"solve": {"jitter"}, "show": {"measured"}, "run": {"share"}, "profile": {"from-torch"}}
	// unbuiltWords lists values by flag.
	unbuiltWords = map[string][]string{"format": {"html"}}
)

// unbuilt returns an error if a name is in a list of what this build has not.
func unbuilt(list []string, name, what string) error {
	if !slices.Contains(list, name) {
		return nil
	}
	return &exitError{exitUnavailable, fmt.Errorf("%s is not in this build yet", what)}
}
