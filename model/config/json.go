package config

import (
	"encoding/json"
	"regexp"
	"strconv"
	"unicode/utf16"
)

// jsonEscape matches a surrogate pair in a JSON string, or any other escape.
var jsonEscape = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\.`)

// unescapeJSON replaces the two escapes of JSON that the YAML parser does not know by
// what they write: a slash, and a character beyond 16 bits as a surrogate pair. Text
// that is not JSON is returned as it is.
func unescapeJSON(data []byte) []byte {
	if !json.Valid(data) {
		return data
	}
	return jsonEscape.ReplaceAllFunc(data, func(escape []byte) []byte {
		switch {
		case string(escape) == `\/`:
			return escape[1:]
		case len(escape) == 2:
			return escape
		}
		high, _ := strconv.ParseUint(string(escape[2:6]), 16, 16)
		low, _ := strconv.ParseUint(string(escape[8:12]), 16, 16)
		return []byte(string(utf16.DecodeRune(rune(high), rune(low))))
	})
}
