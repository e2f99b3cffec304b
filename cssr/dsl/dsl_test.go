package dsl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// four is the line that makes the pipeline of most tests.
const four = `p = pipeline(devices = 4, micro_batches = 8, costs = {"forward": 10, "backward_input": 11, "backward_weight": 9})` + "\n"

// fourKeys are the keys of four, in the order of encoding/json.
const fourKeys = `{"costs": {"backward_input": 11, "backward_weight": 9, "forward": 10}, "devices": 4, "micro_batches": 8, "version": 1}`

// request returns the request of a script.
func request(t testing.TB, source string, o Options) *cssr.Request {
	t.Helper()
	script, err := Run(context.Background(), "dir/test.star", []byte(source), o)
	if err != nil {
		t.Fatal(err)
	}
	return script.Request
}

// refusal returns the error of a script.
func refusal(t testing.TB, ctx context.Context, source string, o Options) *Error {
	t.Helper()
	_, err := Run(ctx, "dir/test.star", []byte(source), o)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s\nerror %v", source, err)
	}
	return e
}

// TestPoints compares scripts with the text form of the points that they name.
func TestPoints(t *testing.T) {
	for source, want := range map[string]string{
		``:                    `*`,
		`p.prefer("I > F>W")`: `types=I>F>W`,
		`p.prefer(["I", "backward_weight"], phase = "warm-up").prefer("F", actor = 2)`: `types.warm-up=I>backward_weight types@2=F`,
		`p.prefer("I", actor = 1, phase = "steady").prefer("W > F", 1, "steady")`:      `types@1.steady=W>F`,
		`p.backward("auto").objective("span")`:                                         `backward=auto objective=span`,
		`p.place("v", chunks = 2)`:                                                     `placement=v chunks=2`,
		`p.place("loop", 4).place("linear")`:                                           `placement=linear`,
		`p.traverse("wave").traverse("depth-first", group = 4)`:                        `traversal=depth-first group=4`,
		`p.in_flight(3)`:                                                 `in-flight=3`,
		`p.in_flight([4, 3, 2, 1])`:                                      `in-flight=4,3,2,1`,
		`p.in_flight(lambda d: 2 * d + 1).memory(7)`:                     `in-flight=1,3,5,7 memory=7`,
		`p.memory("80%")`:                                                `memory=80%`,
		`p.memory(lambda d: "%d%%" % (100 - d))`:                         `memory=100%,99%,98%,97%`,
		`p.weights("fill")`:                                              `weights=fill`,
		`p.weights("deferred", outstanding = lambda d: d).patience(8)`:   `patience=8 weights=deferred:0,1,2,3`,
		`p.patience(2).patience(4, "W").patience(3)`:                     `patience=W:4,3`,
		`p.weights("deferred", 2); build(p)`:                             `weights=deferred:2`,
		`q = p.in_flight(2); q.in_flight(3)`:                             `in-flight=3`,
		`[p.prefer("F", actor = d) for d in range(2) if d % 2 == 1]`:     `types@1=F`,
		`p.in_flight(p.devices + p.stages + p.micro_batches)`:            `in-flight=16`,
		`p.place("v", chunks = 2); p.in_flight(p.stages_on(1))`:          "",
		`p.place("v", chunks = 2); p.in_flight(p.stage_of(1, 1))`:        `placement=v chunks=2 in-flight=6`,
		`p.place([3, 2, 1, 0]); p.in_flight(p.device_of(0))`:             `in-flight=3`,
		`p.place(lambda s: 3 - s); p.in_flight(len(p.stages_on(0)))`:     `in-flight=1`,
		`p.in_flight(dict(a = 1)["a"]).prefer("F > B > I > W"[0:5:4])`:   `types=FB in-flight=1`,
		`p.backward(["split", "fused", "fused", "auto"]).in_flight(1)`:   `in-flight=1`,
		`p.backward(lambda s: "split" if s else "auto").prefer("B > I")`: `types=B>I`,
	} {
		script, err := Run(context.Background(), "test.star", []byte(four+source), Options{})
		if err != nil {
			if want == "" || strings.Contains(want, "FB") {
				continue // refused, as two entries for four devices, and kind FB
			}
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := script.Request.Point.String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", source, got, want)
		}
	}
}

