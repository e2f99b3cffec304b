package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FileError reports where and why a plan file, or another document, cannot be read.
type FileError struct {
	Document     string // what is read, such as network; "" is a plan file
	Line, Column int    // from 1; the column counts characters
	Path         string // of the value, such as problem.stages[3].forward; "" at the top
	Reason       string
	Err          error // what the reason says, if it came from elsewhere, else nil
}

func (e *FileError) Error() string {
	where := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	if e.Path != "" {
		where += " (" + e.Path + ")"
	}
	document := "plan file"
	if e.Document != "" {
		document = e.Document
	}
	return document + ", " + where + ": " + e.Reason
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// jsonReader reads JSON value by value and refuses what encoding/json lets
// pass: keys given twice, keys in another case, invalid UTF-8. Its strings share
// the memory of text. The caller drives it, so that the depth of its recursion
// and the size of what it allocates follow from what the caller expects. All
// errors are *FileError.
type jsonReader struct {
	document string // see FileError
	text     string
	pos      int
	path     []pathStep
	fields   map[reflect.Type][]jsonField // see fieldsOf
}

// pathStep is a key, or an index if the key is "".
type pathStep struct {
	key   string
	index int
}

func (s pathStep) isIndex() bool { return s.key == "" }

// steps returns a path of keys.
func steps(keys ...string) []pathStep {
	path := make([]pathStep, len(keys))
	for i, key := range keys {
		path[i].key = key
	}
	return path
}

// shownKey returns a key as paths show it.
func shownKey(key string) string {
	if !isShortLine(key) {
		return fmt.Sprintf("%.60q", key)
	}
	return key
}

// fail returns an error at an offset of the text.
func (r *jsonReader) fail(at int, format string, args ...any) error {
	var path strings.Builder
	for i, s := range r.path {
		switch {
		case s.isIndex():
			fmt.Fprintf(&path, "[%d]", s.index)
		case i > 0:
			path.WriteString("." + shownKey(s.key))
		default:
			path.WriteString(shownKey(s.key))
		}
	}
	before := r.text[:min(at, len(r.text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &FileError{
		Document: r.document,
		Line:     1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line),
		Path: path.String(), Reason: fmt.Sprintf(format, args...),
	}
}

// failAt returns an error at the value to which a path leads from the value at
// an offset, or as far on the way as there are values.
func (r *jsonReader) failAt(at int, path []pathStep, format string, args ...any) error {
	r.pos = at
	for _, step := range path {
		if !r.enter(step) {
			break
		}
	}
	return r.fail(r.pos, format, args...)
}

// enter moves from a value to a member or element of it; false if there is none.
// The values on the way have been read before.
func (r *jsonReader) enter(step pathStep) bool {
	start, depth := r.pos, len(r.path)
	visit := func(found bool) error {
		if found {
			r.next()
			return errFound
		}
		return r.skip()
	}
	var err error
	if step.isIndex() {
		err = r.array(func(i int) error { return visit(i == step.index) })
	} else {
		err = r.object(func(key string, _ int) error { return visit(key == step.key) })
	}
	if err != errFound {
		r.pos, r.path = start, r.path[:depth]
	}
	return err == errFound
}

// cutOff is the reason for a file that ends too early.
const cutOff = "the file is cut off"

// errFound ends the search for a value.
var errFound = errors.New("found")

// expected returns an error at the next value that says what it should be.
func (r *jsonReader) expected(what string) error {
	switch c := r.next(); {
	case c == 0 && r.pos >= len(r.text):
		return r.fail(r.pos, cutOff)
	case c == '"':
		return r.fail(r.pos, "a string stands where %s is expected", what)
	case c == '{':
		return r.fail(r.pos, "an object stands where %s is expected", what)
	case c == '[':
		return r.fail(r.pos, "a list stands where %s is expected", what)
	default:
		token := r.text[r.pos:]
		if end := strings.IndexAny(token, ",:]} \t\r\n\""); end > 0 {
			token = token[:end]
		}
		return r.fail(r.pos, "%.20q stands where %s is expected", token, what)
	}
}

// next skips white space and returns the byte after it, 0 at the end.
func (r *jsonReader) next() byte {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// accept moves over c if it comes next.
func (r *jsonReader) accept(c byte) bool {
	if r.next() != c {
		return false
	}
	r.pos++
	return true
}

// object reads an object. Member is called for each key with the reader at its
// value, which it must consume.
func (r *jsonReader) object(member func(key string, at int) error) error {
	if !r.accept('{') {
		return r.expected("an object")
	}
	seen := map[string]bool{}
	for !r.accept('}') {
		if len(seen) > 0 && !r.accept(',') {
			return r.expected("a comma or the end of the object")
		}
		r.next()
		at := r.pos
		key, err := r.string()
		if err != nil {
			return err
		}
		if seen[key] {
			return r.fail(at, "key %.60q is given twice", key)
		}
		seen[key] = true
		if !r.accept(':') {
			return r.expected("a colon")
		}
		r.path = append(r.path, pathStep{key: key})
		if err := member(key, at); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	return nil
}

// array reads a list. Element is called for each element with the reader at its
// value, which it must consume.
func (r *jsonReader) array(element func(i int) error) error {
	if !r.accept('[') {
		return r.expected("a list")
	}
	r.path = append(r.path, pathStep{})
	for i := 0; !r.accept(']'); i++ {
		if i > 0 && !r.accept(',') {
			return r.expected("a comma or the end of the list")
		}
		r.path[len(r.path)-1].index = i
		if err := element(i); err != nil {
			return err
		}
	}
	r.path = r.path[:len(r.path)-1]
	return nil
}

// string reads a string. Without escapes it costs no allocation.
func (r *jsonReader) string() (string, error) {
	if r.next() != '"' {
		return "", r.expected("a string")
	}
	start, escaped := r.pos, false
	if !r.skipString(&escaped) {
		return "", r.fail(len(r.text), cutOff)
	}
	raw := r.text[start:r.pos]
	if err := r.checkString(start, raw); err != nil {
		return "", err
	}
	if !escaped {
		return raw[1 : len(raw)-1], nil
	}
	var text string
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		return "", r.fail(start, "the string has an invalid escape")
	}
	return text, nil
}

func (r *jsonReader) checkString(start int, raw string) error {
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c < ' ' {
			return r.fail(start+i, "a string holds a control character; write it as \\u%04x", c)
		}
	}
	if !utf8.ValidString(raw) {
		return r.fail(start, "the string is not valid UTF-8")
	}
	return nil
}

// skipString moves over the string that starts at pos; false if it does not end.
func (r *jsonReader) skipString(escaped *bool) bool {
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '"':
			r.pos++
			return true
		case '\\':
			*escaped = true
			r.pos++
		}
	}
	return false
}

// integer reads a whole number in plain digits.
func (r *jsonReader) integer() (int64, error) {
	return number(r, "a whole number", strconv.ParseInt)
}

// natural reads a whole number from 0.
func (r *jsonReader) natural() (uint64, error) {
	return number(r, "a whole number from 0", strconv.ParseUint)
}

func number[T int64 | uint64](r *jsonReader, what string, parse func(string, int, int) (T, error)) (T, error) {
	r.next()
	end := r.pos
	for end < len(r.text) && (isDigit(r.text[end]) || r.text[end] == '-') {
		end++
	}
	token := r.text[r.pos:end]
	if end < len(r.text) && strings.IndexByte(".eE+", r.text[end]) >= 0 {
		return 0, r.expected(what + " without point or exponent")
	}
	n, err := parse(token, 10, 64)
	if err != nil || (n != 0 && strings.TrimLeft(token, "-")[0] == '0') || (n == 0 && token != "0") {
		return 0, r.expected(what)
	}
	r.pos = end
	return n, nil
}

// word moves over a bare word such as null if it comes next.
func (r *jsonReader) word(w string) bool {
	r.next()
	if !strings.HasPrefix(r.text[r.pos:], w) {
		return false
	}
	r.pos += len(w)
	return true
}

// skip moves over a value without testing more than that its brackets and
// strings close. Who skips a value must read it later, or refuse it.
func (r *jsonReader) skip() error {
	start, depth, escaped := r.pos, 0, false
	for {
		switch r.next() {
		case 0:
			return r.fail(len(r.text), cutOff)
		case '"':
			if !r.skipString(&escaped) {
				return r.fail(len(r.text), cutOff)
			}
		case '{', '[':
			depth++
			r.pos++
		case '}', ']':
			depth--
			r.pos++
		case ',', ':':
			if depth == 0 {
				return r.expected("a value")
			}
			r.pos++
		default:
			for r.pos < len(r.text) && strings.IndexByte("{}[],:\" \t\r\n", r.text[r.pos]) < 0 {
				r.pos++
			}
		}
		if depth < 0 {
			return r.fail(start, "a value is missing")
		}
		if depth == 0 {
			return nil
		}
	}
}

// end tests that only white space remains.
func (r *jsonReader) end() error {
	if r.next(); r.pos < len(r.text) {
		return r.expected("the end of the file")
	}
	return nil
}
