package model_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// roundTrip encodes and decodes a plan file and demands the same content and, on
// encoding again, the same bytes.
func roundTrip(t testing.TB, f *model.PlanFile) {
	t.Helper()
	data := encode(t, f)
	got, err := model.DecodePlan(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if !reflect.DeepEqual(got.Problem.Pipeline, f.Problem.Pipeline) {
		t.Fatalf("pipeline %+v\nwant %+v", got.Problem.Pipeline, f.Problem.Pipeline)
	}
	if !reflect.DeepEqual(got.Plan, f.Plan) {
		t.Fatalf("plan %v\nwant %v", got.Plan, f.Plan)
	}
	if got.Times != nil && !reflect.DeepEqual(got.Times, f.Times) {
		t.Fatalf("times %v\nwant %v", got.Times, f.Times)
	}
	if got.Provenance != f.Provenance || !reflect.DeepEqual(got.Figures, f.Figures) {
		t.Fatalf("provenance and figures %v %v\nwant %v %v", got.Provenance, got.Figures, f.Provenance, f.Figures)
	}
	got.Orders = f.Orders
	if again := encode(t, got); !bytes.Equal(again, data) {
		t.Fatalf("encoded again:\n%s\nfirst:\n%s", again, data)
	}
}

// shuffled returns every operation of p, each on its devices in random order.
func shuffled(p *model.Problem, seed uint64) *model.Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	plan := &model.Plan{Order: make([][]model.OpID, p.NumDevices())}
	for op := range model.OpID(p.NumOps()) {
		for _, d := range p.Row(op).Devices {
			plan.Order[d] = append(plan.Order[d], op)
		}
	}
	for d, order := range plan.Order {
		r.Shuffle(len(order), func(i, j int) { plan.Order[d][i], plan.Order[d][j] = order[j], order[i] })
	}
	return plan
}

// perturbed swaps a few neighbours of a plan.
func perturbed(plan *model.Plan, r *rand.Rand) {
	for _, order := range plan.Order {
		for range r.IntN(4) {
			if len(order) > 1 {
				i := r.IntN(len(order) - 1)
				order[i], order[i+1] = order[i+1], order[i]
			}
		}
	}
}

func TestPlanFileRoundTripOfRandomPlans(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		pl := modelgen.RandomPipeline(seed, 40)
		if pl.Factors == nil {
			pl.FactorScale = 1 // as DecodePlan sets it
		}
		p := compile(t, pl)
		f := &model.PlanFile{Problem: p, Orders: model.OrderForm(r.IntN(3))}
		switch r.IntN(3) {
		case 0:
			f.Plan = shuffled(p, seed)
		case 1:
			f.Plan = allForwardAllBackward(p)
			perturbed(f.Plan, r)
		case 2:
			f.Plan, _ = modelgen.RandomPlan(p, seed)
		}
		addExtras(f, r)
		roundTrip(t, f)
	}
}

// addExtras adds what a plan file may leave out.
func addExtras(f *model.PlanFile, r *rand.Rand) {
	p := f.Problem
	if r.IntN(2) == 0 {
		f.Times = &model.Timeline{Start: make([]model.Time, p.NumOps())}
		for op := range f.Times.Start {
			f.Times.Start[op] = model.Absent
		}
		for _, order := range f.Plan.Order {
			for _, op := range order {
				f.Times.Start[op] = model.Time(r.IntN(1000))
			}
		}
		f.Figures = &model.Figures{Value: 7, Bound: 5}
	}
	for range r.IntN(3) {
		f.Plan.Waits = append(f.Plan.Waits, model.Wait{
			Before: model.OpID(r.IntN(p.NumOps())), After: model.OpID(r.IntN(p.NumOps())),
		})
	}
}

