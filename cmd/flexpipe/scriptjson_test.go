package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: json FILE path value")
	}
	if got := valueIn(ts, args[0], args[1]); got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

func alike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: alike FILE path FILE path")
	}
	if a, b := valueIn(ts, args[0], args[1]), valueIn(ts, args[2], args[3]); a != b {
		ts.Fatalf("%s of %s is\n%s, and %s of %s is\n%s", args[1], args[0], a, args[3], args[2], b)
	}
}

func keys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: keys FILE path key...")
	}
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(valueIn(ts, args[0], args[1])), &object))
	got, want := slices.Sorted(maps.Keys(object)), slices.Sorted(slices.Values(args[2:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("the keys of %s are\n%v, want\n%v", args[1], got, want)
	}
}

// valueIn returns a value of a JSON file without spaces. The path "." is all of it.
func valueIn(ts *testscript.TestScript, file, path string) string {
	value := json.RawMessage(ts.ReadFile(file))
	if path != "." {
		for key := range strings.SplitSeq(path, ".") {
			value = member(ts, value, key)
		}
	}
	var compact bytes.Buffer
	ts.Check(json.Compact(&compact, value))
	return compact.String()
}

// member returns the member of an object, or the element of an array.
func member(ts *testscript.TestScript, value json.RawMessage, key string) json.RawMessage {
	if i, err := strconv.Atoi(key); err == nil {
		var list []json.RawMessage
		ts.Check(json.Unmarshal(value, &list))
		if i >= len(list) {
			ts.Fatalf("no element %d of %d", i, len(list))
		}
		return list[i]
	}
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal(value, &object))
	inner, ok := object[key]
	if !ok {
		ts.Fatalf("no member %q in %s", key, value)
	}
	return inner
}