// TestConfigurations reads keys of files, of the command line and of the script.
func TestConfigurations(t *testing.T) {
	files := fstest.MapFS{
		"dir/base.yaml": {Data: []byte("version: 1\nname: base\ndevices: 3\nmicro_batches: 6\ncosts: {forward: 1, backward_full: 2}\nbackward: fused\n")},
		"user.yaml":     {Data: []byte("version: 1\nname: user\ndevices: 5\nmicro_batches: 9\ncosts: {forward: 1, backward_full: 2}\nbackward: fused\n")},
	}
	const keys = `devices = 2, micro_batches = 4, costs = {"forward": 0.1, "backward_full": "2.5ms"}, unit = "us", backward = "fused"`
	for _, c := range []struct {
		source, config, name string
		devices, micro       int
	}{
		{`config("base.yaml")`, "", "base", 3, 6},
		{`config("base.yaml", micro_batches = 7, name = None)`, "", "", 3, 7},
		{`config("../user.yaml", devices = 8)`, "", "user", 8, 9},
		{`config("base.yaml")`, "user.yaml", "base", 3, 6},
		{`config()`, "user.yaml", "user", 5, 9},
		{`config(` + keys + `)`, "user.yaml", "user", 5, 9},
		{`config(` + keys + `)`, "", "", 2, 4},
		{`pipeline(` + keys + `)`, "user.yaml", "", 2, 4},
	} {
		r := request(t, "p = "+c.source, Options{FS: files, Config: c.config})
		if cfg := r.Config; cfg.Name != c.name || len(cfg.Devices) != c.devices || cfg.MicroBatches != c.micro {
			t.Errorf("%s: %q, %d devices, %d micro-batches", c.source, cfg.Name, len(cfg.Devices), cfg.MicroBatches)
		}
	}
	cost := request(t, "p = pipeline("+keys+")", Options{}).Config.Costs[0]
	if cost.Forward.String() != "0.1" || cost.BackwardFull.String() != "2500" {
		t.Errorf("costs %s and %s, want 0.1 and 2500", cost.Forward, cost.BackwardFull)
	}
}

// TestRequests compares what scripts ask for.
func TestRequests(t *testing.T) {
	r := request(t, four+`solve(p.prefer("I > F"), mode = "exact", time_limit = "1m30s")`, Options{})
	if want := (&cssr.SolveRequest{Mode: "exact", TimeLimit: 90 * time.Second}); !reflect.DeepEqual(r.Solve, want) {
		t.Errorf("solve %+v", r.Solve)
	}
	r = request(t, four+`tune(p, placement = ["loop", "v"], chunks = 2, prefer = ["B > F", "F > B"], in_flight = [1, 1.5], patience = [0, 8])`, Options{})
	want := &cssr.Space{Placements: []string{"loop", "v"}, Chunks: []int{2}, Types: [][]string{{"B", "F"}, {"F", "B"}}, InFlight: []float64{1, 1.5}, Patience: []int{0, 8}}
	if !reflect.DeepEqual(r.Tune, want) {
		t.Errorf("tune %+v", r.Tune)
	}
	if r = request(t, four+`p.schedule("zb-h1")`, Options{}); r.Schedule != "zb-h1" {
		t.Errorf("schedule %q", r.Schedule)
	}
	r = request(t, four+four+`other = pipeline(devices = 1, micro_batches = 1, costs = {"forward": 1, "backward_full": 1}, backward = "fused")`+"\nbuild(p)\n", Options{})
	if len(r.Config.Devices) != 4 {
		t.Errorf("%d devices, want those of the pipeline that is submitted", len(r.Config.Devices))
	}
}

// TestArguments sets parameters, which have the type of their defaults.
func TestArguments(t *testing.T) {
	const source = four + `print(arg("n", 3), arg("f", 0.5), arg("s", "x"), arg("b", True), arg("none", None))`
	for _, c := range []struct {
		set  []Setting
		want string
	}{
		{nil, "3 0.5 x True None"},
		{[]Setting{{"n", "-7"}, {"f", "2"}, {"s", "a b,c"}, {"b", "false"}, {"none", "4"}}, "-7 2.0 a b,c False 4"},
		{[]Setting{{"n", "1"}, {"n", "2"}}, "2 0.5 x True None"},
	} {
		got := ""
		request(t, source, Options{Set: c.set, Print: func(text string) { got += text }})
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.set, got, c.want)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"n", "1.5", `--set n=1.5: "1.5" is not a whole number`},
		{"b", "yes", `is not true or false`},
		{"m", "1", `the script has no parameter "m"; it has n, f, s, b and none`},
	} {
		if e := refusal(t, context.Background(), source, Options{Set: []Setting{{c.name, c.value}}}); !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s=%s: %v", c.name, c.value, e)
		}
	}
}

// TestCancel ends a script whose context ends: before it starts, and while it runs.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("interrupted")
	began := func(string) { cancel(reason) }
	e := refusal(t, ctx, four+"print('on')\nfor i in range(4000000):\n  for j in range(4000000):\n    i * j\n", Options{Print: began, Steps: 1 << 62})
	if !errors.Is(e, reason) || !strings.Contains(e.Problem, "interrupted") {
		t.Errorf("error %v", e)
	}
}

