package heuristics_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

func TestLookup(t *testing.T) {
	names := []string{}
	for _, s := range heuristics.Schedules() {
		got, err := heuristics.Lookup(s.Name)
		if err != nil || got.Name != s.Name {
			t.Errorf("Lookup(%q) = %q, %v", s.Name, got.Name, err)
		}
		for _, text := range []string{s.Title, s.Paper, s.Placement, s.Shapes, s.Makespan, s.Peak} {
			if text == "" {
				t.Errorf("%s has an empty text", s.Name)
			}
		}
		names = append(names, s.Name)
	}
	want := "gpipe 1f1b interleaved looped-bfs zb-h1 zb-h2 zbv v-half v-min hanayo chimera dualpipev"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("names %s, want %s", got, want)
	}
}

func TestLookupSuggests(t *testing.T) {
	for name, near := range map[string]string{"zb-h3": "zb-h1", "1F1B": "1f1b", "v-mni": "v-min", "interleave": "interleaved", "pipedream": ""} {
		_, err := heuristics.Lookup(name)
		var unknown *heuristics.UnknownScheduleError
		if !errors.As(err, &unknown) || unknown.Near != near {
			t.Errorf("Lookup(%q): %v, want a hint at %q", name, err, near)
		}
	}
	_, err := heuristics.Lookup("zb-h")
	want := `unknown schedule "zb-h", did you mean "zb-h1"? (known: gpipe, 1f1b, interleaved, looped-bfs, zb-h1, zb-h2, zbv, v-half, v-min, hanayo, chimera, dualpipev)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// misfit is a problem that a schedule refuses.
type misfit struct {
	schedule string
	spec     modelgen.Spec
	change   func(pl *model.Pipeline)
	want     string
}

func v(stages, devices int) [][]int {
	place, err := model.VPlacement(stages, devices)
	if err != nil {
		panic(err)
	}
	return place
}

var misfits = []misfit{
	{
		"zbv", modelgen.Spec{Devices: 4, MicroBatches: 8}, nil,
		"schedule zbv needs placement: v with stages: 8, the configuration has placement: linear with 4 stages on 4 devices: set placement: v and stages: 8, or divide each stage with --split-stages 2",
	},
	{
		"v-min", modelgen.Spec{Devices: 4, MicroBatches: 8, Placement: model.LoopPlacement(8, 4)}, nil,
		"schedule v-min needs placement: v with stages: 8, the configuration has placement: loop with 8 stages on 4 devices: set placement: v",
	},
	{
		"v-half", modelgen.Spec{Devices: 2, MicroBatches: 8, Placement: v(6, 2)}, nil,
		"schedule v-half needs placement: v with stages: 4, the configuration has placement: v with 6 stages on 2 devices: set stages: 4",
	},
	{
		"zbv", modelgen.Spec{Devices: 4, MicroBatches: 8, Placement: v(16, 4)}, nil,
		"schedule zbv needs placement: v with stages: 8, the configuration has placement: v with 16 stages on 4 devices: set stages: 8; if --split-stages made them 16, leave it out",
	},
	{
		"1f1b", modelgen.Spec{Devices: 4, MicroBatches: 8, Backward: model.Fused, Placement: v(8, 4)}, nil,
		"schedule 1f1b needs placement: linear with stages: 4, the configuration has placement: v with 8 stages on 4 devices: set placement: linear and stages: 4; if --split-stages made them 8, leave it out",
	},
	{
		"interleaved", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Fused, Placement: [][]int{{0}, {1}, {0}}}, nil,
		"schedule interleaved needs placement: loop with as many stages on each device, the configuration has an irregular placement with 3 stages on 2 devices: set placement: loop and make stages a multiple of 2",
	},
	{
		"zb-h1", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Fused}, nil,
		"schedule zb-h1 needs backward: split, the configuration has stage 0 with a full backward only: give backward_input and backward_weight apart and set backward: split",
	},
	{
		"gpipe", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Fused, Blocking: true, Latency: 1}, nil,
		"schedule gpipe needs communication mode: overlapped, the configuration has mode: blocking: named schedules place no blocking transfers; use --mode heuristic",
	},
	{
		"gpipe", modelgen.Spec{Devices: 3, MicroBatches: 8, Backward: model.Fused, Placement: [][]int{{0, 1}, {2}}}, nil,
		"schedule gpipe needs stages on one device each, the configuration has a gang: stage 0 on 2 devices: place the stage on one device, or use --mode heuristic",
	},
	{
		"gpipe", modelgen.Spec{Devices: 3, MicroBatches: 8, Backward: model.Fused},
		func(pl *model.Pipeline) { pl.Stages[2].After = []int{0, 1} },
		"schedule gpipe needs stages that form a chain, the configuration has stage 2 after stages [0 1]: leave edges out, or use --mode heuristic",
	},
	{
		"1f1b", modelgen.Spec{Devices: 3, MicroBatches: 8, Backward: model.Fused},
		func(pl *model.Pipeline) { pl.Stages[2].After = nil },
		"schedule 1f1b needs stages that form a chain, the configuration has stage 2 after none: leave edges out, or use --mode heuristic",
	},
	{
		"gpipe", modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused},
		func(pl *model.Pipeline) {
			for s := range pl.Stages {
				other := pl.Stages[1-s].Replicas[0]
				pl.Stages[s].Replicas = append(slices.Clone(pl.Stages[s].Replicas), model.Replica{Devices: []int{1 - s}, Durations: other.Durations})
			}
			pl.Routes = []int{0, 1}
		},
		"schedule gpipe needs one place for each stage, the configuration has stage 0 in 2 replicas: use one route",
	},
	{
		"hanayo", modelgen.Spec{Devices: 4, MicroBatches: 8, Backward: model.Fused}, nil,
		"schedule hanayo needs placement: v with an even number of stages, the same on each device, the configuration has placement: linear with 4 stages on 4 devices: set placement: v and make stages a multiple of 8, or divide each stage with --split-stages 2",
	},
	{
		"hanayo", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Fused, Placement: v(6, 2)}, nil,
		"schedule hanayo needs placement: v with an even number of stages, the same on each device, the configuration has placement: v with 6 stages on 2 devices: set placement: v and make stages a multiple of 4",
	},
	{
		"dualpipev", modelgen.Spec{Devices: 4, MicroBatches: 7, Backward: model.Auto, Placement: v(8, 4)}, nil,
		"schedule dualpipev needs micro_batches: 8 at least on 4 devices, the configuration has micro_batches: 7: set micro_batches: 8 or more",
	},
	{
		"dualpipev", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Auto}, nil,
		"schedule dualpipev needs placement: v with stages: 4, the configuration has placement: linear with 2 stages on 2 devices: set placement: v and stages: 4, or divide each stage with --split-stages 2",
	},
	{
		"dualpipev", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Fused, Placement: v(4, 2)}, nil,
		"schedule dualpipev needs backward: auto, the configuration has stage 0 with a full backward only: give backward_input and backward_weight apart and set backward: auto",
	},
	{
		"chimera", modelgen.Spec{Devices: 4, MicroBatches: 8, Backward: model.Fused}, nil,
		"schedule chimera needs two routes, each the reverse of the other, the configuration has 1 route: list the placement and its reverse under routes",
	},
	{
		"chimera", modelgen.Spec{Devices: 3, MicroBatches: 6, Backward: model.Fused},
		func(pl *model.Pipeline) { addReverse(pl, []int{2, 1, 0}) },
		"schedule chimera needs an even number of devices, the configuration has 3 devices: use one device more or less",
	},
	{
		"chimera", modelgen.Spec{Devices: 4, MicroBatches: 8, Backward: model.Fused},
		func(pl *model.Pipeline) { addReverse(pl, []int{3, 1, 2, 0}) },
		"schedule chimera needs two routes, each the reverse of the other, the configuration has stage 1 of the second on device 1, not 2: list the placement and its reverse under routes",
	},
	{
		"chimera", modelgen.Spec{Devices: 2, MicroBatches: 8, Backward: model.Fused, Placement: model.LoopPlacement(4, 2)},
		func(pl *model.Pipeline) { addReverse(pl, []int{1, 0, 1, 0}) },
		"schedule chimera needs placement: linear with stages: 2, the configuration has placement: loop with 4 stages on 2 devices: set placement: linear and stages: 2; if --split-stages made them 4, leave it out",
	},
}

func TestShapeErrors(t *testing.T) {
	for _, m := range misfits {
		pl := modelgen.Pipeline(m.spec)
		if m.change != nil {
			m.change(pl)
		}
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		s, err := heuristics.Lookup(m.schedule)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.Build(p)
		var shape *heuristics.ShapeError
		if plan != nil || !errors.As(err, &shape) || err.Error() != m.want {
			t.Errorf("%s: got %v\nwant %s", m.schedule, err, m.want)
		}
	}
}

// TestRemark says that one stage per device is less than interleaving promises.
func TestRemark(t *testing.T) {
	for _, c := range []struct {
		schedule string
		stages   int
		want     bool
	}{{"interleaved", 4, true}, {"looped-bfs", 4, true}, {"interleaved", 8, false}, {"1f1b", 4, false}} {
		s, err := heuristics.Lookup(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		p := modelgen.Problem(modelgen.Spec{Devices: 4, MicroBatches: 8, Placement: model.LoopPlacement(c.stages, 4)})
		if got := s.Remark(p); (got != "") != c.want {
			t.Errorf("%s on %d stages: %q", c.schedule, c.stages, got)
		}
	}
}

// TestRelabelledDevices demands the same order for devices in another order, and
// none on a device without a stage.
func TestRelabelledDevices(t *testing.T) {
	relabel := []int{3, 0, 4, 1}
	for _, s := range heuristics.Schedules() {
		place := setting{4, 8, 1, 1, 1, 0}.problem(s, chunksOf(s)[0]).Pipeline.Stages
		spec := modelgen.Spec{Devices: 5, MicroBatches: 8, Backward: s.Backward}
		for _, st := range place {
			spec.Placement = append(spec.Placement, []int{relabel[st.Replicas[0].Devices[0]]})
		}
		p := problemOf(s, spec)
		plan, err := s.Build(p)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if got := judge(t, p, plan); got.Devices[2].Busy != 0 || len(plan.Order[2]) != 0 {
			t.Errorf("%s: the device without a stage is busy for %d", s.Name, got.Devices[2].Busy)
		}
	}
}

// TestOtherCosts judges every schedule with uneven and zero costs, latencies,
// micro-batch factors and stages that lack operations.
func TestOtherCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range heuristics.Schedules() {
		for range 200 {
			p, v := 1+r.IntN(6), chunksOf(s)[r.IntN(len(chunksOf(s)))]
			spec := uneven(r, s, p, v)
			if !legal(s, p, spec.MicroBatches) {
				continue
			}
			problem := problemOf(s, spec)
			plan, err := s.Build(problem)
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			judge(t, problem, plan)
		}
	}
}

// uneven returns a random spec in the shape of a schedule.
func uneven(r *rand.Rand, s heuristics.Schedule, p, v int) modelgen.Spec {
	stages := p * v
	spec := modelgen.Spec{
		Devices: p, MicroBatches: 1 + r.IntN(12), Backward: s.Backward, Latency: ticks(r.IntN(4)),
		Placement: setting{p, 1, 1, 1, 1, 0}.places(s, v), Objective: model.Objective(r.IntN(2)),
	}
	// The first stage with a backward input; the one before may have weights to
	// train, those before that only a forward.
	first := r.IntN(stages + 1)
	for i := range stages {
		spec.F = append(spec.F, ticks(r.IntN(5)))
		spec.I = append(spec.I, ticks(r.IntN(5)))
		spec.W = append(spec.W, ticks(r.IntN(5)))
		if i < first {
			spec.I[i] = model.Absent
		}
		if i < first-1 || r.IntN(3) == 0 {
			spec.W[i] = model.Absent
		}
	}
	if r.IntN(2) == 0 {
		for range spec.MicroBatches {
			spec.Factors = append(spec.Factors, int64(1+r.IntN(3)))
		}
	}
	return spec
}

// otherModes are orders of schedules for a problem in another mode than theirs: with
// halves only, the two run one right after the other; with a choice, each schedule
// takes what it names.
var otherModes = []struct {
	schedule string
	chunks   int
	mode     model.Mode
	p, m     int
	want     string
}{
	{"1f1b", 1, model.Split, 2, 2, "[[0F0 0F1 0I0 0W0 0I1 0W1] [1F0 1I0 1W0 1F1 1I1 1W1]]"},
	{"1f1b", 1, model.Auto, 2, 2, "[[0F0 0F1 0B0 0B1] [1F0 1B0 1F1 1B1]]"},
	{"zb-h1", 1, model.Auto, 2, 2, "[[0F0 0F1 0I0 0W0 0I1 0W1] [1F0 1I0 1F1 1I1 1W0 1W1]]"},
	{"zbv", 2, model.Auto, 1, 1, "[[0F0 1F0 1I0 1W0 0I0 0W0]]"},
	{"hanayo", 2, model.Split, 1, 1, "[[0F0 1F0 1I0 1W0 0I0 0W0]]"},
	{"dualpipev", 2, model.Auto, 1, 2, "[[0F0 1F0 0F1 1B0 1F1 0B0 1B1 0I1 0W1]]"},
	{"dualpipev", 2, model.Split, 1, 2, "[[0F0 1F0 0F1 1I0 1W0 1F1 0I0 0W0 1I1 1W1 0I1 0W1]]"},
	{"chimera", 1, model.Auto, 2, 2, "[[0F0 1F1 1B1 0B0] [0F1 1F0 1B0 0B1]]"},
}

func TestOtherMode(t *testing.T) {
	for _, c := range otherModes {
		s, err := heuristics.Lookup(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		spec := modelgen.Spec{Devices: c.p, MicroBatches: c.m, Backward: c.mode, Placement: setting{p: c.p}.places(s, c.chunks)}
		p := problemOf(s, spec)
		plan, err := s.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, p, plan)
		if got := fmt.Sprint(rowsOf(p, plan)); got != c.want {
			t.Errorf("%s in mode %s: got %s, want %s", c.schedule, c.mode, got, c.want)
		}
	}
}

// TestChimeraTakesAnyRoutes judges Chimera with micro-batches on either route by
// chance, also all on one.
func TestChimeraTakesAnyRoutes(t *testing.T) {
	s, err := heuristics.Lookup("chimera")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		p := 2 * (1 + r.IntN(4))
		pl := *setting{p, 1 + r.IntN(20), 1, 1, 1, ticks(r.IntN(2))}.problem(s, 1).Pipeline
		share := r.IntN(5)
		for m := range pl.Routes {
			pl.Routes[m] = 0
			if r.IntN(4) < share {
				pl.Routes[m] = 1
			}
		}
		if share == 0 {
			pl.Routes = nil
		}
		problem := compile(&pl)
		plan, err := s.Build(problem)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, problem, plan)
	}
}

// TestMemoryLimit says that weight gradients move only within the memory, if it
// suffices for the hand-made order: PyTorch's.
func TestMemoryLimit(t *testing.T) {
	s, err := heuristics.Lookup("zbv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range readGolden(t, "zbv") {
		if !line.by("pytorch") {
			continue
		}
		pl := *line.problem(s.Backward, unitCosts).Pipeline
		for d, peak := range line.Peak {
			pl.Devices[d].Limit = model.Bytes(peak)
		}
		p, err := model.Compile(&pl)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, p, plan)
	}
}
