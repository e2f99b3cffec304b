package cssr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flexpipe/flexpipe/model"
)

// PointError reports a text that writes no Point.
type PointError struct {
	Token   string // the part of the text that is wrong
	Column  int    // where it starts, in characters from 1
	Problem string
	Remedy  string
}

func (e *PointError) Error() string {
	return fmt.Sprintf("column %d: %.60q %s; %s", e.Column, e.Token, e.Problem, e.Remedy)
}

// span is a part of the text of a point.
type span struct {
	text   string
	column int // of its first character, from 1
}

// refuse returns the error that the span is wrong.
func (s span) refuse(remedy, problem string, args ...any) error {
	return &PointError{s.text, s.column, fmt.Sprintf(problem, args...), remedy}
}

// cut divides the span at the first separator; without one, the rest is at its end.
func (s span) cut(sep string) (first, rest span, found bool) {
	a, b, found := strings.Cut(s.text, sep)
	skip := utf8.RuneCountInString(a)
	if found {
		skip += utf8.RuneCountInString(sep)
	}
	return span{a, s.column}, span{b, s.column + skip}, found
}

// split divides the span at all separators.
func (s span) split(sep string) []span {
	var parts []span
	for {
		first, rest, found := s.cut(sep)
		if parts = append(parts, first); !found {
			return parts
		}
		s = rest
	}
}

// ParsePoint reads the text form of a point: words of the form key=value between
// spaces, in any order, each key once; or "*" for the point with all as by default.
//
//	placement=linear|loop|v       chunks=2              (stages made of each stage)
//	backward=split|fused|auto     objective=makespan|span
//	types=I>F>W                   types@3=...           (for device 3 only)
//	types.warm-up=F>B             types@3.cool-down=... (or steady)
//	traversal=breadth-first|depth-first|wave            group=4
//	in-flight=8,6,4,2             memory=80%  memory=24GB,16GB
//	patience=2,W:8                (eighths; for all kinds but W, and for W)
//	weights=by-type|at-once|fill|deferred|deferred:0,1,2,3
//	fuse=yes,no                   (by stage)
//
// A list by device or stage may have one entry for all. The point passes Check.
// Errors are *PointError.
func ParsePoint(text string) (Point, error) {
	words := fields(text)
	if len(words) == 0 {
		return Point{}, span{text, 1}.refuse(`write "*" for the point with all as by default`, "is empty")
	}
	if len(words) == 1 && words[0].text == "*" {
		return Point{}, nil
	}
	var pt Point
	seen := map[string]bool{}
	for _, word := range words {
		key, value, found := word.cut("=")
		switch {
		case !found:
			return Point{}, word.refuse(keyRemedy(word.text), "is not of the form key=value")
		case seen[key.text]:
			return Point{}, key.refuse("write it once", "stands twice")
		}
		seen[key.text] = true
		if err := pt.set(key, value); err != nil {
			return Point{}, err
		}
		if err := pt.Check(); err != nil {
			policy := err.(*PolicyError) // the only error of Check
			return Point{}, word.refuse(policy.Remedy, "is wrong: %s", policy.Problem)
		}
	}
	return pt, nil
}

// fields divides a text at spaces.
func fields(text string) []span {
	var words []span
	for _, part := range (span{text, 1}).split(" ") {
		if part.text != "" {
			words = append(words, part)
		}
	}
	return words
}

// set parses the value of a key.
func (pt *Point) set(key, value span) error {
	if value.text == "" {
		return value.refuse("write a value behind the =, or leave "+key.text+" out", "is no value of %s", key.text)
	}
	for _, f := range pointFields {
		if f.key == key.text {
			return f.parse(pt, value)
		}
	}
	name, phase, hasPhase := key.cut(".")
	name, actor, hasActor := name.cut("@")
	if name.text != keyTypes || !hasPhase && !hasActor {
		return key.refuse(keyRemedy(key.text), "is no key")
	}
	e := Exception{Actor: AnyActor}
	var err error
	if hasActor {
		if e.Actor, err = parseCount(actor); err != nil {
			return err
		}
	}
	if hasPhase {
		index, err := parseIndex(phase, phaseNames[WarmUp:])
		if err != nil {
			return err
		}
		e.Phase = WarmUp + Phase(index)
	}
	if e.Types, err = parseTypes(value); err != nil {
		return err
	}
	pt.Policy.Exceptions = append(pt.Policy.Exceptions, e)
	return nil
}

