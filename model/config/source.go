package config

import (
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Source is a configuration that is not decoded yet: a document, and keys that
// replace those at its top. Who builds a configuration in a program gives keys alone.
//
// Keys have no lines: what is wrong with them is reported by its path, such as
// costs.forward[2], in an [*Error] whose Line is 0.
type Source struct {
	FS   fs.FS  // serves the profile that the configuration names; nil: none
	Name string // of the document in errors; a profile is found relative to its directory
	Data []byte // the document; nil: there is none
	Keys []byte // a JSON object; nil: nothing is replaced

	// Operations is a JSON list of further entries of operations, behind those of the
	// document or of Keys; nil: none.
	Operations []byte
}

// Decode returns the configuration. Errors and cost are those of [Load], for document
// and keys together.
func (s Source) Decode() (*Config, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if s.Data != nil {
		var refusal *Error
		if root, refusal = parse(s.Data, s.Name); refusal != nil {
			return nil, Errors{refusal}
		}
	}
	for _, add := range []struct {
		keys []byte
		to   func(root, over *yaml.Node)
	}{{s.Keys, replaceKeys}, {s.wrapped(), appendKeys}} {
		if add.keys == nil {
			continue
		}
		over, refusal := parse(add.keys, s.Name)
		if refusal != nil {
			return nil, Errors{refusal}
		}
		unplace(over)
		add.to(root, over)
	}
	return decodeRoot(root, s.Name, s.FS)
}

// wrapped returns the further operations under their key; nil if there are none.
func (s Source) wrapped() []byte {
	if s.Operations == nil {
		return nil
	}
	return slices.Concat([]byte(`{"operations":`), s.Operations, []byte("}"))
}

// appendKeys appends the lists of over to those of root, or puts them where root has
// none.
func appendKeys(root, over *yaml.Node) {
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, list := over.Content[i], over.Content[i+1]
		found := slices.IndexFunc(root.Content, func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == key.Value })
		if found < 0 || found%2 != 0 || root.Content[found+1].Kind != yaml.SequenceNode {
			replaceKeys(root, &yaml.Node{Content: []*yaml.Node{key, list}})
			continue
		}
		root.Content[found+1].Content = append(root.Content[found+1].Content, list.Content...)
	}
}

// unplace takes the lines from all nodes below node, and the quotes from text that
// would be text without them: words such as all or 5us stand without in a document.
func unplace(node *yaml.Node) {
	node.Line, node.Column = 0, 0
	if node.Kind == yaml.ScalarNode && (&yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}).ShortTag() == "!!str" {
		node.Style = 0
	}
	for _, child := range node.Content {
		unplace(child)
	}
}

// replaceKeys puts the keys of the mapping over in the place of those of root, new
// ones behind them. A key that root has twice is left for [checkKeys] to refuse.
func replaceKeys(root, over *yaml.Node) {
	at := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		at[root.Content[i].Value] = i
	}
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		if known, found := at[key.Value]; found {
			root.Content[known], root.Content[known+1] = key, value
			continue
		}
		root.Content = append(root.Content, key, value)
	}
}
