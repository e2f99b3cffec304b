package config

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/flexpipe/flexpipe/model"
)

// maxShownRunes is how much of a foreign text a message repeats.
const maxShownRunes = 40

// shorten cuts text to what a message may repeat.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxShownRunes {
		return text
	}
	return string([]rune(text)[:maxShownRunes]) + "..."
}

// quote returns text shortened, in quotes, with control characters escaped.
func quote(text string) string { return strconv.Quote(shorten(text)) }

// keyName returns a key as paths show it.
func keyName(key string) string {
	if key == "" || strings.ContainsFunc(key, unprintable) {
		return quote(key)
	}
	return shorten(key)
}

// describe names what stands at node.
func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode && len(node.Content) == 0:
		return "an empty list"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Tag == "!!null":
		return "none"
	case node.Tag == "!!int" || node.Tag == "!!float" || node.Tag == "!!bool":
		return shorten(node.Value)
	}
	return quote(node.Value)
}

func plural(n int, noun string) string { return model.Plural(n, noun) }

// alternatives returns "a", "a or b", "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// didYouMean returns a question about the nearest of the words if one is near
// enough to text to be meant, else the remedy.
func didYouMean(text string, words []string, remedy string) string {
	if near := model.Nearest(text, words); near != "" {
		return "did you mean " + near + "?"
	}
	return remedy
}
