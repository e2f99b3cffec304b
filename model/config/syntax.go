package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits on a document, so that a hostile one cannot exhaust memory or stack.
const (
	maxFileBytes = 8 << 20
	maxDepth     = 32
)

// parse reads data as one YAML document and returns its mapping. It refuses what a
// configuration has no use for: anchors, aliases, explicit tags, deep nesting,
// further documents.
func parse(data []byte, file string) (*yaml.Node, *Error) {
	if refusal := checkText(data); refusal != nil {
		refusal.File = file
		return nil, refusal
	}
	root, refusal := parseOne(unescapeJSON(data))
	if refusal == nil {
		refusal = checkTree(root, 0)
	}
	if refusal == nil && root.Kind != yaml.MappingNode {
		refusal = refuse(root, describe(root)+" where a mapping of keys to values belongs", "start with version: 1")
	}
	if refusal != nil {
		refusal.File = file
		return nil, refusal
	}
	return root, nil
}

// checkText refuses bytes that are not a reasonable amount of UTF-8.
func checkText(data []byte) *Error {
	if len(data) > maxFileBytes {
		return refuseAt(data, 0, fmt.Sprintf("the file is larger than %d bytes", maxFileBytes),
			"write one value for all stages instead of long lists")
	}
	if utf8.Valid(data) {
		return nil
	}
	good := 0
	for {
		r, size := utf8.DecodeRune(data[good:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		good += size
	}
	return refuseAt(data, good, fmt.Sprintf("byte 0x%02x is not UTF-8 text", data[good]), "save the file as UTF-8")
}

// refuseAt returns a refusal of data at an offset.
func refuseAt(data []byte, offset int, problem, remedy string) *Error {
	before := data[:max(offset, 0)]
	start := bytes.LastIndexByte(before, '\n') + 1
	at := Place{Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(before[start:])}
	return at.Refuse(problem, remedy, nil)
}

// parseOne parses data and returns the root of its only document.
func parseOne(data []byte) (*yaml.Node, *Error) {
	var first, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, refuseAt(data, 0, "the file is empty", "start with version: 1")
	case err != nil:
		return nil, syntaxError(err, data)
	}
	root := first.Content[0]
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
		return root, nil
	case err != nil:
		return nil, syntaxError(err, data)
	}
	return nil, refuse(&second, "a second document starts here", "keep one document per file")
}

// yamlMessage is the form of the parser's messages.
var yamlMessage = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(?s:(.*))$`)

// undefinedAlias is the parser's message for an alias without anchor, which it gives
// without a line.
var undefinedAlias = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// syntaxError turns an error of the parser, which knows lines only, into a refusal
// at the start of the text on that line.
func syntaxError(err error, data []byte) *Error {
	parts := yamlMessage.FindStringSubmatch(err.Error())
	if alias := undefinedAlias.FindStringSubmatch(parts[2]); alias != nil {
		return refuseAt(data, bytes.Index(data, []byte("*"+alias[1])), "alias *"+shorten(alias[1])+" is not supported", "write the value out")
	}
	at := Place{Line: 1, Column: 1}
	lines := strings.Split(string(data), "\n")
	if line, err := strconv.Atoi(parts[1]); err == nil {
		at.Line = min(line, len(lines))
	}
	text := lines[at.Line-1]
	at.Column += len(text) - len(strings.TrimLeft(text, " \t"))
	return at.Refuse("not valid YAML: "+parts[2], "check quotes, brackets and indentation here", nil)
}

// checkTree refuses nodes that no configuration needs. An alias comes after its
// anchor, which is refused.
func checkTree(node *yaml.Node, depth int) *Error {
	switch {
	case depth > maxDepth:
		return refuse(node, fmt.Sprintf("nested more than %d deep", maxDepth), "check the brackets and the indentation")
	case node.Anchor != "":
		return refuse(node, "anchor &"+shorten(node.Anchor)+" is not supported", "write the value out where it is needed")
	case node.Style&yaml.TaggedStyle != 0:
		return refuse(node, "tag "+quote(node.Tag)+" is not supported", "leave the tag out")
	}
	for _, child := range node.Content {
		if refusal := checkTree(child, depth+1); refusal != nil {
			return refusal
		}
	}
	return nil
}

// refuse returns a refusal of the document at node.
func refuse(node *yaml.Node, problem, remedy string) *Error {
	return Place{Line: node.Line, Column: node.Column}.Refuse(problem, remedy, nil)
}