// TestConfined demands that a script reaches nothing but what it is given.
func TestConfined(t *testing.T) {
	for source, want := range map[string]string{
		`open("x")`:                               "open is not defined",
		`load("x.star", "y")`:                     "load is not available",
		"def f(): f()\nf()":                       "function f called recursively",
		"while True: pass":                        "does not support while loops",
		`list(range(1 << 40))`:                    "more than 4194304 numbers",
		four + "x = []\nx.append(x)\np.prefer(x)": "neither text nor a whole number",
		"x = []\nx.append(x)\npipeline(name = x)": "too deep",
		"x = 1\nfor i in range(40): x = [x, x]\npipeline(name = x)": "too deep or too large",
		`config("x.yaml")`:              "there is no file system",
		`pipeline(devices = 1 / 3)`:     "is not a whole number",
		`pipeline(name = float("nan"))`: "is no number of a configuration",
		`pipeline(name = {1: 2})`:       "is not a key",
		`pipeline(name = len)`:          "cannot stand in a configuration",
		four + `hash = {p: 1}`:          "a pipeline is no key",
	} {
		if e := refusal(t, context.Background(), source, Options{Steps: 1_000_000}); !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %v", source, e)
		}
	}
}

// TestLongLine shows the part of a line that matters, with nothing that disturbs a
// terminal.
func TestLongLine(t *testing.T) {
	filler := "[" + strings.Repeat("1, ", 100) + "]"
	e := refusal(t, context.Background(), "\ufeffx = "+filler+" + 'é\u200e' + "+filler, Options{})
	lines := strings.Split(e.Error(), "\n")
	if len(lines) != 3 || strings.ContainsRune(lines[1], '\u200e') || len([]rune(lines[1])) > 4+widest+6 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	if at := len([]rune(lines[2])) - 1; []rune(lines[1])[at] != '+' {
		t.Errorf("the caret stands below %q:\n%v", string([]rune(lines[1])[at]), e)
	}
}

// TestOrders reads the forms of an order.
func TestOrders(t *testing.T) {
	const two = `p = pipeline(devices = 2, micro_batches = 1, costs = {"forward": 1, "backward_full": 2}, backward = "fused")` + "\n"
	want := [][]string{{"0F0", "0B0"}, {"1F0", "1B0"}}
	for _, source := range []string{
		`p.order(0, "0F0 0B0"); p.order(1, "1F0  1B0")`,
		`p.order(1, ["1F0", B(1, 0)]).order(0, (F(0, 0),)).order(0, [op("backward_full", 0, 0)])`,
		`[p.order(s, [x(s, micro_batch = 0) for x in [F, B]]) for s in range(p.stages)]`,
		`[p.order(s, [op(k, stage = s, micro_batch = 0) for k in ["forward", "B"]]) for s in range(p.stages)]`,
	} {
		if r := request(t, two+source, Options{}); !reflect.DeepEqual(r.Order, want) {
			t.Errorf("%s: %v", source, r.Order)
		}
	}
	if r := request(t, two+"p.prefer('B > F')", Options{}); r.Order != nil {
		t.Errorf("order %v without one", r.Order)
	}
}

// TestOrdersOfOwnOperations names operations of one's own by name and by letter, and
// orders an engine, which follows the devices.
func TestOrdersOfOwnOperations(t *testing.T) {
	r := request(t, `
p = pipeline(devices = 1, micro_batches = 1, costs = {"forward": 1, "backward_full": 2}, backward = "fused",
             operations = [{"name": "log", "letter": "L", "stages": 0, "duration": 1, "after": "forward"}])
p.operation("recompute", letter = "R", stages = "all", duration = 1, before = "backward")
p.operation("step1", stages = 0, once = True, link = "wire", duration = 1, after = "backward")
p.order(0, [op("forward", 0, 0), op("log", 0, 0), op("recompute", 0, 0), op("B", 0, 0)])
p.order(1, [op("step1", 0)])
`, Options{})
	if want := [][]string{{"0F0", "0L0", "0R0", "0B0"}, {"0STEP"}}; !reflect.DeepEqual(r.Order, want) {
		t.Errorf("%v, want %v", r.Order, want)
	}
}

// TestSpecIsScript draws schedules, and demands that a script and the verbs in Go give
// equal requests.
func TestSpecIsScript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script, spec := draw(t)
		got, err := Run(context.Background(), "test.star", []byte(script), Options{})
		want, wantErr := spec.Request()
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%s\nscript: %v\nspec: %v", script, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got.Request, want) {
			t.Fatalf("%s\nscript: %+v\nspec: %+v", script, got.Request, want)
		}
	})
}

