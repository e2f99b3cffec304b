package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one refusal: where it stands in the document, and what to do about it.
type Error struct {
	Place
	Problem string // what is wrong
	Remedy  string // how to mend it; empty where the problem says so already
	Cause   error  // the error of another package that says the same, or nil
}

// Error returns "file:line:column: key: problem; remedy".
func (e *Error) Error() string {
	var text strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&text, "%s:%d:%d: ", e.File, e.Line, e.Column)
	}
	if e.Key != "" {
		text.WriteString(e.Key + ": ")
	}
	text.WriteString(e.Problem)
	if e.Remedy != "" {
		text.WriteString("; " + e.Remedy)
	}
	return text.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errors are the refusals of one configuration in document order, at least one.
// errors.As finds the first as an [*Error].
type Errors []*Error

// maxShown is how many refusals a message spells out.
const maxShown = 20

// Error returns one refusal per line, and how many more there are beyond the first 20.
func (e Errors) Error() string {
	shown := e[:min(len(e), maxShown)]
	lines := make([]string, 0, len(shown)+1)
	for _, refusal := range shown {
		lines = append(lines, refusal.Error())
	}
	if more := len(e) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", plural(more, "problem")))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the refusals one by one.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, refusal := range e {
		list[i] = refusal
	}
	return list
}

// sorted returns the refusals in document order, the configuration before the
// profile that it names, without repetitions.
func (e Errors) sorted(first string) Errors {
	rank := func(e *Error) int {
		if e.File == first {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(e, func(a, b *Error) bool { return *a == *b })
}

// Warning is a remark on something legal that is rarely meant.
type Warning struct {
	Line, Column int    // where it stands in the configuration, counted from 1; 0 for keys of a [Source]
	Key          string // path such as placement
	Text         string
}

// String returns "line:column: key: text", or what it has of these.
func (w Warning) String() string {
	if w.Line == 0 {
		return " " + w.Key + ": " + w.Text
	}
	return fmt.Sprintf("%d:%d: %s: %s", w.Line, w.Column, w.Key, w.Text)
}

// sortWarnings puts warnings in document order.
func sortWarnings(list []Warning) {
	slices.SortStableFunc(list, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
