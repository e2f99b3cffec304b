package config

import (
	"errors"
	"strings"
	"testing"
)

const sourceDocument = "version: 1\ndevices: 4\nmicro_batches: 8\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"

// TestSourceReplacesKeys decodes documents under keys, and keys alone.
func TestSourceReplacesKeys(t *testing.T) {
	for _, c := range []struct {
		name, data, keys     string
		devices, micro, slow int
	}{
		{"document alone", sourceDocument, "", 4, 8, 1},
		{"one replaced", sourceDocument, `{"micro_batches": 3}`, 4, 3, 1},
		{"one added", sourceDocument, `{"placement": "loop", "stages": 8}`, 4, 8, 1},
		{"keys alone", "", `{"version": 1, "devices": 2, "micro_batches": 5, "costs": {"forward": "2.5", "backward_input": 1, "backward_weight": 1}}`, 0, 0, 0},
		{"words and units", "", `{"version": 1, "unit": "us", "devices": [{"slowdown": 3}], "micro_batches": 5, "costs": {"forward": "2.5ms", "backward_input": 1, "backward_weight": "none"}}`, 1, 5, 3},
		{"a document that needs its keys", "version: 1\nmicro_batches: 8\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n", `{"devices": 7}`, 7, 8, 1},
	} {
		s := Source{Name: "a.yaml"}
		if c.data != "" {
			s.Data = []byte(c.data)
		}
		if c.keys != "" {
			s.Keys = []byte(c.keys)
		}
		cfg, err := s.Decode()
		if c.devices == 0 {
			if err == nil || !strings.Contains(err.Error(), "leave the quotes out") {
				t.Errorf("%s: error %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(cfg.Devices) != c.devices || cfg.MicroBatches != c.micro || !cfg.Devices[0].Slowdown.Equal(NewDecimal(int64(c.slow))) {
			t.Errorf("%s: %d devices, %d micro-batches, slowdown %s", c.name, len(cfg.Devices), cfg.MicroBatches, cfg.Devices[0].Slowdown)
		}
	}
}

// TestSourcePlaces demands that an error is placed in the document, or by its path
// where a key replaced it.
func TestSourcePlaces(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`{"devices": 0}`, "devices: 0 is out of range; write one from 1 to 65536"},
		{`{"devises": 2}`, "devises: unknown key; did you mean devices?"},
		{`{"costs": {"forward": [1, -2, 1, 1], "backward_input": 1, "backward_weight": 1}}`, "costs.forward[1]: -2 is negative"},
		{`{"edges": [[0, 9]]}`, "edges[0]"},
	} {
		_, err := Source{Name: "a.yaml", Data: []byte(sourceDocument), Keys: []byte(c.keys)}.Decode()
		var e *Error
		if !errors.As(err, &e) || e.Line != 0 || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%s: error %v", c.keys, err)
		}
	}
	_, err := Source{Name: "a.yaml", Data: []byte("version: 1\ndevices: 0\ncosts: {}\n"), Keys: []byte(`{"micro_batches": 3}`)}.Decode()
	if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:2:10: devices: 0 is out of range") {
		t.Errorf("error %v", err)
	}
}

// TestSourceAppendsOperations adds operations behind those of a document, or where it
// has none.
func TestSourceAppendsOperations(t *testing.T) {
	const log = "operations: [{name: log, stages: 0, duration: 1}]\n"
	const further = `[{"name": "step", "devices": "all", "once": true, "duration": "2"}]`
	for document, want := range map[string][]string{
		sourceDocument + log: {"log", "step"},
		sourceDocument:       {"step"},
	} {
		_, err := Source{Name: "a.yaml", Data: []byte(document), Operations: []byte(further)}.Decode()
		if err == nil || !strings.Contains(err.Error(), "leave the quotes out") {
			t.Fatalf("error %v", err)
		}
		cfg, err := Source{Name: "a.yaml", Data: []byte(document), Operations: []byte(strings.ReplaceAll(further, `"2"`, "2"))}.Decode()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range cfg.Operations {
			names = append(names, o.Name)
		}
		if strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("operations %v, want %v", names, want)
		}
	}
	_, err := Source{Name: "a.yaml", Data: []byte(sourceDocument + log), Operations: []byte(`[{"name": "log", "stages": 0, "duration": 1}]`)}.Decode()
	if err == nil || !strings.HasPrefix(err.Error(), "operations[1].name: ") {
		t.Errorf("error %v", err)
	}
}
