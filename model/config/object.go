package config

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// Object is a JSON object as text on one line. What stands in it is the affair of
// another package. The empty Object is none.
type Object string

// MarshalJSON returns the text.
func (o Object) MarshalJSON() ([]byte, error) { return []byte(o), nil }

// object reads a mapping written as JSON.
func (v value) object() (Object, bool) {
	if !v.mapping("write an object such as {\"kind\": \"gpt\"}") {
		return "", false
	}
	var text bytes.Buffer
	if !v.writeJSON(&text) {
		return "", false
	}
	return Object(text.String()), true
}

// writeJSON writes v as JSON without white space. It fails for what is YAML only.
func (v value) writeJSON(to *bytes.Buffer) bool {
	switch v.node.Kind {
	case yaml.MappingNode:
		to.WriteByte('{')
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			if i > 0 {
				to.WriteByte(',')
			}
			key := value{doc: v.doc, node: v.node.Content[i], path: v.path}
			if key.node.Kind != yaml.ScalarNode || !key.isText() {
				key.fail(describe(key.node)+" is not a key", "write it in quotes")
				return false
			}
			writeString(to, key.node.Value)
			to.WriteByte(':')
			below := value{doc: v.doc, node: v.node.Content[i+1], path: join(v.path, keyName(key.node.Value))}
			if !below.writeJSON(to) {
				return false
			}
		}
		to.WriteByte('}')
		return true
	case yaml.SequenceNode:
		to.WriteByte('[')
		for i := range v.node.Content {
			if i > 0 {
				to.WriteByte(',')
			}
			if !v.item(i).writeJSON(to) {
				return false
			}
		}
		to.WriteByte(']')
		return true
	}
	text, plain := v.plain()
	switch {
	case !plain && v.isText():
		writeString(to, text)
	case plain && json.Valid([]byte(text)):
		to.WriteString(text)
	default:
		v.fail(describe(v.node)+" is not JSON", "write text in quotes, numbers in decimal digits, and true, false or null")
		return false
	}
	return true
}

// isText reports whether a scalar is text in quotes.
func (v value) isText() bool {
	_, plain := v.plain()
	return !plain && v.node.Tag == "!!str"
}

// writeString writes a JSON string. Angle brackets and ampersands stay what they are.
func writeString(to *bytes.Buffer, text string) {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	to.Truncate(to.Len() - 1)
}
