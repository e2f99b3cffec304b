package config

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxShownRunes is how much of a foreign text a message repeats.
const maxShownRunes = 40

// shorten cuts text to what a message may repeat.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxShownRunes {
		return text
	}
	return string([]rune(text)[:maxShownRunes]) + "..."
}

// quote returns text shortened, in quotes, with control characters escaped.
func quote(text string) string { return strconv.Quote(shorten(text)) }

// keyName returns a key as paths show it.
func keyName(key string) string {
	if key == "" || strings.ContainsFunc(key, unprintable) {
		return quote(key)
	}
	return shorten(key)
}

// describe names what stands at node.
func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode && len(node.Content) == 0:
		return "an empty list"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Tag == "!!null":
		return "none"
	case node.Tag == "!!int" || node.Tag == "!!float" || node.Tag == "!!bool":
		return shorten(node.Value)
	}
	return quote(node.Value)
}

// plural returns "1 stage", "2 stages", "3 micro-batches".
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return strconv.Itoa(n) + " " + noun + "es"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// alternatives returns "a", "a or b", "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// didYouMean returns a question about the nearest of the words when one of them is
// near enough to text to be meant, one slip in three letters, else the remedy. Ties
// go to the first.
func didYouMean(text string, words []string, remedy string) string {
	best, nearest := 1+min(3, utf8.RuneCountInString(text)/3), ""
	for _, w := range words {
		if utf8.RuneCountInString(text) > 2*len(w)+2 {
			continue
		}
		if distance := editDistance([]rune(text), []rune(w)); distance < best {
			best, nearest = distance, w
		}
	}
	if nearest == "" {
		return remedy
	}
	return "did you mean " + nearest + "?"
}

// editDistance returns how many insertions, deletions, substitutions and swaps of
// neighbours turn a into b (Damerau, 1964; the restricted form, in which no text is
// edited twice). O(len(a)·len(b)).
func editDistance(a, b []rune) int {
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
