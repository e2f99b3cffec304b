package cssr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model/network"
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
	case c.MicroBatchSize < 0:
		return &PolicyError{"micro-batch-size", fmt.Sprintf("%d is out of range", c.MicroBatchSize), "write a number from 1 up"}
	case c.Vocabulary != "" && !slices.Contains(vocabularies, c.Vocabulary):
		return &PolicyError{"vocabulary", fmt.Sprintf("%.60q is not known", c.Vocabulary), "use " + wordList(vocabularies)}
	case slices.ContainsFunc(c.Partition, func(n int) bool { return n < 0 }):
		return &PolicyError{"partition", "a stage has fewer than 0 layers", "write the layers of each stage"}
	case slices.ContainsFunc(c.Recompute, func(r network.Recompute) bool { return !slices.Contains(recomputes, r.String()) }):
		return &PolicyError{"recompute", "it is not known", "use " + wordList(recomputes)}
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

func unlessNo(b bool) string {
	if !b {
		return ""
	}
	return yesNo(b)
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
