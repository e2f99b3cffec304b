package cssr_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// drawPoint draws any point that passes Check.
func drawPoint(t *rapid.T) cssr.Point {
	var pt cssr.Point
	pt.Choices.Placement = rapid.SampledFrom([]string{"", "linear", "loop", "v"}).Draw(t, "placement")
	pt.Choices.SplitStages = rapid.IntRange(0, 9).Draw(t, "chunks")
	if rapid.Bool().Draw(t, "chooses backward") {
		pt.Choices.Backward = mode(rapid.SampledFrom([]model.Mode{model.Split, model.Fused, model.Auto}).Draw(t, "backward"))
	}
	if rapid.Bool().Draw(t, "chooses objective") {
		objective := rapid.SampledFrom([]model.Objective{model.Makespan, model.Span}).Draw(t, "objective")
		pt.Choices.Objective = &objective
	}
	pt.Choices.Partition = oneOrAll(t, "partition", 6, rapid.IntRange(0, 99))
	pt.Choices.Recompute = oneOrAll(t, "recompute", 6, rapid.SampledFrom([]network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}))
	pt.Choices.MicroBatchSize = rapid.IntRange(0, 8).Draw(t, "micro-batch size")
	pt.Choices.Vocabulary = rapid.SampledFrom([]string{"", "none", "stage", "passes"}).Draw(t, "vocabulary")
	pt.Policy = drawPolicy(t, 5, 6, []string{"all_reduce", "X-1", "recompute"})
	return pt
}

// drawPolicy draws a policy for so many devices and stages; further kinds may stand
// in its priorities.
func drawPolicy(t *rapid.T, devices, stages int, further []string) cssr.Policy {
	kinds := append([]string{"F", "I", "backward_weight", "B", "SEND_F", "send_backward"}, further...)
	types := func(least int) *rapid.Generator[[]string] {
		return rapid.Custom(func(t *rapid.T) []string {
			return rapid.Permutation(kinds).Draw(t, "kinds")[:rapid.IntRange(least, len(kinds)).Draw(t, "listed")]
		})
	}
	count := rapid.IntRange(0, 5)
	pt := cssr.Policy{
		Traversal: rapid.SampledFrom([]cssr.Traversal{cssr.BreadthFirst, cssr.DepthFirst, cssr.Wave}).Draw(t, "traversal"),
		Group:     count.Draw(t, "group"),
		InFlight:  oneOrAll(t, "in-flight", devices, count),
		Fuse:      oneOrAll(t, "fuse", stages, rapid.Bool()),
		Memory: oneOrAll(t, "memory", devices, rapid.Custom(func(t *rapid.T) cssr.Share {
			return cssr.Share{Number: int64(rapid.IntRange(60, 100).Draw(t, "percent")), Unit: rapid.SampledFrom([]string{"%", ""}).Draw(t, "unit")}
		})),
		Weights: cssr.Weights{Mode: rapid.SampledFrom([]cssr.WeightMode{cssr.WeightsByType, cssr.AtOnce, cssr.Deferred, cssr.Fill}).Draw(t, "weights")},
	}
	if pt.Types = types(0).Draw(t, "types"); len(pt.Types) == 0 {
		pt.Types = nil
	}
	if pt.Weights.Mode == cssr.Deferred {
		pt.Weights.Most = oneOrAll(t, "outstanding", devices, count)
	}
	for _, kind := range append([]string{""}, kinds...) {
		if rapid.IntRange(0, 9).Draw(t, "waits") == 0 {
			pt.Patience = append(pt.Patience, cssr.Wait{Kind: kind, Eighths: rapid.IntRange(0, 64).Draw(t, "eighths")})
		}
	}
	for actor := cssr.AnyActor; actor < devices; actor++ {
		for _, phase := range []cssr.Phase{cssr.AnyPhase, cssr.WarmUp, cssr.Steady, cssr.CoolDown} {
			if (actor != cssr.AnyActor || phase != cssr.AnyPhase) && rapid.IntRange(0, 7).Draw(t, "exception") == 0 {
				pt.Exceptions = append(pt.Exceptions, cssr.Exception{Actor: actor, Phase: phase, Types: types(1).Draw(t, "types")})
			}
		}
	}
	return pt
}

// oneOrAll draws a list of no entry, of one, or of n.
func oneOrAll[T any](t *rapid.T, label string, n int, entry *rapid.Generator[T]) []T {
	size := rapid.SampledFrom([]int{0, 1, n}).Draw(t, label+" length")
	if size == 0 {
		return nil
	}
	return rapid.SliceOfN(entry, size, size).Draw(t, label)
}

