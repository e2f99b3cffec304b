package cssr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// tinyGPT has blocks of h = 2, f = 4, s = 2, a = 1 and V = 6, of which each of two
// devices holds 3. On the cluster of nanoseconds a block takes
//
//	F  2bs(4h² + 2hf) + 4bs²h = 128 + 32 ns,  I  128 + 64,  W  128
//
// and has 54 parameters: 4h² + 4h of attention, 2hf + f + h of the inner product, 4h of
// norms. A pass over the vocabulary is a product of 2bshV/P = 24, a share has
// (3h + 2h of the norm) + (3h + sh of positions) = 20 parameters. The two devices exchange
// 8 bytes of hidden state in 2·100 + 8 ns, and 12bs = 24 bytes of statistics in two
// rounds; the embedding adds bsh/P = 2 operations to its collective, and twice as many to
// that of its gradient.
const tinyGPT = "devices: 2" + nanoseconds + `
model: {kind: gpt, layers: 2, hidden: 2, heads: 1, sequence: 2, feed_forward: 4, vocabulary: 6, vocabulary_sharding: passes}
memory: {limit: 10MiB}
`

// passLine writes an operation with what is exact in the configuration's units.
func passLine(pl *model.Pipeline, o *model.Operation) string {
	refs := func(list []model.Ref) string {
		var words []string
		for _, r := range list {
			words = append(words, strings.TrimSuffix(fmt.Sprintf("%s %d", r.Kind, r.Stage), " -1"))
		}
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s stage %d on %v: %s ns, takes %s, gives %s; after [%s], before [%s]",
		o.Letter, o.Stage, o.Devices, pl.TimeUnit.Rat(int64(o.Duration)).RatString(), pl.MemoryUnit.Rat(int64(o.Takes)).RatString(),
		pl.MemoryUnit.Rat(int64(o.Gives)).RatString(), refs(o.After), refs(o.Before))
}

func passLines(pl *model.Pipeline) []string {
	var list []string
	for i := range pl.Operations {
		list = append(list, passLine(pl, &pl.Operations[i]))
	}
	return list
}

// The numbers and the structure of the passes, worked out by hand. The logits of a share,
// 4bs·3 = 24 bytes, and the inputs of norm and product, 2·8, are live from the score to
// the gradient of the weights.
func TestPasses(t *testing.T) {
	const link = " stage -1 on [2]: "
	collectives := []string{
		"VE" + link + "210 ns, takes 0, gives 0; after [], before [forward 0]",
		"VB" + link + "208 ns, takes 0, gives 0; after [forward 1], before []",
		"VC" + link + "424 ns, takes 0, gives 0; after [vocabulary_score 0, vocabulary_score 1], before []",
		"VR" + link + "208 ns, takes 0, gives 0; after [vocabulary_input 0, vocabulary_input 1], before [backward 1]",
		"VG" + link + "212 ns, takes 0, gives 0; after [backward_input 0], before []",
	}
	shares := func(mode string) (list []string) {
		for d := range 2 {
			list = append(list, fmt.Sprintf("VS stage %d on []: 24 ns, takes 40, gives 0; after [vocabulary_broadcast], before []", d))
			if mode == "fused" {
				list = append(list, fmt.Sprintf("VI stage %d on []: 48 ns, takes 0, gives 40; after [vocabulary_statistics], before []", d))
				continue
			}
			list = append(list,
				fmt.Sprintf("VI stage %d on []: 24 ns, takes 0, gives 0; after [vocabulary_statistics], before []", d),
				fmt.Sprintf("VW stage %d on []: 24 ns, takes 0, gives 40; after [vocabulary_input %d], before []", d, d))
		}
		return list
	}
	for _, mode := range []string{"split", "fused", "auto"} {
		pl := pipeline(t, "backward: "+mode+"\n"+tinyGPT, cssr.Choices{})
		want := append(append([]string{}, collectives...), shares(mode)...)
		if diff := cmp.Diff(want, passLines(pl)); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		if len(pl.Stages) != 2 || pl.RealDevices() != 2 || len(pl.Devices) != 3 || !pl.Devices[2].Engine || pl.Devices[2].Name != "vocabulary link" {
			t.Errorf("%s: %d stages, devices %+v", mode, len(pl.Stages), pl.Devices)
		}
		for s := range pl.Stages {
			checkExact(t, pl.TimeUnit, int64(pl.Stages[s].Replicas[0].Durations.Forward), 160)
			checkExact(t, pl.MemoryUnit, int64(pl.Stages[s].Static), 18*(54+20))
		}
	}
}

