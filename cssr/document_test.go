package cssr_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

var fenced = regexp.MustCompile("(?s)```(yaml|json)\n(.*?)```")

// TestConfigurationDocument builds every configuration of docs/configuration.md.
// What a block lacks comes from the first one, which is complete; the profiles that
// some of them name are the JSON blocks.
func TestConfigurationDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	files, profiles := fstest.MapFS{}, []string{"measured.json", "layers.json"}
	var blocks []string
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "json" {
			if len(files) < len(profiles) {
				files[profiles[len(files)]] = &fstest.MapFile{Data: []byte(m[2])}
			}
			continue
		}
		blocks = append(blocks, m[2])
	}
	if len(blocks) == 0 || len(files) != len(profiles) {
		t.Fatalf("%d blocks and %d profiles", len(blocks), len(files))
	}
	for _, block := range blocks {
		whole := block + missingLines(block, blocks[0])
		files["c.yaml"] = &fstest.MapFile{Data: []byte(whole)}
		cfg, err := config.Load(files, "c.yaml")
		if err != nil {
			t.Errorf("%v in\n%s", err, whole)
			continue
		}
		if len(cfg.Warnings) != 0 {
			t.Errorf("%v in\n%s", cfg.Warnings, whole)
		}
		if _, err := cssr.Build(cfg, cssr.Choices{}); err != nil {
			t.Errorf("%v in\n%s", err, whole)
		}
	}
}

// missingLines returns the lines of base with keys that a partial block lacks.
func missingLines(block, base string) string {
	if strings.HasPrefix(block, "version:") {
		return ""
	}
	lines := ""
	for line := range strings.Lines(base) {
		key, _, _ := strings.Cut(line, ":")
		if !strings.Contains("\n"+block, "\n"+key+":") {
			lines += line
		}
	}
	return lines
}
