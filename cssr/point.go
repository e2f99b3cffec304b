package cssr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// Point is a schedule of the space: what shapes the problem, and how its actors
// work through it. [Build] applies the choices, [Policy.Rule] the policy.
type Point struct {
	Choices Choices
	Policy  Policy
}

// String writes the point in one line, such as
//
//	placement=v chunks=2 backward=split types=I>F>W in-flight=8,6,4,2 weights=fill
//
// What is as by default is left out; "*" is the point with nothing else.
// [ParsePoint] is the inverse for every point that passes Check.
func (pt *Point) String() string {
	var words []string
	for _, f := range pointFields {
		if text := f.print(pt); text != "" {
			words = append(words, f.key+"="+text)
		}
		if f.key == keyTypes {
			for _, e := range pt.Policy.Exceptions {
				words = append(words, typesKey(e.Actor, e.Phase)+"="+strings.Join(e.Types, ">"))
			}
		}
	}
	if len(words) == 0 {
		return "*"
	}
	return strings.Join(words, " ")
}

// Check tests that the point is sound in itself, whatever problem it is for.
// Error: *PolicyError.
func (pt *Point) Check() error {
	c := &pt.Choices
	switch {
	case c.Placement != "" && !slices.Contains(placements, c.Placement):
		return &PolicyError{"placement", fmt.Sprintf("%.60q is not known", c.Placement), "use " + wordList(placements)}
	case c.SplitStages < 0:
		return &PolicyError{"chunks", fmt.Sprintf("%d is out of range", c.SplitStages), "write a number from 1 up"}
	}
	return pt.Policy.check()
}

// keyTypes is the key of the priority of kinds.
const keyTypes = "types"

// typesKey returns the key of the priority of kinds for an actor in a phase.
func typesKey(actor int, phase Phase) string {
	key := keyTypes
	if actor != AnyActor {
		key += "@" + strconv.Itoa(actor)
	}
	if phase != AnyPhase {
		key += "." + phase.String()
	}
	return key
}

// pointField is a part of a Point in its text form.
type pointField struct {
	key   string
	print func(*Point) string // "" if as by default
	parse func(*Point, span) error
}

// pointFields lists the parts in the order in which they print: the choices, then
// the policy.
var pointFields = []pointField{
	{"placement", func(pt *Point) string { return pt.Choices.Placement },
		func(pt *Point, s span) (err error) { pt.Choices.Placement, err = parseWord(s, placements); return }},
	{"chunks", func(pt *Point) string { return unlessZero(pt.Choices.SplitStages) },
		func(pt *Point, s span) (err error) { pt.Choices.SplitStages, err = parseCount(s); return }},
	{"backward", printBackward, parseBackward},
	{"objective", printObjective, parseObjective},
	{keyTypes, func(pt *Point) string { return strings.Join(pt.Policy.Types, ">") },
		func(pt *Point, s span) (err error) { pt.Policy.Types, err = parseTypes(s); return }},
	{"traversal", func(pt *Point) string { return unlessFirst(traversalNames[:], pt.Policy.Traversal) },
		func(pt *Point, s span) (err error) {
			pt.Policy.Traversal, err = parseName[Traversal](s, traversalNames[:])
			return
		}},
	{"group", func(pt *Point) string { return unlessZero(pt.Policy.Group) },
		func(pt *Point, s span) (err error) { pt.Policy.Group, err = parseCount(s); return }},
	{"in-flight", func(pt *Point) string { return joined(pt.Policy.InFlight, strconv.Itoa) },
		func(pt *Point, s span) (err error) { pt.Policy.InFlight, err = parseList(s, parseCount); return }},
	{"memory", func(pt *Point) string { return joined(pt.Policy.Memory, Share.String) },
		func(pt *Point, s span) (err error) { pt.Policy.Memory, err = parseList(s, parseShare); return }},
	{"patience", func(pt *Point) string { return joined(pt.Policy.Patience, Wait.String) },
		func(pt *Point, s span) (err error) { pt.Policy.Patience, err = parseList(s, parseWait); return }},
	{"weights", func(pt *Point) string { return pt.Policy.Weights.text() },
		func(pt *Point, s span) (err error) { pt.Policy.Weights, err = parseWeights(s); return }},
	{"fuse", func(pt *Point) string { return joined(pt.Policy.Fuse, yesNo) },
		func(pt *Point, s span) (err error) { pt.Policy.Fuse, err = parseList(s, parseYesNo); return }},
}

var placements = []string{string(config.Linear), string(config.Loop), string(config.Vee)}

// modeNames lists the modes of a backward by name.
var modeNames = []string{model.Split: "split", model.Fused: "fused", model.Auto: "auto"}

func printBackward(pt *Point) string {
	if pt.Choices.Backward == nil {
		return ""
	}
	return pt.Choices.Backward.String()
}

func printObjective(pt *Point) string {
	if pt.Choices.Objective == nil {
		return ""
	}
	return pt.Choices.Objective.String()
}

// String writes the share as in memory=80%.
func (s Share) String() string { return strconv.FormatInt(s.Number, 10) + s.Unit }

// String writes the wait as in patience=2,W:8.
func (w Wait) String() string {
	if w.Kind == "" {
		return strconv.Itoa(w.Eighths)
	}
	return w.Kind + ":" + strconv.Itoa(w.Eighths)
}

// text writes the policy as in weights=deferred:0,1,2,3; "" for the default.
func (w Weights) text() string {
	text := unlessFirst(weightNames[:], w.Mode)
	if len(w.Most) > 0 {
		text += ":" + joined(w.Most, strconv.Itoa)
	}
	return text
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func unlessFirst[T ~uint8](names []string, v T) string {
	if v == 0 {
		return ""
	}
	return nameAt(names, v)
}

// joined writes a list with commas.
func joined[T any](list []T, text func(T) string) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = text(v)
	}
	return strings.Join(words, ",")
}

// wordList writes words as "a, b or c".
func wordList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
