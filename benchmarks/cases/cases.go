// Package cases holds what users of pipeline-parallel training reported, as
// configurations with the right answer. README.md beside it explains the fields.
package cases

import (
	"bytes"
	_ "embed"
	"fmt"
	"math/big"

	"go.yaml.in/yaml/v3"
)

//go:embed cases.yaml
var data []byte

// Case is a configuration with the right answer.
type Case struct {
	ID       string   `yaml:"id"`
	Case     string   `yaml:"case"`
	Source   []string `yaml:"source"`
	Origin   string   `yaml:"origin"`
	Note     string   `yaml:"note"`
	Schedule string   `yaml:"schedule"`
	Large    bool     `yaml:"large"`
	Config   string   `yaml:"config"`
	Expect   Expect   `yaml:"expect"`
}

// Expect is the right answer. Numbers are decimals or fractions in the units of
// the configuration; empty ones are not given.
type Expect struct {
	Optimum         string   `yaml:"optimum"`
	Value           string   `yaml:"value"`
	Peaks           []string `yaml:"peaks"`
	FixedOrder      string   `yaml:"fixed_order"`
	SimpleBound     string   `yaml:"simple_bound"`
	Ideal           string   `yaml:"ideal"`
	BubbleRatio     string   `yaml:"bubble_ratio"`
	BubbleOverIdeal string   `yaml:"bubble_over_ideal"`
	Infeasible      []string `yaml:"infeasible"`
	Error           []string `yaml:"error"`
}

// All returns all cases, in the order of the file.
func All() ([]Case, error) {
	var file struct {
		Cases []Case `yaml:"cases"`
		Later []struct {
			Case string `yaml:"case"`
			Area string `yaml:"area"`
			What string `yaml:"what"`
		} `yaml:"later"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("cases.yaml: %w", err)
	}
	return file.Cases, nil
}

// Number parses a value of Expect, nil if it is not given.
func Number(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return r, nil
}