// everything returns a pipeline in which no field has its default.
func everything() *model.Pipeline {
	durations := func(k model.Time) model.Durations {
		return model.Durations{Forward: 2 * k, BackwardInput: 4 * k, BackwardWeight: 0, BackwardFull: 6 * k, Overlapped: 8 * k}
	}
	return &model.Pipeline{
		Name: `of "all" <things>, µ`, Objective: model.Span, MicroBatches: 3,
		TimeUnit: model.Unit{Name: "us", Multiplier: 1, Divisor: 10}, MemoryUnit: model.Unit{Name: "byte", Multiplier: 1024, Divisor: 1},
		Factors: []int64{2, 4, 3}, FactorScale: 2, Routes: []int{0, 1, 0},
		Devices: []model.Device{{Name: "gpu0", Limit: 100}, {Limit: model.Unlimited}, {Name: "gpu2", Limit: 0}},
		Stages: []model.Stage{
			{Replicas: []model.Replica{
				{Devices: []int{0}, Durations: durations(1)}, {Devices: []int{2, 1}, Durations: durations(3)},
			}, Backward: model.Auto, Activation: 5, FreedByInput: -2, Static: 9},
			{After: []int{0}, Replicas: []model.Replica{{Devices: []int{1, 2}, Durations: durations(2)}}, Backward: model.Fused},
		},
		Latency: 4, Links: []model.Link{{From: 0, To: 1, Latency: 7}}, Blocking: true,
		Network: `{"kind":"of <its> own","list":[1,{"µ":"a b"}]}`,
	}
}

func TestPlanFileKeepsEveryField(t *testing.T) {
	p := compile(t, everything())
	f := &model.PlanFile{
		Problem: p, Plan: shuffled(p, 1), Figures: &model.Figures{Value: 9, Bound: 0},
		Provenance: model.Provenance{Tool: "flexpipe", Version: "v1", Engine: "lcg", Schedule: "1f1b", Seed: 1<<64 - 1, Created: "2025-01-01T00:00:00Z"},
	}
	f.Plan.Waits = []model.Wait{{Before: 0, After: 1}}
	roundTrip(t, f)
}

const smallPlan = `{
  "format": "flexpipe/plan",
  "version": 1,
  "provenance": {"tool":"flexpipe"},
  "problem": {
    "objective": "makespan",
    "micro_batches": 2,
    "devices": [
      {},
      {"memory_limit":4}
    ],
    "stages": [
      {"devices":[0],"forward":1,"backward_input":1,"backward_weight":1,"backward_full":2},
      {"after":[0],"devices":[1],"forward":1,"backward_input":1,"backward_weight":1,"backward_full":2}
    ]
  },
  "figures": {"value":9,"bound":8},
  "order": [
    ["0F0","0F1","0I0","0W0","0I1","0W1"],
    ["1F0","1I0","1W0","1F1","1I1","1W1"]
  ],
  "times": [
    [0,1,3,4,6,7],
    [1,2,3,4,5,6]
  ]
}
`

func TestPlanFileText(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Limit: []model.Bytes{model.Unlimited, 4}})
	f := &model.PlanFile{
		Problem: p, Plan: modelgen.OneForwardOneBackward(p), Figures: &model.Figures{Value: 9, Bound: 8},
		Provenance: model.Provenance{Tool: "flexpipe"},
	}
	var err error
	if f.Times, err = model.Evaluate(p, f.Plan); err != nil {
		t.Fatal(err)
	}
	if got := string(encode(t, f)); got != smallPlan {
		t.Errorf("got\n%s\nwant\n%s", got, smallPlan)
	}
}

func TestDecodePlanTakesMembersInAnyOrder(t *testing.T) {
	head, order, _ := strings.Cut(smallPlan, `  "order": `)
	moved := "{\n  \"order\": " + strings.TrimSuffix(order, "\n}\n") + ",\n" + strings.TrimPrefix(strings.TrimSuffix(head, ",\n"), "{\n") + "\n}\n"
	if _, err := model.DecodePlan([]byte(moved)); err != nil {
		t.Errorf("%v\n%s", err, moved)
	}
}

func TestDecodePlanErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{smallPlan, ``, "line 1, column 1: this is no plan file"},
		{smallPlan, `version: 1`, "line 1, column 1: this is no plan file"},
		{smallPlan, `{"devices": 4}`, "line 1, column 1: this is no plan file"},
		{"  ]\n}\n", "", "line 25, column 1 (times): the file is cut off"},
		{"  ]\n}\n", "  ]\n", "the file is cut off"},
		{"\n}\n", "\n}\n[]", "line 27, column 1: a list stands where the end of the file is expected"},
		{"flexpipe/plan", "flexpipe/result", `line 2, column 13 (format): this is no plan file: the format is "flexpipe/result", not "flexpipe/plan"`},
		{`"version": 1`, `"version": 2`, `line 3, column 14 (version): version 2 is unknown; this program reads version 1`},
		{`"version": 1`, `"version": 1.0`, `"1.0" stands where a whole number without point or exponent is expected`},
		{`"version": 1`, `"version": "1"`, "a string stands where a whole number is expected"},
		{`"figures"`, `"figure"`, `line 17, column 3 (figure): unknown key; the keys here are format,`},
		{`"figures"`, `"version"`, `line 17, column 3: key "version" is given twice`},
		{`"micro_batches"`, `"objective": "span", "objective"`, `(problem): key "objective" is given twice`},
		{`"objective"`, `"Objective"`, `(problem): unknown key "Objective"; the keys here are name,`},
		{`{},`, `null,`, `line 9, column 7 (problem.devices[0]): "null" stands where an object is expected`},
		{`{},`, `{"memory_limit":-4},`, "line 9, column 7 (problem.devices[0]): memory limit -4 is negative"},
		{`"makespan"`, `"time"`, `line 6, column 18 (problem.objective): "time" is not known; known are ["makespan" "span"]`},
		{`"devices":[1]`, `"devices":[2]`, "line 14, column 7 (problem.stages[1]): sits on device 2"},
		{`"devices":[1],"forward":1`, `"devices":[1]`, "has no forward"},
		{`"devices":[1],"forward":1`, `"devices":[1],"forward":-1`, "line 14, column 7 (problem.stages[1]): duration -1 is negative"},
		{`"devices":[1]`, `"replicas":[]`, "(problem.stages[1]): devices or durations stand beside the list of replicas"},
		{`"micro_batches": 2`, `"micro_batches": 99999999`, "line 7, column 22 (problem.micro_batches): 99999999 micro-batches; a plan file may have 67108864"},
		{`"0F1"`, `"0F2"`, `line 19, column 12 (order[0][1]): operation "0F2": there is no micro-batch 2; they are 0 to 1`},
		{`"0F1"`, `7`, `(order[0][1]): "7" stands where a string is expected`},
		{`"0F1"`, `{"period":["0F0"],"step":1,"count":3}`, "(order[0][1]): a period is repeated 3 times"},
		{`"0F1"`, `{"period":["0F0"],"step":-1,"count":2}`, "0F0 with step -1, 2 times, reaches micro-batch -1"},
		{`"0F1"`, `{"period":["0F0"],"step":0,"count":2}`, "has step 0"},
		{`"0F1"`, `{"period":[],"step":0,"count":2}`, "a period without operations"},
		{`"0F1"`, `{"period":["0F0"],"count":1,"steps":2}`, `unknown key "steps"`},
		{`["1F0","1I0","1W0","1F1","1I1","1W1"]`, `[],[]`, "there is no device 2; the problem has 2"},
		{`,
    ["1F0","1I0","1W0","1F1","1I1","1W1"]`, ``, "orders of 1 devices; the problem has 2"},
		{`[0,1,3,4,6,7]`, `[0,1,3,4,6,7.5]`, `(times[0][5]): "7.5" stands where a whole number`},
		{`[0,1,3,4,6,7]`, `"0"`, "(times[0]): a string stands where a list is expected"},
		{`"tool":"flexpipe"`, `"seed":-1`, `(provenance.seed): "-1" stands where a whole number from 0 is expected`},
		{`"tool":"flexpipe"`, `"tool":"\u001b[2J"`, "line 4, column 25 (provenance.tool): the text is not a short printable line"},
		{`"tool":"flexpipe"`, `"to\u001b[2Jol":""`, `(provenance): unknown key "to\x1b[2Jol"`},
		{`"figures"`, `"é\u0007"`, `line 17, column 3 ("é\a"): unknown key`},
		{`"objective"`, `"name":"a\nb","objective"`, "line 6, column 12 (problem.name): the text is not a short"},
		{`"objective"`, `"time_unit":{"name":"\u0007","multiplier":1,"divisor":1},"objective"`, "(problem.time_unit.name): the text is not"},
		{`"objective"`, `"memory_unit":{"name":"` + strings.Repeat("x", 257) + `","multiplier":1,"divisor":1},"objective"`, "(problem.memory_unit.name): the text is not"},
		{`{},`, `{"name":"\u009b"},`, "line 9, column 15 (problem.devices[0].name): the text is not"},
		{`"objective": "makespan"`, `"name": "é", "objective": "é"`, `line 6, column 31 (problem.objective): "é" is not known`},
		{`"figures": {"value":9,"bound":8}`, `"waits": [["0F0"]]`, "(waits[0]): a wait edge has 2 operations"},
	} {
		text := strings.Replace(smallPlan, c.old, c.new, 1)
		if text == smallPlan {
			t.Fatalf("%q does not occur", c.old)
		}
		_, err := model.DecodePlan([]byte(text))
		var file *model.FileError
		if !errors.As(err, &file) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: error\n\t%v\nwant\n\t%s", c.old, c.new, err, c.want)
		}
	}
}

