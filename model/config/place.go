package config

import "strings"

// Place is where a key stands in the document that writes it: the configuration, or
// the profile that it names.
type Place struct {
	File         string // name of the document
	Line, Column int    // where the offending text starts, counted from 1; columns count characters; 0 for keys of a [Source]
	Key          string // path such as costs.forward[2]; empty for the document as a whole
}

// Refuse returns a refusal at the place. cause is the error behind it, if any.
func (p Place) Refuse(problem, remedy string, cause error) *Error {
	return &Error{Place: p, Problem: problem, Remedy: remedy, Cause: cause}
}

// Locate returns the place of the first of the keys that has a value, or else of the
// last; the place of a key that is left out is that of the mapping which lacks it.
// Without keys it is the start of the document. It serves those who find later that a
// decoded configuration asks for something impossible.
//
// A key is a path such as costs.forward[2]. Where one value holds for all stages, that
// value is the place for each. A path below profile leads into the profile's file:
// profile.stages[2].durations.forward; without a profile it is passed over. A Config
// that was not decoded has no lines.
func (c *Config) Locate(keys ...string) Place {
	at := c.root
	for _, key := range keys {
		root := c.root
		if inside, ok := strings.CutPrefix(key, "profile."); ok {
			root, key = c.profileRoot, inside
		}
		if root.node == nil {
			continue
		}
		if at = root.at(key); !at.absent() {
			break
		}
	}
	if at.node == nil {
		return Place{Key: strings.Join(keys, " or ")}
	}
	return at.place()
}

// place returns where v stands.
func (v value) place() Place {
	return Place{File: v.doc.file, Line: v.node.Line, Column: v.node.Column, Key: v.path}
}