// keyRemedy says what keys there are.
func keyRemedy(text string) string {
	var keys []string
	for _, f := range pointFields {
		keys = append(keys, f.key)
	}
	word, _, _ := strings.Cut(text, "=")
	return suggest(word, keys) + "the keys are " + strings.Join(keys, ", ") + "; types may have an actor and a phase, as in types@0.warm-up"
}

// suggest returns "did you mean ...? " if a word is near.
func suggest(text string, words []string) string {
	if near := model.Nearest(text, words); near != "" {
		return fmt.Sprintf("did you mean %s? ", near)
	}
	return ""
}

// parseIndex returns the place of a word in a list.
func parseIndex(s span, words []string) (int, error) {
	i := slices.Index(words, s.text)
	if i < 0 {
		return 0, s.refuse(suggest(s.text, words)+"use "+wordList(words), "is not known")
	}
	return i, nil
}

func parseName[T ~uint8](s span, names []string) (T, error) {
	i, err := parseIndex(s, names)
	return T(i), err
}

func parseWord(s span, words []string) (string, error) {
	i, err := parseIndex(s, words)
	if err != nil {
		return "", err
	}
	return words[i], nil
}

func parseBackward(pt *Point, s span) error {
	mode, err := parseName[model.Mode](s, modeNames)
	pt.Choices.Backward = &mode
	return err
}

func parseObjective(pt *Point, s span) error {
	objective, known := model.ParseObjective(s.text)
	if !known {
		words := []string{model.Makespan.String(), model.Span.String()}
		return s.refuse(suggest(s.text, words)+"use "+wordList(words), "is not known")
	}
	pt.Choices.Objective = &objective
	return nil
}

// parseCount reads a whole number from 0 to maxCount.
func parseCount(s span) (int, error) {
	n, err := strconv.ParseUint(s.text, 10, 64)
	if err != nil || n > maxCount {
		return 0, s.refuse("write a whole number from 0 to 2^30", "is no such number")
	}
	return int(n), nil
}

// parseTypes reads a priority of kinds, such as I>F>W.
func parseTypes(s span) ([]string, error) {
	var types []string
	for _, part := range s.split(">") {
		if !isKindName(part.text) {
			return nil, part.refuse("list kinds by letter or name, the most urgent first, such as I>F>W", "is no name of a kind")
		}
		types = append(types, part.text)
	}
	return types, nil
}

// parseList reads entries between commas.
func parseList[T any](s span, entry func(span) (T, error)) ([]T, error) {
	var list []T
	for _, part := range s.split(",") {
		v, err := entry(part)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// parseShare reads an amount of memory, such as 80% or 24GB.
func parseShare(s span) (Share, error) {
	digits := strings.TrimLeft(s.text, "0123456789")
	share := Share{Unit: digits}
	number, err := strconv.ParseInt(strings.TrimSuffix(s.text, digits), 10, 64)
	if share.Number = number; err != nil {
		return Share{}, s.refuse(shareRemedy, "is no amount of memory")
	}
	if _, known := shareUnits[share.Unit]; !known {
		return Share{}, s.refuse(shareRemedy, "is no amount of memory")
	}
	return share, nil
}

// parseWait reads a patience, such as 2 or W:8.
func parseWait(s span) (Wait, error) {
	var w Wait
	if kind, rest, found := s.cut(":"); found {
		if !isKindName(kind.text) {
			return Wait{}, kind.refuse("name the kind by letter or name, such as W:8", "is no name of a kind")
		}
		w.Kind, s = kind.text, rest
	}
	var err error
	if w.Eighths, err = parseCount(s); err == nil && w.Eighths > maxPatience {
		err = s.refuse(fmt.Sprintf("write at most %d, in eighths of a duration", maxPatience), "is too long")
	}
	return w, err
}

// parseWeights reads a policy of weight gradients, such as deferred:2.
func parseWeights(s span) (Weights, error) {
	mode, rest, bounded := s.cut(":")
	var w Weights
	var err error
	if w.Mode, err = parseName[WeightMode](mode, weightNames[:]); err != nil || !bounded {
		return w, err
	}
	if w.Mode != Deferred {
		return w, s.refuse("use deferred:"+rest.text+", or leave the numbers out", "has numbers that only deferred takes")
	}
	w.Most, err = parseList(rest, parseCount)
	return w, err
}

func parseYesNo(s span) (bool, error) {
	i, err := parseIndex(s, []string{yesNo(false), yesNo(true)})
	return i == 1, err
}
