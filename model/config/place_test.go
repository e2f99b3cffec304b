package config

import (
	"errors"
	"io/fs"
	"testing"
)

func TestLocate(t *testing.T) {
	for _, test := range []struct {
		config string
		keys   []string
		want   Place
	}{
		{"everything", nil, Place{"c.yaml", 2, 1, ""}},
		{"everything", []string{"costs.forward[2]"}, Place{"c.yaml", 10, 18, "costs.forward"}},
		{"everything", []string{"micro_batches[1]"}, Place{"c.yaml", 5, 20, "micro_batches[1]"}},
		{"everything", []string{"communication.links[0].latency"}, Place{"c.yaml", 12, 63, "communication.links[0].latency"}},
		{"everything", []string{"devices[1].memory_limit", "memory.limit[1]"}, Place{"c.yaml", 13, 104, "memory.limit[1]"}},
		{"everything", []string{"devices[9].memory_limit"}, Place{"c.yaml", 4, 10, "devices.memory_limit"}},
		{"least", []string{"partition", "unit"}, Place{"c.yaml", 2, 1, "unit"}},
		{"least", []string{"profile.stages[0].durations.forward"}, Place{"c.yaml", 2, 1, ""}},
		{"least", []string{"edges", "profile.edges", "costs"}, Place{"c.yaml", 5, 8, "costs"}},
		{"profile", []string{"profile.stages[1].durations.backward_weight"}, Place{"profile.json", 6, 100, "stages[1].durations.backward_weight"}},
		{"gpt", []string{"partition[0]", "model.layers"}, Place{"c.yaml", 6, 13, "partition[0]"}},
		{"two-branch", []string{"partition[0]", "model.kind"}, Place{"c.yaml", 6, 9, "model.kind"}},
	} {
		same(t, test.want, load(t, test.config).Locate(test.keys...))
	}
	same(t, Place{}, new(Config).Locate())
	same(t, Place{Key: "edges or costs"}, new(Config).Locate("edges", "costs"))
}

func TestRefuse(t *testing.T) {
	at := load(t, "everything").Locate("unit")
	err := at.Refuse("too fine", "use ms", fs.ErrInvalid)
	if want := "c.yaml:9:7: unit: too fine; use ms"; err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
	if !errors.Is(err, fs.ErrInvalid) {
		t.Error("the cause is lost")
	}
	if got := new(Config).Locate("unit").Refuse("too fine", "", nil).Error(); got != "unit: too fine" {
		t.Errorf("without a document: %s", got)
	}
}