// passesOf returns the makespan of a plan, in ns, that a decoder makes and the judge
// accepts.
func passesOf(t *testing.T, text string, policy cssr.Policy) string {
	t.Helper()
	p, plan := decodePoint(t, decode(t, text), cssr.Point{Policy: policy})
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if report := constraints.Check(p, plan, tl); !report.OK() {
		t.Fatalf("the judge refuses the plan: %v", report.Violations)
	}
	return p.Pipeline.TimeUnit.Rat(int64(model.Measure(p, plan, tl).Makespan)).RatString()
}

// One micro-batch waits for each step of the way there and back, so that its makespan is
// a sum: embedding, two forwards and a transfer, broadcast, score, statistics, gradient of
// the input, reduce, two backwards and a transfer, and the way to the embedding. Where
// memory holds one micro-batch, a device starts the next after all of that but the first
// and the last step; the gradient of the weights of stage 0 takes the place of the last.
func TestPassesInOrder(t *testing.T) {
	one := strings.Replace(tinyGPT, "micro_batches: 2", "micro_batches: 1", 1)
	tight := strings.Replace(tinyGPT, "10MiB", "1500B", 1) // 18·74 + 124 + 40 are 1496
	const there, back = 160 + 108 + 160 + 208 + 24 + 424, 208 + 192 + 108 + 192
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"split", one, 210 + there + 24 + back + 212},
		{"fused", "backward: fused\n" + one, 210 + there + 48 + back + 2*128 + 212},
		{"one at a time", tight, 210 + 2*(there+24+back+128) + 212 - 128},
	} {
		if got := passesOf(t, c.text, cssr.Policy{Types: []string{"I", "B", "F", "W"}}); got != fmt.Sprint(c.want) {
			t.Errorf("%s: makespan %s ns, want %d", c.name, got, c.want)
		}
	}
}

// Devices do the same work in passes as in a stage that all share, where links are so fast
// that collectives take no time but the nanosecond to which they are rounded up. The
// look-up is on the link, so it is left out.
func TestPassesDoTheWorkOfTheStage(t *testing.T) {
	text := strings.NewReplacer("vocabulary: 6", "vocabulary: 1000", "link_bandwidth: 1e9", "link_bandwidth: 1e18", "link_latency: 100",
		"link_latency: 0", "flops: 1e9", "flops: 1e6").Replace(tinyGPT)
	work := func(choices cssr.Choices) []int64 {
		pl := pipeline(t, text, choices)
		ticks := make([]model.Time, 2)
		for _, s := range pl.Stages {
			if len(s.After) == 0 && choices.Vocabulary == "stage" {
				continue // the embedding
			}
			for _, d := range s.Replicas[0].Devices {
				own := s.Replicas[0].Durations
				ticks[d] += own.Forward + own.BackwardInput + own.BackwardWeight
			}
		}
		for _, o := range pl.Operations {
			if len(o.Devices) == 0 {
				ticks[pl.Stages[o.Stage].Replicas[0].Devices[0]] += o.Duration
			}
		}
		var micros []int64
		for _, n := range ticks {
			us, _ := pl.TimeUnit.Rat(int64(n)).Float64()
			micros = append(micros, int64(us/1000))
		}
		return micros
	}
	const blocks, products = 160 + 192 + 128, 3 * 2 * 2 * 2 * 500 // at 1 us an operation
	equal(t, "work in passes", work(cssr.Choices{}), []int64{blocks + products, blocks + products})
	equal(t, "work of stages", work(cssr.Choices{Vocabulary: "stage"}), []int64{blocks + products, blocks + products})
}

