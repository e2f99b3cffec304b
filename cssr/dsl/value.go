package dsl

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// Limits on a value that becomes a part of a configuration. A value of the language may
// hold itself.
const (
	maxDepth  = 32
	maxValues = 1 << 20
)

// plainValue returns a value as encoding/json writes it: numbers as decimals, in their
// shortest form.
func plainValue(v starlark.Value) (any, error) {
	left := maxValues
	return encode(v, 0, &left)
}

func encode(v starlark.Value, depth int, left *int) (any, error) {
	if *left--; depth > maxDepth || *left < 0 {
		return nil, &fault{problem: "the value is too deep or too large", remedy: "write a smaller one"}
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return string(v), nil
	case starlark.Int:
		return json.Number(v.String()), nil
	case starlark.Float:
		if f := float64(v); !math.IsInf(f, 0) && !math.IsNaN(f) {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
		}
		return nil, &fault{problem: v.String() + " is no number of a configuration", remedy: "write a finite one"}
	case *starlark.Dict:
		return encodeDict(v, depth, left)
	case starlark.Iterable:
		return encodeList(v, depth, left)
	}
	return nil, &fault{problem: article(v.Type()) + " cannot stand in a configuration", remedy: "write a number, a text, a list or a dict"}
}

func encodeList(v starlark.Iterable, depth int, left *int) (any, error) {
	entries := []any{}
	for x := range starlark.Elements(v) {
		entry, err := encode(x, depth+1, left)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func encodeDict(v *starlark.Dict, depth int, left *int) (any, error) {
	entries := map[string]any{}
	for key, x := range starlark.Entries(v) {
		name, ok := starlark.AsString(key)
		if !ok {
			return nil, &fault{problem: fmt.Sprintf("%s is not a key", key), remedy: "write keys as text"}
		}
		entry, err := encode(x, depth+1, left)
		if err != nil {
			return nil, err
		}
		entries[name] = entry
	}
	return entries, nil
}

// spread returns a value by device or stage: a single one, the entries of a list, or
// what a function of each number from 0 to n-1 returns.
func spread(thread *starlark.Thread, v starlark.Value, n int) ([]starlark.Value, error) {
	switch v := v.(type) {
	case starlark.Callable:
		values := make([]starlark.Value, n)
		for i := range values {
			x, err := starlark.Call(thread, v, starlark.Tuple{starlark.MakeInt(i)}, nil)
			if err != nil {
				return nil, err
			}
			values[i] = x
		}
		return values, nil
	case starlark.String:
		return []starlark.Value{v}, nil
	case starlark.Iterable:
		var values []starlark.Value
		for x := range starlark.Elements(v) {
			if values = append(values, x); len(values) > maxValues {
				return nil, &fault{problem: "the list is too long", remedy: "write a shorter one"}
			}
		}
		return values, nil
	}
	return []starlark.Value{v}, nil
}

// whole returns a whole number.
func whole(v starlark.Value) (int, error) {
	if i, ok := v.(starlark.Int); ok {
		if n, ok := i.Int64(); ok && n > -1<<31 && n < 1<<31 {
			return int(n), nil
		}
		return 0, &fault{problem: v.String() + " is out of range", remedy: "write a smaller number"}
	}
	return 0, &fault{problem: fmt.Sprintf("%s is not a whole number", short(v)), remedy: "write a whole number, or // to divide"}
}

// wholes is spread for whole numbers.
func wholes(thread *starlark.Thread, v starlark.Value, n int) ([]int, error) {
	values, err := spread(thread, v, n)
	if err != nil {
		return nil, err
	}
	numbers := make([]int, len(values))
	for i, x := range values {
		if numbers[i], err = whole(x); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// texts is spread for words; numbers are taken as they are written.
func texts(thread *starlark.Thread, v starlark.Value, n int) ([]string, error) {
	values, err := spread(thread, v, n)
	if err != nil {
		return nil, err
	}
	words := make([]string, len(values))
	for i, x := range values {
		switch x := x.(type) {
		case starlark.String:
			words[i] = string(x)
		case starlark.Int:
			words[i] = x.String()
		default:
			return nil, &fault{problem: fmt.Sprintf("%s is neither text nor a whole number", short(x)), remedy: "put it in quotes"}
		}
	}
	return words, nil
}

// short writes a value for a message.
func short(v starlark.Value) string {
	const most = 40
	switch v.(type) {
	case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
		text := []rune(v.String())
		if len(text) > most {
			return string(text[:most]) + "..."
		}
		return string(text)
	}
	return article(v.Type())
}

// article writes a noun behind its article.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// parameters are the parameters of a word with the variables that receive them, as
// [starlark.UnpackArgs] takes them.
type parameters []any

// unpack assigns arguments to parameters. An error stands at the argument at fault.
func unpack(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple, p parameters) error {
	err := starlark.UnpackArgs(b.Name(), args, kwargs, p...)
	if err == nil {
		return nil
	}
	problem, remedy := wording(strings.TrimPrefix(err.Error(), b.Name()+": "))
	f := &fault{problem: b.Name() + "(): " + problem, remedy: remedy}
	for i := 0; i < len(p); i += 2 {
		name := strings.TrimRight(p[i].(string), "?")
		if strings.HasPrefix(strings.ReplaceAll(problem, `"`, ""), "for parameter "+name+":") {
			f.arg, f.index = name, i/2+1
		}
	}
	if f.remedy == "" && !strings.Contains(problem, "; ") { // else an Unpack method has named it
		f.remedy = "write " + p.usage(b.Name())
	}
	for _, pair := range kwargs {
		if name, _ := starlark.AsString(pair[0]); strings.Contains(problem, "keyword argument "+strconv.Quote(name)) {
			f.arg = name
		}
	}
	return f
}

// usage writes how a word is called.
func (p parameters) usage(name string) string {
	var words []string
	for i := 0; i < len(p); i += 2 {
		word := p[i].(string)
		if optional := strings.TrimRight(word, "?"); optional != word {
			word = optional + " = ..."
		}
		words = append(words, word)
	}
	return name + "(" + strings.Join(words, ", ") + ")"
}

// of returns err as one of an argument, unless it has its place already.
func of(err error, arg string, index int) error {
	if f, ok := err.(*fault); ok && f.arg == "" && f.index == 0 && f.site.line == 0 {
		f.arg, f.index = arg, index
	}
	return err
}
