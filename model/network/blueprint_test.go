package network_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// blueprints are networks of every kind on stages.
var blueprints = map[string]*network.Blueprint{
	"gpt": {
		Kind: "gpt", Stacks: []network.Stack{{Layers: 2, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 16, TiedEmbedding: true}},
		MicroBatchSize: 2, DType: network.FP32, Vocabulary: "none",
		Stages: []network.Slice{{First: 0, End: 2, Recompute: network.RecomputeFull}, {First: 2, End: 4}},
	},
	"mlp": {
		Kind: "mlp", Stacks: []network.Stack{{Layers: 3, Hidden: 8, FeedForward: 12}}, MicroBatchSize: 1,
		Stages: []network.Slice{{First: 0, End: 1}, {First: 1, End: 3}},
	},
	"encoder-decoder": {
		Kind:           "encoder-decoder",
		Stacks:         []network.Stack{{Layers: 1, Hidden: 8, Sequence: 3}, {Layers: 2, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 16}},
		MicroBatchSize: 1, DType: network.FP16,
		Stages: []network.Slice{{End: 1}, {Part: 1, End: 2}, {Part: 1, First: 2, End: 4}},
	},
	"two-branch": {
		Kind:           "two-branch",
		Stacks:         []network.Stack{{Layers: 1, Hidden: 8, Sequence: 3}, {Layers: 1, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 16}},
		MicroBatchSize: 4,
		Stages:         []network.Slice{{End: 1}, {Part: 1, End: 2}, {Part: 2, End: 1}},
	},
	"joint": {
		Kind:           "two-branch",
		Stacks:         []network.Stack{{Layers: 1, Hidden: 8}, {Layers: 1, Hidden: 8}, {Layers: 1, Hidden: 4}},
		MicroBatchSize: 4,
		Stages:         []network.Slice{{End: 1}, {Part: 1, End: 1}, {Part: 2, End: 2}},
	},
	"shared": {
		Kind: "gpt", Stacks: []network.Stack{{Layers: 2, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 16}},
		MicroBatchSize: 1, Vocabulary: "stage", Shards: 2,
		Stages: []network.Slice{{End: 1}, {Part: 1, End: 1}, {Part: 1, First: 1, End: 2}, {Part: 2, End: 1}},
	},
	"passes": {
		Kind: "gpt", Stacks: []network.Stack{{Layers: 2, Hidden: 8, Heads: 2, Sequence: 4, Vocabulary: 16}},
		MicroBatchSize: 1, Vocabulary: "passes", Shards: 2,
		Stages: []network.Slice{{End: 1}, {First: 1, End: 2}},
	},
}

