package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document is a parsed file and what has been found wrong with it.
type document struct {
	file     string
	problems *Errors
	// misspelt holds the mappings with an unknown key: a missing key there is not
	// reported, since the unknown one is probably it.
	misspelt map[*yaml.Node]bool
}

// value is a place in a document: a node and the path of keys that leads to it.
// Where a key is left out, node is the mapping that lacks it.
type value struct {
	doc     *document
	node    *yaml.Node
	path    string
	missing bool
}

// fail records what is wrong with v.
func (v value) fail(problem, remedy string) {
	*v.doc.problems = append(*v.doc.problems, v.place().Refuse(problem, remedy, nil))
}

// failMissing records that v must be given.
func (v value) failMissing(remedy string) {
	if !v.doc.misspelt[v.node] {
		v.fail("missing", remedy)
	}
}

// none reports whether v is written as none or null.
func (v value) none() bool {
	if v.missing || v.node.Kind != yaml.ScalarNode {
		return false
	}
	return v.node.Value == "none" || v.node.Tag == "!!null"
}

// absent reports whether v is left out or none.
func (v value) absent() bool { return v.missing || v.none() }

// listed reports whether v is a list.
func (v value) listed() bool { return !v.missing && v.node.Kind == yaml.SequenceNode }

// get returns the value of a key of the mapping v. Every key of anything that is
// not a mapping is missing.
func (v value) get(key string) value {
	child := value{doc: v.doc, node: v.node, path: join(v.path, key), missing: true}
	if v.missing || v.node.Kind != yaml.MappingNode {
		return child
	}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		if v.node.Content[i].Value == key {
			child.node, child.missing = v.node.Content[i+1], false
			return child
		}
	}
	return child
}

// join returns the path of a key below the path of its mapping.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// item returns entry i of the list v.
func (v value) item(i int) value {
	return value{doc: v.doc, node: v.node.Content[i], path: v.path + "[" + strconv.Itoa(i) + "]"}
}

// items returns the entries of the list v. Anything else is a failure that says
// what belongs there.
func (v value) items(remedy string) (list []value, ok bool) {
	if !v.listed() {
		v.fail(describe(v.node)+" is not a list", remedy)
		return nil, false
	}
	list = make([]value, len(v.node.Content))
	for i := range list {
		list[i] = v.item(i)
	}
	return list, true
}

// mapping reports whether v is a mapping, and fails if not.
func (v value) mapping(remedy string) bool {
	if v.node.Kind == yaml.MappingNode {
		return true
	}
	v.fail(describe(v.node)+" is not a mapping", remedy)
	return false
}

// plain returns the text of an unquoted scalar.
func (v value) plain() (text string, ok bool) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	ok = v.node.Kind == yaml.ScalarNode && v.node.Style&quoted == 0
	return v.node.Value, ok
}

// integer reads a whole number in its plainest form.
func (v value) integer() (n int, ok bool) {
	text, unquoted := v.plain()
	n, err := strconv.Atoi(text)
	return n, unquoted && err == nil && strconv.Itoa(n) == text
}

// whole reads a whole number from low to high.
func (v value) whole(low, high int) (n int, ok bool) {
	remedy := fmt.Sprintf("write one from %d to %d", low, high)
	text, unquoted := v.plain()
	n, ok = v.integer()
	switch {
	case ok && n >= low && n <= high:
		return n, true
	case ok || unquoted && len(text) > 18 && digitRun(text) == len(text):
		v.fail(describe(v.node)+" is out of range", remedy)
	default:
		v.fail(describe(v.node)+" is not a whole number", remedy)
	}
	return 0, false
}

// index reads the number of one of count things, each called noun.
func (v value) index(count int, noun string) (n int, ok bool) {
	remedy := fmt.Sprintf("write one from 0 to %d", count-1)
	n, ok = v.integer()
	if !ok {
		v.fail(describe(v.node)+" is not the number of a "+noun, remedy)
		return 0, false
	}
	if n < 0 || n >= count {
		v.fail(fmt.Sprintf("there is no %s %d", noun, n), remedy)
		return 0, false
	}
	return n, true
}

// flag reads true or false.
func (v value) flag() (set, ok bool) {
	text, ok := v.plain()
	if !ok || (text != "true" && text != "false") {
		v.fail(describe(v.node)+" is neither true nor false", "write one of them")
		return false, false
	}
	return text == "true", true
}

// maxTextRunes is the length of the longest free text.
const maxTextRunes = 256

// text reads printable free text.
func (v value) text() (text string, ok bool) {
	switch {
	case v.node.Kind != yaml.ScalarNode:
		v.fail(describe(v.node)+" is not text", "write a word or two")
		return "", false
	case v.node.Tag != "!!str":
		v.fail(describe(v.node)+" is not text", "put it in quotes")
		return "", false
	}
	text = v.node.Value
	if utf8.RuneCountInString(text) > maxTextRunes || strings.ContainsFunc(text, unprintable) {
		v.fail(describe(v.node)+" is not a short printable line", fmt.Sprintf("write at most %d characters, none of them a control character", maxTextRunes))
		return "", false
	}
	return text, true
}

// unprintable reports whether r could disturb a terminal.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// word reads one of the words.
func word[T ~string](v value, words ...T) (T, bool) {
	for _, w := range words {
		if v.node.Kind == yaml.ScalarNode && v.node.Value == string(w) {
			return w, true
		}
	}
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	remedy := "write " + alternatives(names)
	if v.node.Kind == yaml.ScalarNode {
		remedy = didYouMean(v.node.Value, names, remedy)
	}
	v.fail(describe(v.node)+" is not known here", remedy)
	return "", false
}

// at returns the value at a path such as costs.forward[2] below the mapping v. An
// index into what is no list, or beyond its end, is passed over.
func (v value) at(path string) value {
	for key := range strings.SplitSeq(path, ".") {
		key, index, indexed := strings.Cut(key, "[")
		v = v.get(key)
		i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if indexed && err == nil && v.listed() && i < len(v.node.Content) {
			v = v.item(i)
		}
	}
	return v
}