// TestDecodePlanTellsMisfits edits orders and times: the file stays readable, and
// what does not fit is told.
func TestDecodePlanTellsMisfits(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`[0,1,3,4,6,7]`, `[0,1,3,4,6]`, "device 0 has 5 times for 6 operations"},
		{`[0,1,3,4,6,7]`, `[0,1,3,4,6,7,8]`, "device 0 has 7 times for 6 operations"},
		{`[0,1,3,4,6,7]`, `[0,1,3,4,6,-7]`, "0W1 starts at -7 ticks, before 0"},
		{`"0W0","0I1"`, `"0I1"`, "device 0 has 6 times for 5 operations"},
		{`"0I1","0W1"`, `"0I1","0F0"`, "0F0 starts at 0 ticks in one place and at 7 ticks in another"},
		{",\n    [1,2,3,4,5,6]", "", "there are times of 1 device, and orders of 2"},
		{"[1,2,3,4,5,6]", "[1,2,3,4,5,6], []", "there are times of 3 devices, and orders of 2"},
	} {
		text := strings.Replace(smallPlan, c.old, c.new, 1)
		if text == smallPlan {
			t.Fatalf("%q does not occur", c.old)
		}
		f, err := model.DecodePlan([]byte(text))
		if err != nil || f.Times != nil || len(f.Misfits) != 1 || f.Misfits[0] != c.want {
			t.Errorf("%s -> %s: error %v, misfits %+v, want %s", c.old, c.new, err, f, c.want)
		}
	}
}

