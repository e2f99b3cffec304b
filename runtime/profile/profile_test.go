package profile

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// fake is a backend that says what its layers take.
type fake struct{ layers []pipert.LayerCosts }

func (f *fake) Name() string                 { return "fake" }
func (f *fake) Devices() []pipert.Device     { return nil }
func (f *fake) Begin(int) error              { return nil }
func (f *fake) Finish() (pipert.Step, error) { return pipert.Step{}, nil }
func (f *fake) Close() error                 { return nil }
func (f *fake) ResetTimes()                  {}
func (f *fake) Layers() []pipert.LayerCosts  { return append([]pipert.LayerCosts(nil), f.layers...) }
func times(n int, ns float64) pipert.Quantiles {
	return pipert.Quantiles{N: n, P10: max(0, ns-1), Median: ns, P90: ns + 2}
}

// small is a gpt of two blocks in two stages, of which the second recomputes.
func small() *network.Blueprint {
	return &network.Blueprint{
		Kind: "gpt", MicroBatchSize: 2, DType: network.BF16,
		Stacks: []network.Stack{{Layers: 2, Hidden: 4, Heads: 2, Sequence: 3, Vocabulary: 128}},
		Stages: []network.Slice{{First: 0, End: 2}, {First: 2, End: 4, Recompute: network.RecomputeFull}},
	}
}

// layers returns the costs of small; a backward input of so many ways was measured.
func layers(ways ...network.Recompute) []pipert.LayerCosts {
	list := []pipert.LayerCosts{
		{Name: "embedding", Forward: times(4, 10), BackwardWeight: times(4, 20), Retained: 96, Work: 8, Parameters: 524},
		{Name: "block 0", Forward: times(4, 100), BackwardWeight: times(4, 200), Activation: 1000, Retained: 900, Selective: 800, Full: 96, Work: 50, SelectiveWork: 60, FullWork: 170, Parameters: 244},
		{Name: "block 1", Forward: times(12, 108), BackwardWeight: times(4, 204), Activation: 1000, Retained: 900, Selective: 800, Full: 96, Work: 50, SelectiveWork: 60, FullWork: 170, Parameters: 244},
		{Name: "head", Forward: times(4, 500), BackwardWeight: times(4, 400), Activation: 3000, Retained: 2000, Selective: 3000, Full: 3000, Work: 10, Parameters: 520},
	}
	for i := range list {
		for _, way := range ways {
			list[i].BackwardInput[way] = times(4, float64(100*i+10*int(way)))
		}
	}
	return list
}

// measured is a run of two stages on a device each whose layers took so long, and whose messages
// took so many nanoseconds.
func measured(t *testing.T, layers []pipert.LayerCosts, hop model.Time) Measured {
	t.Helper()
	program := twoStages(t, hop)
	timeline, err := model.Evaluate(program.Problem, program.Plan)
	if err != nil {
		t.Fatal(err)
	}
	record := &pipert.Record{Start: make([]int64, program.Problem.NumOps()), End: make([]int64, program.Problem.NumOps())}
	for op := range record.Start {
		record.Start[op], record.End[op] = int64(timeline.Start[op]), int64(timeline.End(program.Problem, model.OpID(op)))
	}
	return Measured{Program: program, Backend: &fake{layers}, Run: &pipert.Run{Records: []*pipert.Record{record}}}
}

