package heuristics_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
)

// TestChoices compares with points, which say in one line what choices are made.
func TestChoices(t *testing.T) {
	for _, test := range []struct {
		name      string
		chunks    int
		ownRoutes bool
		want      string
	}{
		{"1f1b", 0, false, "backward=fused"},
		{"zb-h1", 1, false, "backward=split"},
		{"zbv", 1, false, "backward=split"},
		{"1f1b", 2, false, "chunks=2 backward=fused"},
		{"interleaved", 3, false, "placement=loop chunks=3 backward=fused"},
		{"zbv", 2, true, "placement=v chunks=2 backward=split"},
		{"dualpipev", 2, false, "placement=v chunks=2 backward=auto"},
		{"chimera", 1, false, "bidirectional=yes backward=fused"},
		{"chimera", 1, true, "backward=fused"},
	} {
		s, err := heuristics.Lookup(test.name)
		if err != nil {
			t.Fatal(err)
		}
		choices := s.Choices(test.chunks, test.ownRoutes)
		if got := (&cssr.Point{Choices: choices}).String(); got != test.want {
			t.Errorf("%s in %d chunks, own routes %v: %s, want %s", test.name, test.chunks, test.ownRoutes, got, test.want)
		}
		*choices.Backward++ // the caller's own
		if again := s.Choices(test.chunks, test.ownRoutes); *again.Backward == *choices.Backward {
			t.Errorf("%s: the schedule changes with its choices", test.name)
		}
	}
}
