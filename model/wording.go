package model

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What stands here words messages, tables and pictures, so that all of them
// write a thing in one way.

// Plural writes a count of things: "1 stage", "2 stages", "3 micro-batches".
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Percent writes part/whole as a percentage with three digits. What is not
// nothing never prints as 0, and the text is the same on every machine. A whole
// of 0 has no parts.
func Percent(part, whole int64) string {
	if part == 0 || whole == 0 {
		return "0%"
	}
	hundredfold := new(big.Rat).SetFrac(big.NewInt(part), big.NewInt(whole))
	hundredfold.Mul(hundredfold, big.NewRat(100, 1))
	text := ""
	for decimals := 2; decimals >= 0; decimals-- {
		text = hundredfold.FloatString(decimals)
		if len(strings.Trim(text, "-")) <= len("0.00") {
			break
		}
	}
	switch text {
	case "0.00":
		return "<0.01%"
	case "-0.00":
		return ">-0.01%"
	}
	return text + "%"
}

// Nearest returns the one of the words that is near enough to a misspelt one to
// be meant, one slip in three letters and three at most; "" if none is. Ties go
// to the first.
func Nearest(text string, words []string) string {
	letters := utf8.RuneCountInString(text)
	nearest, least := "", 1+min(3, letters/3)
	for _, w := range words {
		if letters > 2*len(w)+2 {
			continue
		}
		if d := edits([]rune(text), []rune(w)); d < least {
			nearest, least = w, d
		}
	}
	return nearest
}

// edits counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b (Damerau 1964; the restricted form, in which no text is
// edited twice). Cost O(len(a) · len(b)).
func edits(a, b []rune) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range b {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(above[j]+change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// longestLine is how many characters a name in a file may have.
const longestLine = 256

// isShortLine reports whether a name from a file is short and holds nothing that
// could disturb a terminal.
func isShortLine(text string) bool {
	return utf8.RuneCountInString(text) <= longestLine &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

const notShortLine = "the text is not a short printable line; write at most 256 characters, none of them a control character"
