package config

import (
	_ "embed"
	"slices"
)

//go:embed example.yaml
var example []byte

// Example returns a commented configuration to start from. The caller owns it.
func Example() []byte { return slices.Clone(example) }