// twoStages returns the program of three micro-batches on two devices, whose messages have a
// latency; each device runs its operations kind by kind.
func twoStages(t *testing.T, latency model.Time) *lower.Program {
	t.Helper()
	d := func(n model.Time) model.Durations {
		return model.Durations{Forward: n, BackwardInput: n, BackwardWeight: 0, BackwardFull: model.Absent, Overlapped: model.Absent}
	}
	p, err := model.Compile(&model.Pipeline{
		MicroBatches: 3, Devices: make([]model.Device, 2), Latency: latency,
		Stages: []model.Stage{
			{Replicas: []model.Replica{{Devices: []int{0}, Durations: d(3)}}},
			{After: []int{0}, Replicas: []model.Replica{{Devices: []int{1}, Durations: d(2)}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	plan := &model.Plan{Order: make([][]model.OpID, 2)}
	for row := range p.Rows {
		for m := range 3 {
			device := p.Rows[row].Devices[0]
			plan.Order[device] = append(plan.Order[device], p.Op(row, m))
		}
	}
	program, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func gathered(t *testing.T) *Costs {
	t.Helper()
	c, err := Gather([]Measured{
		measured(t, layers(network.RecomputeNone), 30),
		measured(t, layers(network.RecomputeFull), 77),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStages(t *testing.T) {
	got, err := gathered(t).Stages(small())
	if err != nil {
		t.Fatal(err)
	}
	// The two blocks are alike, so their forwards take (4*100 + 12*108) / 16 = 106, their
	// backward inputs 150, and 170 with the recomputation of the forward; a parameter takes 16 bytes.
	want := []pipert.StageCosts{
		{Forward: 116, BackwardInput: 150, BackwardWeight: 222, BackwardFull: 372,
			Activation: 1000, FreedByInput: 1000 - 996, Static: 16 * (524 + 244), Work: 50},
		{Forward: 606, BackwardInput: 170 + 320, BackwardWeight: 602, BackwardFull: 490 + 602,
			Activation: 3096, FreedByInput: 3096 - 2900, Static: 16 * (244 + 520), Work: 50 + 170},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("stages\n%+v, want\n%+v", got, want)
	}
}

// TestPool: the first layer of a part, which may have no gradient of its input, and layers of
// other parts are not taken to cost what their equals do.
func TestPool(t *testing.T) {
	var list []pipert.LayerCosts
	for i, part := range []int{0, 0, 0, 1, 1, 1} {
		l := pipert.LayerCosts{Part: part, Forward: times(1, float64(10*i)), Activation: 8}
		l.BackwardInput[network.RecomputeNone] = times(2, float64(100*i))
		list = append(list, l)
	}
	pool(list)
	for i, want := range []float64{0, 15, 15, 30, 45, 45} {
		if l := &list[i]; l.Forward.Median != want || l.BackwardInput[network.RecomputeNone].Median != 10*want {
			t.Errorf("layer %d: forward %v, backward input %v, want %v and ten times that", i, l.Forward.Median, l.BackwardInput[network.RecomputeNone].Median, want)
		}
	}
}

// TestStagesOfOneRun: a run whose stages recompute in different ways measures each layer in the
// way of its stage, which is all that its own prediction needs.
func TestStagesOfOneRun(t *testing.T) {
	run := layers()
	for i, way := range []network.Recompute{network.RecomputeNone, network.RecomputeNone, network.RecomputeFull, network.RecomputeFull} {
		run[i].BackwardInput[way] = times(4, float64(100*i))
	}
	run[1].Activation, run[1].Retained = 1001, 901 // another size than block 1
	c, err := Gather([]Measured{measured(t, run, 30)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Stages(small())
	if err != nil {
		t.Fatal(err)
	}
	if got[0].BackwardInput != 0+100 || got[1].BackwardInput != 200+300 {
		t.Errorf("backward inputs %v and %v, want 100 and 500", got[0].BackwardInput, got[1].BackwardInput)
	}
	// Block 1 keeps its input only, the head all.
	if got[1].Activation != 96+3000 {
		t.Errorf("activation %d of the stage that recomputes", got[1].Activation)
	}
}

// TestStagesOfIdleRecomputation: recomputing attention changes nothing where there is none, so that
// nobody has to measure it.
func TestStagesOfIdleRecomputation(t *testing.T) {
	mlp := &network.Blueprint{
		Kind: "mlp", MicroBatchSize: 2, Stacks: []network.Stack{{Layers: 2, Hidden: 4}},
		Stages: []network.Slice{{First: 0, End: 2}},
	}
	c, err := Gather([]Measured{measured(t, layers(network.RecomputeNone)[1:3], 30)})
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Stages(mlp)
	if err != nil {
		t.Fatal(err)
	}
	mlp.Stages[0].Recompute = network.RecomputeSelective
	if got, err := c.Stages(mlp); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("stages %+v, error %v, want %+v", got, err, want)
	}
	mlp.Stages[0].Recompute = network.RecomputeFull
	if _, err := c.Stages(mlp); err == nil || !strings.Contains(err.Error(), "recomputation full of layer block 0 has not been measured") {
		t.Errorf("full recomputation: error %v", err)
	}
}

func TestStagesRefusals(t *testing.T) {
	selective, wide := small(), small()
	selective.Stages[0].Recompute = network.RecomputeSelective
	wide.Stacks[0].Layers, wide.Stages[1].End = 3, 5
	for want, b := range map[string]*network.Blueprint{
		"recomputation selective of layer embedding has not been measured": selective,
		"the network has 5 layers, and 4 were measured":                    wide,
	} {
		if _, err := gathered(t).Stages(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := Gather([]Measured{measured(t, make([]pipert.LayerCosts, 1), 30)}); err == nil {
		t.Error("costs of a layer that never ran")
	}
}

// TestFile writes a profile, reads it, and has the same stages again.
func TestFile(t *testing.T) {
	c := gathered(t)
	c.AddSolo(&fake{layers(network.RecomputeNone)})
	stages := []StageTimes{
		{0, []KindTimes{{"forward", times(8, 120), times(8, 110)}, {"backward_input", times(8, 130), times(8, 111)}, {"backward_weight", times(8, 140), times(8, 112)}}},
		{1, []KindTimes{{"forward", times(8, 620), times(8, 600)}, {"backward_input", times(8, 500), times(8, 480)}, {"backward_weight", times(8, 610), times(8, 590)}}},
	}
	file, err := c.File(small(), stages, map[string]string{"backend": "fake"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := file.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := config.DecodeProfile(text, "p.json")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got := read.Stages[1].Durations.Forward; got.Median.String() != "620" || got.Alone.String() != "600" || got.P90.String() != "622" || got.Samples != 8 {
		t.Errorf("forward of stage 1: %+v", got)
	}
	// What a stage holds all the time is its parameters and its work space.
	if got := read.Stages[0].Memory; got.Static.String() != "12338" || got.Activation.String() != "1000" || got.FreedByBackwardInput.String() != "4" || got.FreedByBackwardWeight.String() != "996" {
		t.Errorf("memory of stage 0: %+v", got)
	}
	// Full recomputation is retimed as backward input and the forward that it repeats.
	if got := read.Layers[1]; got.Durations.RecomputeFull.Median.String() != "20" || *got.Memory.Full != 96 || got.Memory.Selective != nil {
		t.Errorf("block 0: %+v, memory %+v", got.Durations, got.Memory)
	}
	if b, err := network.DecodeBlueprint(string(read.Network)); err != nil || !reflect.DeepEqual(b, small()) {
		t.Errorf("network %+v, error %v", b, err)
	}
	back, err := FromFile(read)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := c.Stages(small())
	for s := range want {
		want[s].Static = 0 // a profile does not count parameters
	}
	got, err := back.Stages(small())
	for s := range got {
		got[s].Static = 0
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("stages from the file\n%+v, want\n%+v, error %v", got, want, err)
	}
	if back.Latency() != 30 {
		t.Errorf("latency %v, want 30", back.Latency())
	}
}

func TestFromFileRefusals(t *testing.T) {
	full := config.Profile{Unit: config.Nanosecond, Layers: []config.LayerProfile{{Name: "head"}}, Link: &config.LinkProfile{}}
	for want, change := range map[string]func(*config.Profile){
		"no layers": func(p *config.Profile) { p.Layers = nil },
		"no link":   func(p *config.Profile) { p.Link = nil },
		"ticks":     func(p *config.Profile) { p.Unit = config.Tick },
		"leave link.bandwidth out": func(p *config.Profile) {
			rate := config.NewDecimal(1e9)
			p.Link = &config.LinkProfile{Bandwidth: &rate}
		},
	} {
		p := full
		change(&p)
		if _, err := FromFile(&p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestRecomputations(t *testing.T) {
	selective := small()
	selective.Stages[0].Recompute = network.RecomputeSelective
	if got, want := Recomputations(small(), small()), []network.Recompute{network.RecomputeNone, network.RecomputeFull}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := Recomputations(small(), selective), []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSerial finds one operation at a time in the timeline of a serial plan, and the orders of
// the devices unchanged.
func TestSerial(t *testing.T) {
	program := twoStages(t, 0)
	p, plan := program.Problem, program.Plan
	serial := Serial(program)
	if !reflect.DeepEqual(serial.Order, plan.Order) {
		t.Error("the orders have changed")
	}
	tl, err := model.Evaluate(p, serial)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := model.Measure(p, serial, tl).Makespan, model.Time(3*(2*3+2*2)); got != want {
		t.Errorf("makespan %d, want the sum of all operations %d", got, want)
	}
	if _, err := lower.Lower(p, serial); err != nil {
		t.Error(err)
	}
}
