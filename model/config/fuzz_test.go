package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// addRefusals seeds a fuzz target with the inputs of the cases that must fail.
func addRefusals(f *testing.F, pick func(refusal) string) {
	files, err := filepath.Glob("testdata/refusals/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, r := range parseRefusals(string(text)) {
			f.Add([]byte(pick(r)))
		}
	}
}

// checkRefused fails unless err is a list of complete refusals.
func checkRefused(t *testing.T, err error) {
	t.Helper()
	var list Errors
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("error of type %T: %v", err, err)
	}
	for _, e := range list {
		if e.File == "" || e.Line < 1 || e.Column < 1 || e.Problem == "" || e.Remedy == "" {
			t.Errorf("incomplete error %+v", e)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Example())
	for _, text := range validConfigs {
		f.Add([]byte(text))
	}
	f.Add([]byte(ownHead + "operations: [{name: a, stages: all, duration: [1, 2, 3, 4], after: forward}, {name: b, letter: X, devices: all, once: true, duration: 1, after: {kind: a, stage: all, lag: 2}}]"))
	addRefusals(f, func(r refusal) string { return r.config })
	f.Fuzz(func(t *testing.T, data []byte) {
		files := fstest.MapFS{
			"c.yaml":       {Data: data},
			"profile.json": {Data: []byte(chainProfile)},
			"graph.json":   {Data: []byte(graphProfile)},
			"layers.json":  {Data: []byte(layerProfile)},
		}
		config, err := Load(files, "c.yaml")
		if err != nil {
			checkRefused(t, err)
			return
		}
		checkInvariants(t, config)
	})
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte(chainProfile))
	f.Add([]byte(graphProfile))
	f.Add([]byte(layerProfile))
	addRefusals(f, func(r refusal) string { return r.profile })
	f.Fuzz(func(t *testing.T, data []byte) {
		profile, err := DecodeProfile(data, "profile.json")
		if err != nil {
			checkRefused(t, err)
			return
		}
		text, err := profile.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeProfile(text, "profile.json")
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(profile, again); diff != "" {
			t.Errorf("decoded, encoded and decoded again:\n%s", diff)
		}
		for _, further := range []string{"backward: split", "backward: fused", "backward: auto", "model: {kind: mlp, layers: 2, hidden: 8, micro_batch_size: 4}"} {
			files := fstest.MapFS{
				"c.yaml":       {Data: []byte("version: 1\ndevices: 2\nmicro_batches: 3\nprofile: profile.json\n" + further + "\n")},
				"profile.json": {Data: data},
			}
			if config, err := Load(files, "c.yaml"); err != nil {
				checkRefused(t, err)
			} else {
				checkInvariants(t, config)
			}
		}
	})
}
