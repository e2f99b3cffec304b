package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// mostNetwork bounds the bytes of the network of a plan file.
const mostNetwork = 16 << 20

// objectText is a JSON object as compact text. What stands in it is the affair of who
// reads the text.
type objectText string

// objectText reads an object as text on one line, white space between its tokens left
// out.
func (r *jsonReader) objectText() (objectText, error) {
	if r.next() != '{' {
		return "", r.expected("an object")
	}
	start := r.pos
	if err := r.skip(); err != nil {
		return "", err
	}
	raw := r.text[start:r.pos]
	switch {
	case len(raw) > mostNetwork:
		return "", r.fail(start, "the object has %d bytes; a plan file may have %d there", len(raw), mostNetwork)
	case !utf8.ValidString(raw):
		return "", r.fail(start, "the object is not valid UTF-8")
	}
	var checked json.RawMessage
	if err := json.Unmarshal([]byte(raw), &checked); err != nil {
		at := start
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at += max(0, int(syntax.Offset)-1)
		}
		return "", r.fail(at, "the object is not valid JSON: %v", err)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, checked); err != nil {
		return "", r.fail(start, "the object is not valid JSON: %v", err)
	}
	return objectText(text.String()), nil
}

// checkNetwork returns an error unless a plan file can hold the network of a pipeline.
func checkNetwork(text string) error {
	switch {
	case text == "":
		return nil
	case len(text) > mostNetwork:
		return errors.New("plan file: the network has more than 16 MiB of text")
	case text[0] != '{' || strings.ContainsAny(text, "\n\r") || !utf8.ValidString(text) || !json.Valid([]byte(text)):
		return errors.New("plan file: the network is not a JSON object on one line")
	}
	return nil
}