// TestBlueprintText holds the text to one line that reads back as the same blueprint.
func TestBlueprintText(t *testing.T) {
	for name, b := range blueprints {
		text, err := b.Encode()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.ContainsAny(text, "\n\r") {
			t.Errorf("%s: %q has several lines", name, text)
		}
		got, err := network.DecodeBlueprint(text)
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%s: %s reads back as %+v, %v", name, text, got, err)
		}
	}
	const want = `{"kind":"gpt","stacks":[{"layers":2,"hidden":8,"heads":2,"sequence":4,"vocabulary":16,"tied_embedding":true}],` +
		`"micro_batch_size":2,"dtype":"fp32","vocabulary_sharding":"none","stages":[{"part":0,"first":0,"end":2,"recompute":"full"},{"part":0,"first":2,"end":4}]}`
	if got, _ := blueprints["gpt"].Encode(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBlueprintPlace holds refusals of text to what they say and where.
func TestBlueprintPlace(t *testing.T) {
	const good = `{"kind":"mlp","stacks":[{"layers":2,"hidden":8}],"micro_batch_size":1,"dtype":"fp32","stages":[{"part":0,"first":0,"end":2}]}`
	if _, err := network.DecodeBlueprint(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, to, want string }{
		{`"hidden"`, `"width"`, `network, line 1, column 37 (stacks[0]): unknown key "width"; the keys here are layers, hidden, heads, sequence, feed_forward, vocabulary, tied_embedding`},
		{`"hidden"`, `"layers"`, `network, line 1, column 37 (stacks[0]): key "layers" is given twice`},
		{`fp32`, `int8`, `network, line 1, column 79 (dtype): unknown dtype "int8"; known are bf16, fp16, fp32`},
		{`"end":2`, `"end":"2"`, `network, line 1, column 122 (stages[0].end): a string stands where a whole number is expected`},
		{`"end":2`, `"end":2,"recompute":"some"`, `network, line 1, column 136 (stages[0].recompute): unknown recompute "some"; known are none, selective, full`},
		{`]}`, `]}}`, `network, line 1, column 126: "}" stands where the end of the file is expected`},
		{good, `[]`, `network, line 1, column 1: a list stands where an object is expected`},
	} {
		_, err := network.DecodeBlueprint(strings.Replace(good, test.from, test.to, 1))
		var place *model.FileError
		if !errors.As(err, &place) || err.Error() != test.want {
			t.Errorf("%s for %s:\ngot  %v\nwant %s", test.to, test.from, err, test.want)
		}
	}
}

// TestBlueprintRefuses holds what a blueprint cannot describe to the error that says so.
func TestBlueprintRefuses(t *testing.T) {
	for _, test := range []struct {
		of   string
		edit func(*network.Blueprint)
		want string
	}{
		{"gpt", func(b *network.Blueprint) { b.Kind = "cnn" }, `blueprint: kind is "cnn": known are gpt, mlp, encoder-decoder, two-branch`},
		{"gpt", func(b *network.Blueprint) { b.Stacks = nil }, `blueprint: stacks is a list of 0: kind gpt has 1`},
		{"joint", func(b *network.Blueprint) { b.Stacks = b.Stacks[:1] }, `blueprint: stacks is a list of 1: kind two-branch has 2 or 3`},
		{"joint", func(b *network.Blueprint) { b.Stacks[2].Layers = 1<<16 + 1 }, `blueprint: stacks[2].layers is 65537: must be at most 65536`},
		{"gpt", func(b *network.Blueprint) { b.Stacks[0].Vocabulary = 0 }, `gpt: vocabulary is 0: must be at least 1`},
		{"gpt", func(b *network.Blueprint) { b.MicroBatchSize = 0 }, `gpt: micro_batch_size is 0: must be at least 1`},
		{"gpt", func(b *network.Blueprint) { b.DType = 9 }, `gpt: dtype is DType(9): known are bf16, fp16, fp32`},
		{"mlp", func(b *network.Blueprint) { b.Stacks[0].Heads = 1 }, `mlp: heads is 1: an mlp has no attention; leave it out`},
		{"mlp", func(b *network.Blueprint) { b.Vocabulary, b.Shards = "passes", 2 }, `blueprint: vocabulary_sharding is passes: passes over the vocabulary are known for kind gpt only`},
		{"shared", func(b *network.Blueprint) { b.Shards = 0 }, `blueprint: shards is 0: must be the number of devices that share the vocabulary, at least 1`},
		{"gpt", func(b *network.Blueprint) { b.Shards = 2 }, `blueprint: shards is 2: must be 0 where no vocabulary is shared`},
		{"gpt", func(b *network.Blueprint) { b.Vocabulary = "all" }, `blueprint: vocabulary_sharding is "all": known are none, stage, passes`},
		{"gpt", func(b *network.Blueprint) { b.Stages[1].First = 1 }, `blueprint: stages[1] is layers 1 to 4 of part 0: must start with layer 2 of part 0`},
		{"gpt", func(b *network.Blueprint) { b.Stages[1].End = 5 }, `blueprint: stages[1] is layers 2 to 5 of part 0: must end between 3 and 4`},
		{"gpt", func(b *network.Blueprint) { b.Stages[1].End = 2 }, `blueprint: stages[1] is layers 2 to 2 of part 0: must end between 3 and 4`},
		{"gpt", func(b *network.Blueprint) { b.Stages[1].End = 3 }, `blueprint: stages is a list of 2: no stage holds layer 3 of part 0`},
		{"gpt", func(b *network.Blueprint) { b.Stages[1].Recompute = 5 }, `blueprint: stages[1] is layers 2 to 4 of part 0: known ways to recompute are none, selective, full`},
		{"gpt", func(b *network.Blueprint) { b.Stages = append(b.Stages, network.Slice{First: 4, End: 5}) }, `blueprint: stages[2] is layers 4 to 5 of part 0: the stages before it hold all layers`},
		{"encoder-decoder", func(b *network.Blueprint) { b.Stages[0], b.Stages[1] = b.Stages[1], b.Stages[0] }, `blueprint: stages[0] is layers 0 to 2 of part 1: must start with layer 0 of part 0`},
		{"two-branch", func(b *network.Blueprint) { b.Stages = b.Stages[:2] }, `blueprint: stages is a list of 2: no stage holds layer 0 of part 2`},
		{"passes", func(b *network.Blueprint) { b.Stages[1].Part = 1 }, `blueprint: stages[1] is layers 1 to 2 of part 1: must start with layer 1 of part 0`},
	} {
		b := *blueprints[test.of]
		b.Stacks, b.Stages = append([]network.Stack(nil), b.Stacks...), append([]network.Slice(nil), b.Stages...)
		test.edit(&b)
		_, err := b.Encode()
		var field *network.FieldError
		if !errors.As(err, &field) || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.of, err, test.want)
		}
	}
}

func FuzzBlueprint(f *testing.F) {
	for _, b := range blueprints {
		text, err := b.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := network.DecodeBlueprint(text)
		if err != nil {
			return
		}
		again, err := b.Encode()
		if err != nil {
			t.Fatalf("%q is read and cannot be written: %v", text, err)
		}
		if back, err := network.DecodeBlueprint(again); err != nil || !reflect.DeepEqual(back, b) {
			t.Fatalf("%s reads back as %+v, %v, want %+v", again, back, err, b)
		}
	})
}
