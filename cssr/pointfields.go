package cssr

import (
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

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
	{"bidirectional", func(pt *Point) string { return unlessNo(pt.Choices.Bidirectional) },
		func(pt *Point, s span) (err error) { pt.Choices.Bidirectional, err = parseYesNo(s); return }},
	{"backward", printBackward, parseBackward},
	{"partition", func(pt *Point) string { return joined(pt.Choices.Partition, strconv.Itoa) },
		func(pt *Point, s span) (err error) { pt.Choices.Partition, err = parseList(s, parseCount); return }},
	{"recompute", func(pt *Point) string { return joined(pt.Choices.Recompute, network.Recompute.String) },
		func(pt *Point, s span) (err error) { pt.Choices.Recompute, err = parseList(s, parseRecompute); return }},
	{"micro-batch-size", func(pt *Point) string { return unlessZero(pt.Choices.MicroBatchSize) },
		func(pt *Point, s span) (err error) { pt.Choices.MicroBatchSize, err = parseCount(s); return }},
	{"vocabulary", func(pt *Point) string { return pt.Choices.Vocabulary },
		func(pt *Point, s span) (err error) { pt.Choices.Vocabulary, err = parseWord(s, vocabularies); return }},
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

var vocabularies = []string{string(config.VocabularyNone), string(config.VocabularyStage), string(config.VocabularyPasses)}

var recomputes = []string{network.RecomputeNone.String(), network.RecomputeSelective.String(), network.RecomputeFull.String()}

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
