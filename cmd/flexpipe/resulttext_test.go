package main

import (
	"testing"

	"github.com/flexpipe/flexpipe/solve"
)

func TestOrigin(t *testing.T) {
	for rule, want := range map[string]string{
		"":                     "heuristic",
		"1f1b":                 "schedule 1f1b (One forward, one backward (PipeDream-Flush))",
		"v-min, then swaps":    "schedule v-min, then swaps",
		"due by head, frugal":  "priority rules: due by head, frugal",
		"weights 1/2 periods ": "priority rules: weights 1/2 periods ",
	} {
		a := answer{result: &solve.Result{Rule: rule, Engine: "heuristic"}}
		if got := a.origin(); got != want {
			t.Errorf("rule %q: %q, want %q", rule, got, want)
		}
	}
}
