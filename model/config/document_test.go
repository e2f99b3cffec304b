package config

import (
	"os"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"
)

// anyPart matches the part of a network that a key belongs to. Parts have the keys of a
// network of one part.
var anyPart = regexp.MustCompile(`^model\.(encoder|decoder|branches|joint)\.`)

// anyMeasurement matches the kind of operation whose measurement a key belongs to.
var anyMeasurement = regexp.MustCompile(`^(stages|layers)\.durations\.\w+\.`)

// TestDocumentedKeys demands that every key of a configuration and of a profile is
// used by a block of docs/configuration.md.
func TestDocumentedKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, known := range map[string]schema{"yaml": configSchema, "json": profileSchema} {
		used := map[string]bool{}
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(m[1]), &document); err != nil {
				t.Fatal(err)
			}
			collectKeys(document.Content[0], "", used)
		}
		for _, path := range known.paths("") {
			path = anyMeasurement.ReplaceAllString(path, "$1.durations.forward.")
			path = anyPart.ReplaceAllString(path, "model.")
			if !used[path] {
				t.Errorf("no %s block has the key %s", language, path)
			}
		}
	}
}

// collectKeys notes the paths of all keys below node; list entries have that of
// their list.
func collectKeys(node *yaml.Node, path string, used map[string]bool) {
	for i, child := range node.Content {
		switch {
		case node.Kind == yaml.SequenceNode:
			collectKeys(child, path, used)
		case i%2 == 1:
			below := join(path, node.Content[i-1].Value)
			used[below] = true
			collectKeys(child, below, used)
		}
	}
}

// paths returns the paths of all keys of a schema.
func (s schema) paths(path string) []string {
	var list []string
	for key, below := range s {
		if key == anyKey {
			continue
		}
		list = append(list, join(path, key))
		list = append(list, below.paths(join(path, key))...)
	}
	return list
}