// draw returns a script, and the spec that says the same.
func draw(t *rapid.T) (string, *cssr.Spec) {
	lines := []string{strings.TrimSpace(four)}
	spec := cssr.NewSpec(config.Source{Name: "test.star", Keys: []byte(fourKeys)})
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	kinds := rapid.Permutation([]string{"F", "I", "W"})
	number := rapid.IntRange(1, 8)
	numbers := rapid.SliceOfN(number, 4, 4)
	for range rapid.IntRange(0, 8).Draw(t, "verbs") {
		switch rapid.IntRange(0, 9).Draw(t, "verb") {
		case 0:
			rule, chunks := rapid.SampledFrom([]string{"loop", "v", "linear"}).Draw(t, "rule"), number.Draw(t, "chunks")
			if chunks > 1 && rule == "linear" {
				continue // refused, and the script does not go on
			}
			say("p.place(%q, chunks = %d)", rule, chunks)
			spec.Place(rule, chunks)
		case 1:
			types := kinds.Draw(t, "types")
			say("p.prefer(%q)", strings.Join(types, " > "))
			spec.Prefer(types...)
		case 2:
			types, actor, phase := kinds.Draw(t, "types"), rapid.IntRange(-1, 3).Draw(t, "actor"), rapid.SampledFrom(phases).Draw(t, "phase")
			who := strconv.Itoa(actor)
			if actor < 0 {
				who = "None"
			}
			say("p.prefer(%q, actor = %s, phase = %q)", strings.Join(types, ">"), who, phase)
			spec.PreferIn(actor, phase, types...)
		case 3:
			most := numbers.Draw(t, "most")
			say("p.in_flight(lambda device: %s[device])", literal(most))
			spec.InFlight(most...)
		case 4:
			most := numbers.Draw(t, "most")
			say(`p.weights("deferred", outstanding = %s)`, literal(most))
			spec.Weights("deferred", most...)
		case 5:
			order, group := rapid.SampledFrom([]string{"wave", "depth-first", "breadth-first"}).Draw(t, "order"), number.Draw(t, "group")
			say("p.traverse(%q, %d)", order, group)
			spec.Traverse(order, group)
		case 6:
			kind, eighths := rapid.SampledFrom([]string{"", "W", "forward"}).Draw(t, "kind"), number.Draw(t, "eighths")
			say("p.patience(%d, kind = %q)", eighths, kind)
			spec.Patience(kind, eighths)
		case 7:
			mode := rapid.SampledFrom([]model.Mode{model.Split, model.Auto}).Draw(t, "mode").String()
			say("p.backward(%q).memory(%q)", mode, "50%")
			spec.Backward(mode).Memory("50%")
		case 8:
			modes := rapid.SliceOfN(rapid.SampledFrom([]string{"split", "auto"}), 4, 4).Draw(t, "modes")
			say("p.backward([%s])", `"`+strings.Join(modes, `", "`)+`"`)
			spec.Backward(modes...)
		case 9:
			n := number.Draw(t, "duration")
			say("p.place([3, 2, 1, 0], chunks = %d).objective('span')", n)
			spec.PlaceOn([][]int{{3}, {2}, {1}, {0}}, n).Objective("span")
		}
	}
	return strings.Join(lines, "\n"), spec
}

// literal writes a list of numbers.
func literal(list []int) string { return strings.ReplaceAll(fmt.Sprint(list), " ", ", ") }

// TestWarningsArePlaced demands that a warning names the call that gives its key.
func TestWarningsArePlaced(t *testing.T) {
	script, err := Run(context.Background(), "test.star", []byte(`p = pipeline(stages = 2, devices = 3, micro_batches = 1, costs = {"forward": 1, "backward_full": 1}, backward = "fused")`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for _, w := range script.Request.Config.Warnings {
		warnings = append(warnings, script.Warning(w))
	}
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "test.star:1:") && strings.Contains(w, "device 2") }) {
		t.Errorf("warnings %q", warnings)
	}
}

// FuzzRun demands that no script makes Run panic, that its work is bounded, and that it
// ends in a request or an error with a place in it.
func FuzzRun(f *testing.F) {
	f.Add(four + `p.backward("fused").prefer("B > F").in_flight(lambda d: 4 - d)`)
	f.Add(four + `p.order(0, [F(0, 0), op("W", 1)]); solve(p)`)
	f.Add(four + `p.operation("step", devices = "all", once = True, duration = 1); p.place([0, [1, 2], 3, 0], 2)`)
	f.Add(`p = config("x", devices = arg("a", 1)); tune(p, chunks = [1])`)
	f.Add("def f(x): return x\nfor i in range(3): f(i)\n\tx")
	f.Fuzz(func(t *testing.T, source string) {
		script, err := Run(context.Background(), "fuzz.star", []byte(source), Options{Steps: 20_000, FS: fstest.MapFS{}})
		if err == nil {
			if script.Request == nil || script.Request.Config == nil {
				t.Fatal("no request")
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || e.File == "" || e.Problem == "" || e.Line < 0 || e.Line > 0 && e.Column < 1 {
			t.Fatalf("%q: %#v", source, err)
		}
	})
}