// TestDecodePlanRefusesClaims gives short files that stand for more than a
// reader should allocate.
func TestDecodePlanRefusesClaims(t *testing.T) {
	many := strings.Replace(smallPlan, `"micro_batches": 2`, `"micro_batches": 60000000`, 1)
	periods := strings.Replace(many, `"0F0",`, `{"period":["0F0","0I0"],"step":1,"count":60000000},`, 1)
	for want, text := range map[string]string{
		"the orders hold 12 of 360000000 operations":      many,
		"periods stand for more than 67108864 operations": periods,
	} {
		if _, err := model.DecodePlan([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	replicas := strings.Replace(smallPlan, `"devices":[0],"forward":1,"backward_input":1,"backward_weight":1,"backward_full":2`,
		`"replicas":[`+strings.Repeat(`{"devices":[0],"forward":1},`, 128)+`{"devices":[0],"forward":1}]`, 1)
	if _, err := model.DecodePlanSmall([]byte(replicas)); err == nil || !strings.Contains(err.Error(), "2 stages with up to 129 replicas") {
		t.Errorf("error %v", err)
	}
}

// TestPlanFileNetwork holds the network to any JSON object, which may stand on several
// lines and comes back on one.
func TestPlanFileNetwork(t *testing.T) {
	with := func(network string) string {
		return strings.Replace(smallPlan, "    ]\n  },\n", "    ],\n    \"network\": "+network+"\n  },\n", 1)
	}
	f, err := model.DecodePlan([]byte(with("{ \"a\" :\n [1.5e3, {\"b\": null}],\r\n \"c\": \" \\n\" }")))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"a":[1.5e3,{"b":null}],"c":" \n"}`
	if f.Problem.Pipeline.Network != want {
		t.Errorf("network %s, want %s", f.Problem.Pipeline.Network, want)
	}
	if text := string(encode(t, f)); text != with(want) {
		t.Errorf("got\n%s\nwant\n%s", text, with(want))
	}
	for network, want := range map[string]string{
		`"{}"`:                  "plan file, line 16, column 16 (problem.network): a string stands where an object is expected",
		`[]`:                    "plan file, line 16, column 16 (problem.network): a list stands where an object is expected",
		`null`:                  `plan file, line 16, column 16 (problem.network): "null" stands where an object is expected`,
		`{"a": 1,}`:             "plan file, line 16, column 24 (problem.network): the object is not valid JSON: invalid character '}' looking for beginning of object key string",
		`{"a": [1}}`:            "plan file, line 16, column 24 (problem.network): the object is not valid JSON: invalid character '}' after array element",
		`{"a` + "\xff" + `":1}`: "plan file, line 16, column 16 (problem.network): the object is not valid UTF-8",
		`{"a":"` + strings.Repeat("x", 16<<20) + `"}`: "plan file, line 16, column 16 (problem.network): the object has 16777224 bytes; a plan file may have 16777216 there",
	} {
		if _, err := model.DecodePlan([]byte(with(network))); err == nil || err.Error() != want {
			t.Errorf("%.40s: error %v, want %s", network, err, want)
		}
	}
	for _, network := range []string{`[]`, `{`, "{\n}", "{\"\xff\":1}", ` {}`} {
		f.Problem.Pipeline.Network = network
		if err := f.Encode(&bytes.Buffer{}); err == nil || err.Error() != "plan file: the network is not a JSON object on one line" {
			t.Errorf("%q: error %v", network, err)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	p := modelgen.Unit(1, 1)
	for want, f := range map[string]*model.PlanFile{
		"orders for 0 devices":        {Plan: &model.Plan{}},
		"operation 9 does not exist":  {Plan: &model.Plan{Order: [][]model.OpID{{9}}}},
		"0F0 has no time":             {Plan: &model.Plan{Order: [][]model.OpID{{0}}}, Times: &model.Timeline{Start: []model.Time{-1, 0, 0}}},
		"the times are for 0":         {Plan: &model.Plan{Order: [][]model.OpID{{0}}}, Times: &model.Timeline{}},
		"wait edge from operation -1": {Plan: &model.Plan{Order: [][]model.OpID{{0}}, Waits: []model.Wait{{Before: -1}}}},
	} {
		f.Problem = p
		if err := f.Encode(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// FuzzDecodePlan demands that what decodes encodes to a fixed point.
func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(smallPlan))
	for seed := range uint64(8) {
		p := modelgen.Problem(modelgen.Random(seed, 12))
		f.Add(encode(f, &model.PlanFile{Problem: p, Plan: allForwardAllBackward(p), Orders: model.CompactOrders}))
	}
	all := compile(f, everything())
	f.Add(encode(f, &model.PlanFile{Problem: all, Plan: shuffled(all, 1)}))
	for seed := range uint64(8) {
		p := compile(f, modelgen.RandomPipeline(seed, 6))
		plan, _ := modelgen.RandomPlan(p, seed)
		f.Add(encode(f, &model.PlanFile{Problem: p, Plan: plan, Orders: model.ListedOrders}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := model.DecodePlanSmall(data)
		if err != nil {
			var file *model.FileError
			if !errors.As(err, &file) {
				t.Fatalf("error %T, want a FileError: %v", err, err)
			}
			return
		}
		once := encode(t, first)
		second, err := model.DecodePlan(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		if !reflect.DeepEqual(first.Plan.Waits, second.Plan.Waits) || first.Plan.NumOps() != second.Plan.NumOps() {
			t.Fatalf("plan %v, decoded again %v", first.Plan, second.Plan)
		}
		if twice := encode(t, second); !bytes.Equal(once, twice) {
			t.Fatalf("encoded\n%s\nencoded again\n%s", once, twice)
		}
	})
}

func BenchmarkDecodePlan(b *testing.B) {
	p := modelgen.Unit(64, 512)
	for name, form := range map[string]model.OrderForm{"listed": model.ListedOrders, "compact": model.CompactOrders} {
		data := encode(b, &model.PlanFile{Problem: p, Plan: modelgen.OneForwardOneBackward(p), Orders: form})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := model.DecodePlan(data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
		})
	}
}

// TestDecodePlanFigures demands both figures or none, and reads past the mark that
// some editors put in front.
func TestDecodePlanFigures(t *testing.T) {
	p := modelgen.Unit(2, 2)
	var b bytes.Buffer
	f := &model.PlanFile{Problem: p, Plan: modelgen.OneForwardOneBackward(p), Figures: &model.Figures{Value: 9, Bound: 8}}
	if err := f.Encode(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	if got, err := model.DecodePlan([]byte("\ufeff" + whole)); err != nil || *got.Figures != *f.Figures {
		t.Errorf("with a byte order mark: %v", err)
	}
	at := strings.Index(whole, `"bound"`)
	half := whole[:strings.LastIndex(whole[:at], ",")] + whole[at+strings.Index(whole[at:], "8")+1:]
	if _, err := model.DecodePlan([]byte(half)); err == nil || !strings.Contains(err.Error(), "figures need a value and a bound") {
		t.Errorf("half of the figures: %v", err)
	}
}