// A device with several chunks runs its share once, beside the first of them; a slow
// device takes longer for it, the collectives do not.
func TestPassesOfChunksAndSlowDevices(t *testing.T) {
	pl := pipeline(t, strings.Replace(tinyGPT, "layers: 2", "layers: 4", 1), cssr.Choices{SplitStages: 2, Placement: "v"})
	beside := map[string][]int{}
	for _, o := range pl.Operations {
		beside[o.Name] = append(beside[o.Name], o.Stage)
	}
	for _, name := range []string{"vocabulary_score", "vocabulary_input", "vocabulary_weight"} {
		equal(t, name, beside[name], []int{0, 1})
	}
	if got, want := fmt.Sprint(gangs(pl)), "[[0] [1] [1] [0]]"; got != want {
		t.Fatalf("devices %s, want %s", got, want)
	}
	equal(t, "broadcast after", pl.Operations[1].After, []model.Ref{{Kind: "forward", Stage: 3}})
	pl = pipeline(t, strings.Replace(tinyGPT, "devices: 2", "devices: [{}, {slowdown: 1.5}]", 1), cssr.Choices{})
	want := map[string][]int64{"VE": {210}, "VB": {208}, "VC": {424}, "VR": {208}, "VG": {212}, "VS": {24, 36}, "VI": {24, 36}, "VW": {24, 36}}
	at := map[string]int{}
	for _, o := range pl.Operations {
		checkExact(t, pl.TimeUnit, int64(o.Duration), want[o.Letter][at[o.Letter]])
		at[o.Letter]++
	}
}

// A vocabulary is in passes by choice as well, and other choices change it back.
func TestPassesByChoice(t *testing.T) {
	configured := pipeline(t, tinyGPT, cssr.Choices{})
	chosen := pipeline(t, strings.Replace(tinyGPT, "sharding: passes", "sharding: none", 1), cssr.Choices{Vocabulary: "passes"})
	if diff := cmp.Diff(configured, chosen); diff != "" {
		t.Error(diff)
	}
	if pl := pipeline(t, tinyGPT, cssr.Choices{Vocabulary: "none"}); len(pl.Operations) > 0 || len(pl.Devices) != 2 {
		t.Errorf("vocabulary none has %d operations on %d devices", len(pl.Operations), len(pl.Devices))
	}
}

func TestRefusedPasses(t *testing.T) {
	const batch = "devices: 2\nmicro_batches: 1\nmodel: {kind: mlp, layers: 2, hidden: 10}\ncluster: {flops: 1e9, link_bandwidth: 1e9}\n"
	for _, c := range []struct {
		text    string
		choices cssr.Choices
		want    string
	}{
		{"placement: [[0, 1], 1]\n" + tinyGPT, cssr.Choices{}, "test.yaml:2:12: placement: vocabulary passes: stage 0 sits on a gang of 2 devices; place each stage on one device"},
		{"placement: [1, 1]\n" + tinyGPT, cssr.Choices{}, "test.yaml:2:12: placement: vocabulary passes: device 0 has no stage beside which its share can run; give it a stage, or use vocabulary stage"},
		{"stages: 1\n" + tinyGPT, cssr.Choices{}, "test.yaml:2:9: stages: vocabulary passes: device 1 has no stage beside which its share can run; give it a stage, or use vocabulary stage"},
		{tinyGPT, cssr.Choices{Bidirectional: true}, "test.yaml:2:10: devices: vocabulary passes: the stages have several routes; use a single one, or vocabulary stage"},
		{"devices: 2" + translatorText, cssr.Choices{Vocabulary: "passes"}, "model.kind: vocabulary passes: passes over the vocabulary are known for kind gpt only; use stage"},
		{batch, cssr.Choices{Vocabulary: "passes"}, "test.yaml:4:8: model: vocabulary passes: no part of the network has a vocabulary to share; use none"},
		{"devices: 2\nmicro_batches: 1\ncosts: {forward: 1, backward_full: 1}\nbackward: fused\n", cssr.Choices{Vocabulary: "passes"}, "test.yaml:4:8: costs: vocabulary passes: the costs are those of given stages"},
	} {
		err := refused(t, c.text, c.choices, c.want)
		if choice := (*cssr.ChoiceError)(nil); !errors.As(err, &choice) {
			t.Errorf("%v is no ChoiceError", err)
		}
	}
}
