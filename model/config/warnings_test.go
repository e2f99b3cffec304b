package config

import "testing"

func TestWarnings(t *testing.T) {
	for _, test := range []struct{ keys, want string }{
		{"devices: 3\nstages: 2", "1:1: placement: device 2 has no stage"},
		{"devices: 4\nplacement: [1, 1]", "5:12: placement: devices 0, 2, 3 have no stage"},
		{"devices: 20\nplacement: [1]", "5:12: placement: devices 0, 2, 3, 4, 5, 6, 7, 8 and 11 more have no stage"},
		{"devices: [{}, {memory_limit: 80GB}]", "4:30: devices[1].memory_limit: it limits nothing, because no stage takes memory"},
		{"devices: [{memory_limit: 4}]\nmemory: {activation: 0}", "4:26: devices[0].memory_limit: it limits nothing, because no stage takes memory"},
		{"devices: 1\nmemory: {limit: 4}", "5:17: memory.limit: it limits nothing, because no stage takes memory"},
		{"devices: 2\nmemory: {activation: 10GiB, static: 75 GiB, limit: [80GiB, 80]}", "5:60: memory.limit[1]: 80 is 80 bytes; did you mean 80GiB?"},
		{"devices: 2\nmemory: {activation: 0, freed_by_backward_input: -2, limit: 4TB}", "5:50: memory.freed_by_backward_input: -2 is -2 bytes; did you mean -2GiB?"},
		{"devices: 2\nmemory: {limit: [none, 4]}", "5:17: memory.limit: it limits nothing, because no stage takes memory"},
	} {
		config, err := Decode([]byte("version: 1\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"+test.keys), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if len(config.Warnings) != 1 || config.Warnings[0].String() != test.want {
			t.Errorf("got %v, want %s", config.Warnings, test.want)
		}
	}
}

func TestWarningsInDocumentOrder(t *testing.T) {
	config, err := Decode([]byte("version: 1\nplacement: [0, 0]\ndevices: [{memory_limit: 1}, {}]\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if w := config.Warnings; len(w) != 2 || w[0].Key != "placement" || w[1].Key != "devices[0].memory_limit" {
		t.Errorf("got %v", w)
	}
}

func TestNoWarningWhereMemoryIsTaken(t *testing.T) {
	for _, memory := range []string{"activation: 1", "static: 1", "freed_by_backward_input: -1"} {
		config, err := Decode([]byte("version: 1\ndevices: 1\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nmemory: {limit: 4, "+memory+"}\n"), "c.yaml")
		if err != nil || config.Warnings != nil {
			t.Errorf("%s: got %v, %v", memory, config, err)
		}
	}
}
