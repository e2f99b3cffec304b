package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/flexpipe/flexpipe/model"
)

// Error is what is wrong with a script: where, what, and how to mend it.
type Error struct {
	File         string // the script, or the configuration that it read
	Line, Column int    // from 1, columns count characters; 0 for the file as a whole
	Source       string // the text of the line
	Problem      string
	Remedy       string  // may be empty
	Calls        []Frame // the calls that led into the function at fault, the nearest first; nil at the top of the script
	Cause        error   // the error of another package that says the same, or nil

	More []*Error // further faults that were found with this one
}

// Frame is a call of a function of the script.
type Frame struct {
	Function     string // that was called
	Line, Column int    // of the call
}

// Error returns
//
//	file:line:column: problem; remedy
//	    the line
//	        ^
//	  FUNCTION was called at file:line:column
func (e *Error) Error() string {
	var b strings.Builder
	e.write(&b)
	for _, more := range e.More {
		b.WriteByte('\n')
		more.write(&b)
	}
	return b.String()
}

func (e *Error) write(b *strings.Builder) {
	b.WriteString(e.Where() + ": " + printable(e.Problem))
	if e.Remedy != "" {
		b.WriteString("; " + printable(e.Remedy))
	}
	if e.Line > 0 && e.Source != "" {
		line, column := excerpt(printable(e.Source), e.Column)
		fmt.Fprintf(b, "\n    %s\n    %s^", line, indent(line, column))
	}
	for _, c := range e.Calls {
		fmt.Fprintf(b, "\n  %s was called at %s:%d:%d", c.Function, e.File, c.Line, c.Column)
	}
}

// Where returns file:line:column, or the file.
func (e *Error) Where() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// indent returns what stands above the text before a column.
func indent(line string, column int) string {
	var b strings.Builder
	for i, c := range []rune(line) {
		switch {
		case i >= column-1:
			return b.String()
		case c == '\t':
			b.WriteByte('\t')
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// printable replaces what could disturb a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// widest is how many characters of a line an error shows.
const widest = 120

// excerpt returns the part of a line around a column, and the column in it.
func excerpt(line string, column int) (string, int) {
	text := []rune(line)
	if len(text) <= widest {
		return line, column
	}
	from := min(max(0, column-1-widest/2), len(text)-widest)
	to := from + widest
	before, after := "", ""
	if from > 0 {
		before = "..."
	}
	if to < len(text) {
		after = "..."
	}
	return before + string(text[from:to]) + after, column - from + len(before)
}

// fault is an error of a word of the language, which knows its place by the call that
// is running, or by site.
type fault struct {
	site            site   // the zero value: where the running call stands
	arg             string // the argument at fault, by name; "": the call
	index           int    // its place among the positional arguments, from 1; 0: unknown
	problem, remedy string
	cause           error
}

func (f *fault) Error() string {
	if f.remedy == "" {
		return f.problem
	}
	return f.problem + "; " + f.remedy
}

func (f *fault) Unwrap() error { return f.cause }

// bare returns an error of the script as a whole.
func (r *run) bare(problem, remedy string) *Error {
	return &Error{File: r.name, Problem: problem, Remedy: remedy}
}

// at returns an error at a site of the script.
func (r *run) at(s site, f *fault) *Error {
	if s.line == 0 {
		return &Error{File: r.name, Problem: f.problem, Remedy: f.remedy, Cause: f.cause}
	}
	return &Error{File: r.name, Line: s.line, Column: s.column, Source: lineOf(r.source, s.line),
		Problem: f.problem, Remedy: f.remedy, Calls: s.calls, Cause: f.cause}
}

// lineOf returns a line of a text, without its end.
func lineOf(text []byte, line int) string {
	for range line - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.ToValidUTF8(strings.TrimRight(string(first), "\r"), "?")
}

// scriptError returns what went wrong while a script was read or run.
func (r *run) scriptError(err error) *Error {
	var wrong syntax.Error
	var unresolved resolve.ErrorList
	var evaluation *starlark.EvalError
	var own *fault
	switch {
	case errors.As(err, &evaluation):
		return r.evaluationError(evaluation)
	case errors.As(err, &own):
		return r.at(own.site, own)
	case errors.As(err, &wrong):
		problem, remedy := wording(wrong.Msg)
		if remedy == "" {
			remedy = "check quotes, brackets, colons and indentation here"
		}
		return r.at(r.lineEnd(wrong), &fault{problem: problem, remedy: remedy, cause: wrong})
	case errors.As(err, &unresolved):
		return r.unresolved(unresolved)
	}
	return r.bare(err.Error(), "")
}

// lineEnd returns the site of a syntax error: a line end stands behind its line, and not
// at the start of the next as the parser has it.
func (r *run) lineEnd(e syntax.Error) site {
	s := siteAt(e.Pos)
	if strings.HasPrefix(e.Msg, "got newline") && s.column == 1 && s.line > 1 {
		s.line--
		s.column = utf8.RuneCountInString(lineOf(r.source, s.line)) + 1
	}
	return s
}

// unresolved words the names that nothing defines, and what the dialect refuses.
func (r *run) unresolved(list resolve.ErrorList) *Error {
	var all []*Error
	for _, e := range list {
		problem, remedy := wording(e.Msg)
		if name, found := strings.CutPrefix(problem, "undefined: "); found {
			problem = name + " is not defined"
			if near := model.Nearest(name, r.words().Keys()); near != "" && remedy == "" {
				remedy = "did you mean " + near + "?"
			}
			if remedy == "" {
				remedy = "define it above, or check its spelling"
			}
		}
		all = append(all, r.at(siteAt(e.Pos), &fault{problem: problem, remedy: remedy, cause: e}))
	}
	all[0].More = all[1:]
	return all[0]
}

// evaluationError words an error of a running script.
func (r *run) evaluationError(e *starlark.EvalError) *Error {
	where := r.siteOf(e.CallStack)
	var own *fault
	var nested *Error
	switch {
	case r.halted != "":
		return r.at(where, &fault{problem: r.halted, remedy: "make its loops shorter, or raise the limit of steps"})
	case errors.As(e, &nested):
		return nested
	case errors.As(e, &own):
		if own.site.line != 0 {
			return r.at(own.site, own)
		}
		if where.call != nil && (own.arg != "" || own.index > 0) {
			where = where.argument(own.arg, own.index)
		}
		return r.at(where, own)
	}
	problem, remedy := wording(e.Msg)
	return r.at(where, &fault{problem: problem, remedy: remedy})
}

// hint is the form of a suggestion in the messages of the interpreter.
var hint = regexp.MustCompile(` \((did you mean [^?]*\?)\)$`)

// wording divides a message of the interpreter into problem and remedy.
func wording(message string) (problem, remedy string) {
	if m := hint.FindStringSubmatchIndex(message); m != nil {
		return message[:m[0]], message[m[2]:m[3]]
	}
	return message, ""
}

// suggest returns "did you mean X? " if one of the words is near.
func suggest(text string, words []string) string {
	if near := model.Nearest(text, words); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

// list writes words as "a, b or c".
func list(words []string, conjunction string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
