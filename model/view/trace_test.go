package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/model/view"
)

// measured returns a lane as if the plan of a timeline had run: every operation takes
// up to a third longer or shorter than predicted, drawn from the seed, and starts as
// soon as its device is free and the prediction says. So precedences may be broken, as
// in a trace of clocks that differ.
func measured(p *model.Problem, plan *model.Plan, tl *model.Timeline, nsPerTick float64, seed uint64) view.TraceLane {
	lane := view.LaneOf("measured", p, plan, tl, nsPerTick)
	r := rand.New(rand.NewPCG(seed, 0))
	factors := make([]int64, p.NumOps())
	for op := range factors {
		factors[op] = 67 + r.Int64N(67)
	}
	free := make([]int64, p.NumDevices())
	for moved := true; moved; { // to the fixed point, as gangs tie devices together
		moved = false
		clear(free)
		for d, order := range plan.Order {
			for _, op := range order {
				if lane.Start[op] < free[d] {
					lane.Start[op], moved = free[d], true
				}
				predicted := int64(float64(p.Duration(op)) * nsPerTick)
				lane.End[op] = lane.Start[op] + predicted*factors[op]/100
				free[d] = lane.End[op]
			}
		}
	}
	return lane
}

func trace(t testing.TB, lanes []view.TraceLane, o view.TraceOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.Trace(&b, lanes, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// event is an event as viewers read it.
type event struct {
	Phase string         `json:"ph"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Time  json.Number    `json:"ts"`
	Dur   json.Number    `json:"dur"`
	Name  string         `json:"name"`
	Cat   string         `json:"cat"`
	Color string         `json:"cname"`
	ID    string         `json:"id"`
	Bind  string         `json:"bp"`
	Args  map[string]any `json:"args"`
}

// nanoseconds reads microseconds with three decimals, and demands that Perfetto, which cuts
// off behind a product of floating-point numbers, reads the same.
func nanoseconds(t *testing.T, n json.Number) int64 {
	t.Helper()
	whole, decimals, ok := strings.Cut(n.String(), ".")
	if !ok || len(decimals) != 3 && (len(decimals) != 4 || decimals[3] != '1') {
		t.Fatalf("time %s has not three decimals", n)
	}
	ns, err := json.Number(whole + decimals[:3]).Int64()
	if err != nil {
		t.Fatal(err)
	}
	if number, err := n.Float64(); err != nil || int64(number*1000) != ns {
		t.Fatalf("Perfetto reads %s as %d ns (%v)", n, int64(number*1000), err)
	}
	return ns
}

// events parses a trace; unknown keys are errors.
func events(t *testing.T, document []byte) []event {
	t.Helper()
	var file struct {
		Events   []event           `json:"traceEvents"`
		Unit     string            `json:"displayTimeUnit"`
		Metadata map[string]string `json:"otherData"`
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Unit != "ms" || file.Metadata["times"] == "" {
		t.Errorf("unit %q, metadata %q", file.Unit, file.Metadata)
	}
	return file.Events
}

// thread is a track of a trace, with its slices in the order of the file.
type thread struct{ pid, tid int }

// demandTrace demands what viewers need: threads with a name whose events follow each
// other without overlap, and arrows with one start and one end, each within an event,
// forward in time. It returns the number of complete events and of arrows.
func demandTrace(t *testing.T, document []byte) (slices, arrows int) {
	t.Helper()
	free, named, current := map[thread]int64{}, map[thread]bool{}, map[thread]event{}
	numbers := map[int]bool{}
	starts, ends := map[string]int64{}, map[string]int64{}
	for i, e := range events(t, document) {
		at := thread{e.PID, e.TID}
		switch e.Phase {
		case "M":
			if e.Name == "process_name" || e.Name == "thread_name" {
				id := max(e.TID, e.PID)
				if e.Name == "thread_name" {
					id, named[at] = e.TID, true
				}
				if id == 0 || numbers[id] {
					t.Fatalf("event %d: process or thread number %d is 0 or not its own", i, id)
				}
				numbers[id] = true
			}
		case "X":
			start, duration := nanoseconds(t, e.Time), nanoseconds(t, e.Dur)
			if !named[at] || start < free[at] || duration < 0 {
				t.Fatalf("event %d: %s at %s for %s overlaps the one before it, until %d ns", i, e.Name, e.Time, e.Dur, free[at])
			}
			free[at], current[at] = start+duration, e
			slices++
		case "s", "f":
			if _, err := strconv.ParseUint(e.ID, 0, 64); err != nil || !strings.HasPrefix(e.ID, "0x") {
				t.Fatalf("event %d: Perfetto reads hexadecimal numbers of arrows, not %q", i, e.ID)
			}
			list := map[string]map[string]int64{"s": starts, "f": ends}[e.Phase]
			time, around := nanoseconds(t, e.Time), current[at]
			if _, twice := list[e.ID]; twice {
				t.Fatalf("event %d: arrow %s has two ends of phase %s", i, e.ID, e.Phase)
			}
			if first := nanoseconds(t, around.Time); time < first || time > first+nanoseconds(t, around.Dur) {
				t.Fatalf("event %d: an end of arrow %s at %d ns is outside %s", i, e.ID, time, around.Name)
			}
			if (e.Phase == "f") != (e.Bind == "e") {
				t.Fatalf("event %d: phase %s binds by %q", i, e.Phase, e.Bind)
			}
			list[e.ID] = time
		case "C":
			if len(e.Args) != 1 || nanoseconds(t, e.Time) < 0 {
				t.Fatalf("event %d: counter of %v at %s", i, e.Args, e.Time)
			}
		default:
			t.Fatalf("event %d: phase %q", i, e.Phase)
		}
	}
	for id, time := range ends {
		if start, ok := starts[id]; !ok || start >= time {
			t.Fatalf("arrow %s ends at %d ns and starts at %d ns (%t)", id, time, start, ok)
		}
	}
	if len(starts) != len(ends) {
		t.Fatalf("%d arrows start, %d end", len(starts), len(ends))
	}
	return slices, len(ends)
}

func TestTrace(t *testing.T) {
	quoted := modelgen.Unit(2, 2)
	quoted.Pipeline.Name, quoted.Pipeline.Devices[0].Name = "\"two\"\n", "显卡\\0"
	for _, c := range []struct {
		name       string
		p          *model.Problem
		inFlight   int
		measured   bool
		provenance string
		arrows     int // of the prediction
	}{
		{name: "unit", p: modelgen.Unit(2, 2), arrows: 4, provenance: "times of the plan"},
		{name: "measured", p: named(), inFlight: 4, measured: true, arrows: 48},
		{name: "oddities", p: oddities()}, // transfers stand on both devices, so no arrows
		{name: "operations", p: operations(), arrows: 37},
		{name: "quoted", p: quoted, arrows: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, tl := scheduled(t, c.p, c.inFlight)
			length, _ := view.TickLength(c.p)
			lanes := []view.TraceLane{view.LaneOf("predicted", c.p, plan, tl, length)}
			slices, arrows := demandTrace(t, trace(t, lanes, view.TraceOptions{}))
			if slices != plan.NumOps() || arrows != c.arrows {
				t.Errorf("%d events and %d arrows, want %d and %d", slices, arrows, plan.NumOps(), c.arrows)
			}
			if c.measured {
				lanes = append(lanes, measured(c.p, plan, tl, length, 1))
			}
			document := trace(t, lanes, view.TraceOptions{Provenance: c.provenance})
			demandTrace(t, document)
			golden(t, "trace_"+c.name+".json", document)
		})
	}
}

// TestTraceOfRandomPlans demands of plans of any shape, as predicted and as measured
// with broken precedences, what viewers need, and that every precedence between devices
// of a prediction is an arrow.
func TestTraceOfRandomPlans(t *testing.T) {
	for seed := range uint64(150) {
		p, err := model.Compile(modelgen.RandomPipeline(seed, 8))
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := modelgen.RandomPlan(p, seed)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		length := 1000 + float64(seed)/7 // whole and broken nanoseconds
		lane := view.LaneOf("predicted", p, plan, tl, length)
		slices, arrows := demandTrace(t, trace(t, []view.TraceLane{lane}, view.TraceOptions{}))
		if want := precedences(p, plan, tl); slices != plan.NumOps() || arrows != want {
			t.Errorf("seed %d: %d events and %d arrows, want %d and %d", seed, slices, arrows, plan.NumOps(), want)
		}
		lanes := []view.TraceLane{lane, measured(p, plan, tl, length, seed)}
		first := trace(t, lanes, view.TraceOptions{})
		demandTrace(t, first)
		if !bytes.Equal(first, trace(t, lanes, view.TraceOptions{})) {
			t.Errorf("seed %d: two traces of the same lanes differ", seed)
		}
	}
}

// precedences counts pairs of operations, the second waiting for the first, on devices
// of their own, whose first has a length or ends before the second starts.
func precedences(p *model.Problem, plan *model.Plan, tl *model.Timeline) int {
	pairs := map[[2]model.OpID]bool{}
	for _, order := range plan.Order {
		for _, op := range order {
			r, row := p.RowOf(op), p.Row(op)
			for _, pred := range row.Preds {
				first, end := p.PredOps(r, p.Index(op), pred)
				for q := first; q < end; q++ {
					from := q
					if twin := p.Rows[pred.Row].Twin; tl.Start[q] < 0 && twin >= 0 {
						from = p.Base(int(twin)) + q - p.Base(int(pred.Row))
					}
					shares := slices.ContainsFunc(p.Row(from).Devices, func(d int32) bool { return slices.Contains(row.Devices, d) })
					if tl.Start[from] >= 0 && !shares && (p.Duration(from) > 0 || tl.Start[from] < tl.Start[op]) {
						pairs[[2]model.OpID{from, op}] = true
					}
				}
			}
		}
	}
	return len(pairs)
}

// TestTraceComparison demands the figures of an operation that ran later and longer.
func TestTraceComparison(t *testing.T) {
	p := modelgen.Unit(1, 1)
	plan, tl := scheduled(t, p, 0)
	predicted := view.LaneOf("predicted", p, plan, tl, 1000)
	ran := view.TraceLane{Name: "measured", Problem: p, Plan: plan, Start: []int64{500, 2000, -1}, End: []int64{1750, 2900, -1}}
	var found []event
	for _, e := range events(t, trace(t, []view.TraceLane{predicted, ran}, view.TraceOptions{})) {
		if e.Phase == "X" && e.Args["predicted_us"] != nil {
			found = append(found, e)
		}
	}
	if len(found) != 2 {
		t.Fatalf("%d operations are compared, want the 2 that ran", len(found))
	}
	for i, want := range []map[string]any{
		{"duration_us": 1.25, "predicted_us": 1.0, "error_percent": 25.0, "late_us": 0.5, "stage": 0.0, "micro_batch": 0.0, "kind": "forward"},
		{"duration_us": 0.9, "predicted_us": 1.0, "error_percent": -10.0, "late_us": 1.0, "stage": 0.0, "micro_batch": 0.0, "kind": "backward_input"},
	} {
		for key, value := range want {
			if found[i].Args[key] != value {
				t.Errorf("%s: %s is %v, want %v", found[i].Name, key, found[i].Args[key], value)
			}
		}
	}
}

// TestTraceMemory demands that the counter of each device peaks where the metrics do.
func TestTraceMemory(t *testing.T) {
	p := named()
	plan, tl := scheduled(t, p, 4)
	metrics := model.Measure(p, plan, tl)
	peaks := map[string]float64{}
	for _, e := range events(t, trace(t, []view.TraceLane{view.LaneOf("predicted", p, plan, tl, 100)}, view.TraceOptions{})) {
		if e.Phase == "C" {
			peaks[e.Name] = max(peaks[e.Name], e.Args["B"].(float64))
		}
	}
	for d := range p.NumDevices() {
		if got, want := peaks[p.DeviceName(d)+" memory"], float64(metrics.Devices[d].Peak)*1024; got != want {
			t.Errorf("device %d: the counter peaks at %v B, want %v", d, got, want)
		}
	}
}

func TestTickLength(t *testing.T) {
	for _, c := range []struct {
		unit     model.Unit
		want     float64
		physical bool
	}{
		{model.Unit{Name: "us", Multiplier: 1, Divisor: 10}, 100, true},
		{model.Unit{Name: "s", Multiplier: 5}, 5e9, true},
		{model.Unit{Name: "ns"}, 1, true},
		{model.Unit{}, 1000, false},
		{model.Unit{Name: "tick", Divisor: 2}, 500, false},
	} {
		p := modelgen.Unit(1, 1)
		p.Pipeline.TimeUnit = c.unit
		if got, physical := view.TickLength(p); got != c.want || physical != c.physical {
			t.Errorf("%v: %v ns, physical %t; want %v, %t", c.unit, got, physical, c.want, c.physical)
		}
	}
}

func TestLaneErrors(t *testing.T) {
	p := modelgen.Unit(1, 1) // F, I, W
	gang := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 1, Placement: [][]int{{0, 1}}})
	order := &model.Plan{Order: [][]model.OpID{{0, 1, 2}}}
	start, end := []int64{0, 10, 20}, []int64{10, 20, 30}
	for reason, lane := range map[string]view.TraceLane{
		"do not fit":              {Problem: p, Plan: &model.Plan{}, Start: start, End: end},
		"2 ends":                  {Problem: p, Plan: order, Start: start, End: end[:2]},
		"does not exist":          {Problem: p, Plan: &model.Plan{Order: [][]model.OpID{{3}}}, Start: start, End: end},
		"twice":                   {Problem: p, Plan: &model.Plan{Order: [][]model.OpID{{0, 0}}}, Start: []int64{0, 0, 0}, End: []int64{0, 0, 0}},
		"start of the iteration":  {Problem: p, Plan: order, Start: []int64{-5, 10, 20}, End: end},
		"before it starts":        {Problem: p, Plan: order, Start: []int64{0, 10, 31}, End: end},
		"36 years":                {Problem: p, Plan: order, Start: start, End: []int64{10, 20, 1 << 61}},
		"one at a time":           {Problem: p, Plan: order, Start: []int64{0, 9, 20}, End: end},
		"missing in the order":    {Problem: gang, Plan: &model.Plan{Order: [][]model.OpID{{0}, nil}}, Start: start, End: end},
		"device too many or too ": {Problem: gang, Plan: &model.Plan{Order: [][]model.OpID{nil, {0}}}, Start: start, End: end},
	} {
		lane.Name = "measured"
		err := view.Trace(io.Discard, []view.TraceLane{lane}, view.TraceOptions{})
		var laneError *view.LaneError
		if !errors.As(err, &laneError) || !strings.Contains(err.Error(), reason) || laneError.Lane != "measured" {
			t.Errorf("want a lane error with %q, got %v", reason, err)
		}
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTraceReportsTheWriter(t *testing.T) {
	p := modelgen.Unit(4, 200)
	plan := modelgen.OneForwardOneBackward(p)
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := view.Trace(broken{}, []view.TraceLane{view.LaneOf("predicted", p, plan, tl, 1)}, view.TraceOptions{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkTrace(b *testing.B) {
	p := modelgen.Unit(64, 521) // 100,032 operations
	plan := modelgen.OneForwardOneBackward(p)
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		b.Fatal(err)
	}
	lanes := []view.TraceLane{view.LaneOf("predicted", p, plan, tl, 1000)}
	b.ReportAllocs()
	for b.Loop() {
		if err := view.Trace(io.Discard, lanes, view.TraceOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