// TestPointTextIsExact demands that ParsePoint undoes String.
func TestPointTextIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pt := drawPoint(t)
		text := pt.String()
		if err := pt.Check(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		back, err := cssr.ParsePoint(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(back, pt) {
			t.Fatalf("%s: got %+v, want %+v", text, back, pt)
		}
	})
}

// TestPointTexts fixes the form of the text.
func TestPointTexts(t *testing.T) {
	for text, want := range map[string]string{
		"*":                       "*",
		" group=0   chunks=0 ":    "*",
		"weights=by-type":         "*",
		"group=4 placement=v":     "placement=v group=4",
		"types=forward>I group=1": "types=forward>I group=1",
		"types@3.cool-down=W types.warm-up=F>B types@0=I": "types@3.cool-down=W types.warm-up=F>B types@0=I",
		"in-flight=8,6,4,2 memory=80%,24GiB,3,0B":         "in-flight=8,6,4,2 memory=80%,24GiB,3,0B",
		"patience=2,W:8 weights=deferred:0,1 fuse=yes,no": "patience=2,W:8 weights=deferred:0,1 fuse=yes,no",
		"objective=span backward=auto traversal=wave":     "backward=auto objective=span traversal=wave",
	} {
		pt, err := cssr.ParsePoint(text)
		if err != nil || pt.String() != want {
			t.Errorf("%q: %s, error %v, want %s", text, pt.String(), err, want)
		}
	}
}

// TestPointErrors demands token, column and what would be legal.
func TestPointErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		token  string
		words  string
	}{
		{"", 1, "", "write \"*\""},
		{"group=4 placment=v", 9, "placment", "did you mean placement?"},
		{"placement=loop group", 16, "group", "key=value"},
		{"placement=looop", 11, "looop", "did you mean loop? use linear, loop or v"},
		{"group=4 group=5", 9, "group", "write it once"},
		{"group=-1", 7, "-1", "whole number"},
		{"group=", 7, "", "leave group out"},
		{"in-flight=8,x,2", 13, "x", "whole number"},
		{"types=F>>B", 9, "", "I>F>W"},
		{"types=F>F", 1, "types=F>F", "name each kind once"},
		{"types.warmup=F", 7, "warmup", "did you mean warm-up?"},
		{"types@x=F", 7, "x", "whole number"},
		{"types@1=F types@01=F", 11, "types@01=F", "write it once"},
		{"types=é memory=5", 7, "é", "letter or name"},
		{"memory=5XB", 8, "5XB", "KiB"},
		{"memory=101%", 1, "memory=101%", "at most 100%"},
		{"patience=W:65", 12, "65", "at most 64"},
		{"patience=W:1,W:2", 1, "patience=W:1,W:2", "once"},
		{"weights=fill:2", 9, "fill:2", "only deferred takes"},
		{"weights=defered:2", 9, "defered", "did you mean deferred?"},
		{"recompute=none,ful", 16, "ful", "did you mean full?"},
		{"vocabulary=all", 12, "all", "use none, stage or passes"},
		{"fuse=1", 6, "1", "use no or yes"},
		{"objective=spam", 11, "spam", "did you mean span?"},
		{"* group=4", 1, "*", "key=value"},
	} {
		_, err := cssr.ParsePoint(c.text)
		var wrong *cssr.PointError
		if !errors.As(err, &wrong) {
			t.Errorf("%q: error %v", c.text, err)
			continue
		}
		if wrong.Column != c.column || wrong.Token != c.token || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%q: column %d, token %q: %v", c.text, wrong.Column, wrong.Token, err)
		}
	}
}

// FuzzParsePoint reads any text. What is read prints and reads as the same point,
// and what is refused says where and what to do.
func FuzzParsePoint(f *testing.F) {
	for _, text := range []string{
		"*", "placement=v chunks=2 backward=split types=I>F>W traversal=depth-first group=4 in-flight=8,6,4,2 weights=fill",
		"types@0.warm-up=F>B types.steady=B patience=2,W:8 weights=deferred:0,1,2 memory=80%,24GB fuse=yes,no objective=span",
		"types@=F", "memory=%", "weights=deferred:", "patience=:8", "types@-1=F", "=", "é=ü",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pt, err := cssr.ParsePoint(text)
		if err != nil {
			var wrong *cssr.PointError
			if !errors.As(err, &wrong) || wrong.Column < 1 || wrong.Column > utf8.RuneCountInString(text)+1 || wrong.Problem == "" || wrong.Remedy == "" {
				t.Fatalf("%q: error %+v", text, err)
			}
			return
		}
		if err := pt.Check(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := cssr.ParsePoint(pt.String())
		if err != nil || !reflect.DeepEqual(back, pt) {
			t.Fatalf("%q prints as %q: %v", text, pt.String(), err)
		}
	})
}
