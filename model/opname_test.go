package model_test

import (
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// twoWays returns a problem with two routes through two devices, in which every
// micro-batch of the second route runs through the devices backwards.
func twoWays(t testing.TB, microBatches int, blocking bool) *model.Problem {
	t.Helper()
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: microBatches, Latency: 1, Blocking: blocking})
	for s := range pl.Stages {
		other := pl.Stages[s].Replicas[0]
		other.Devices = []int{1 - s}
		pl.Stages[s].Replicas = append(pl.Stages[s].Replicas, other)
	}
	for m := range microBatches {
		pl.Routes = append(pl.Routes, m%2)
	}
	return compile(t, pl)
}

func compile(t testing.TB, pl *model.Pipeline) *model.Problem {
	t.Helper()
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseOpIsTheInverseOfName(t *testing.T) {
	problems := []*model.Problem{
		modelgen.Unit(3, 12), twoWays(t, 7, false), twoWays(t, 7, true),
		modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 3, Latency: 1, Blocking: true, Backward: model.Auto}),
	}
	for seed := range uint64(100) {
		problems = append(problems, modelgen.Problem(modelgen.Random(seed, 12)))
	}
	for _, p := range problems {
		namer := model.NewNamer(p)
		for op := range model.OpID(p.NumOps()) {
			if got, err := namer.Parse(p.Name(op)); err != nil || got != op {
				t.Fatalf("Parse(%q) = %d, %v; want %d", p.Name(op), got, err, op)
			}
		}
	}
}

func TestParseOpErrors(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 4, Latency: 1, Blocking: true})
	for s := range pl.Stages {
		pl.Stages[s].Replicas[0].Durations = model.Durations{
			Forward: 1, BackwardInput: model.Absent, BackwardWeight: model.Absent, BackwardFull: model.Absent, Overlapped: model.Absent,
		}
	}
	p := compile(t, pl)
	for _, c := range []struct{ text, want string }{
		{"", "the form is"},
		{"3", "the form is"},
		{"0F01", "the form is"},
		{"00F1", "the form is"},
		{"0F1>", "the form is"},
		{"0F1x", "the form is"},
		{"0F-1", `there is no kind "F-"`},
		{"0F12345678901", "the form is"},
		{" 0F1", "the form is"},
		{"0f1", `there is no kind "f"; the kinds are F, I, W, B, SEND_F, SEND_B`},
		{"2F1", "there is no stage 2; the stages are 0 to 1"},
		{"1F4", "there is no micro-batch 4; they are 0 to 3"},
		{"1F", "the micro-batch is missing"},
		{"F1", "write the stage too, as in 0F1"},
		{"I1", "no stage has I"},
		{"F", "write the stage too, as in 0F0"},
		{"SEND_F2", "write the stage too, as in 0SEND_F2>1"},
		{"SEND_F2>1", "write the stage that sends, too, as in 0SEND_F2>1"},
		{"1SEND_F1", "a transfer names its receiver, such as 0SEND_F1>1"},
		{"0SEND_B1", "no stage has SEND_B"},
		{"1I0", "stage 1 has no I; it has F"},
		{"0SEND_F1", "0SEND_F1>1"},
		{"1SEND_F1>0", "there is no such transfer from stage 1 to stage 0"},
		{"0F1>1", "there is no such transfer"},
	} {
		_, err := p.ParseOp(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseOp(%q): error %v, want one with %q", c.text, err, c.want)
		}
	}
}

func BenchmarkParseOp(b *testing.B) {
	p := modelgen.Unit(64, 1000)
	namer := model.NewNamer(p)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := namer.Parse("47W871"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendName(b *testing.B) {
	p := modelgen.Unit(64, 1000)
	op := p.Op(140, 871)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = p.AppendName(buf[:0], op)
	}
}
