package benchmarks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr/dsl"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
)

// library is where the scripts of published schedules are.
const library = "../examples/schedules/"

// scripted is the plan of a script of the library.
type scripted struct {
	problem  *model.Problem
	plan     *model.Plan
	timeline *model.Timeline
	metrics  *model.Metrics
}

// script runs a script of the library on a configuration, "" for the script's own, and
// judges the plan that it describes.
func script(t *testing.T, name, configuration string, set ...dsl.Setting) *scripted {
	t.Helper()
	text, err := os.ReadFile(library + name + ".star")
	if err != nil {
		t.Fatal(err)
	}
	o := dsl.Options{Set: set}
	if configuration != "" {
		o.FS, o.Config = fstest.MapFS{"user.yaml": {Data: []byte(configuration)}}, "user.yaml"
	}
	run, err := dsl.Run(context.Background(), name+".star", text, o)
	if err != nil {
		t.Fatalf("%s\n%s", err, configuration)
	}
	if r := run.Request; r.Schedule != "" || r.Solve != nil || r.Tune != nil {
		t.Fatalf("%s describes no plan of its own", name)
	}
	problem, err := run.Request.Problem()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := run.Request.Plan(context.Background(), problem, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, run.Explain(err))
	}
	return judged(t, name, problem, plan)
}

// judged evaluates a plan, and fails the test if it breaks a rule.
func judged(t *testing.T, name string, problem *model.Problem, plan *model.Plan) *scripted {
	t.Helper()
	tl, err := model.Evaluate(problem, plan)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if report := constraints.Check(problem, plan, tl); !report.OK() {
		t.Fatalf("%s: %v", name, report.Err())
	}
	return &scripted{problem, plan, tl, model.Measure(problem, plan, tl)}
}

// chunks sets the parameter of scripts with any number of chunks; 0 leaves it.
func chunks(v int) []dsl.Setting {
	if v == 0 {
		return nil
	}
	return []dsl.Setting{{Name: "chunks", Value: fmt.Sprint(v)}}
}

// ticks returns a time in the words of the configuration.
func (s *scripted) ticks(x model.Time) string { return s.problem.TimeUnit().Format(int64(x)) }

// peaks returns the largest memory in use of each device, in the sizes of the problem.
func (s *scripted) peaks() []int {
	list := make([]int, s.problem.Pipeline.RealDevices())
	for d := range list {
		list[d] = int(s.metrics.Devices[d].Peak)
	}
	return list
}

// orders returns the orders as text.
func (s *scripted) orders() [][]string {
	rows := make([][]string, len(s.plan.Order))
	for d, order := range s.plan.Order {
		for _, op := range order {
			rows[d] = append(rows[d], s.problem.Name(op))
		}
	}
	return rows
}

// unitConfiguration has v·(F = I = W = 1) for a stage that becomes v chunks, each with
// an activation of 1 until the gradient of its weights has run.
func unitConfiguration(p, m, v int) string {
	return fmt.Sprintf("version: 1\ndevices: %d\nmicro_batches: %d\ncosts: {forward: %[3]d, backward_input: %[3]d, backward_weight: %[3]d}\n"+
		"memory: {activation: %[3]d, freed_by_backward_input: 0}\n", p, m, v)
}

// namedScript is a script of a schedule that package heuristics lists as well.
type namedScript struct {
	name, as  string
	chunks    []int                  // values of the parameter; 0: it has none
	perStage  int                    // chunks of a stage, where the script fixes them
	legal     func(p, m int) bool    // nil: every shape
	published func(p, m int) bool    // shapes for which the figures must be as good; nil: all
	exact     func(p, m, v int) bool // shapes for which the order must be the same; nil: all
}

// fromDepth says that a schedule is published from so many micro-batches up that its
// steady state is reached.
func fromDepth(p, m int) bool { return m >= 2*p-1 }

var namedScripts = []namedScript{
	{name: "gpipe", as: "gpipe", chunks: []int{0}, perStage: 1},
	{name: "1f1b", as: "1f1b", chunks: []int{0}, perStage: 1},
	{name: "interleaved", as: "interleaved", chunks: []int{2, 3}, exact: func(p, m, _ int) bool {
		// Elsewhere a device of Megatron-LM waits with room for the next round.
		return m >= p && !(p == 4 && m == 12 || p == 8 && m >= 16)
	}},
	{name: "looped-bfs", as: "looped-bfs", chunks: []int{1, 2, 3}},
	{name: "zb-h1", as: "zb-h1", chunks: []int{0}, perStage: 1, published: func(p, m int) bool { return m >= p },
		exact: func(p, m, _ int) bool { return m >= p }},
	{name: "zb-h2", as: "zb-h2", chunks: []int{0}, perStage: 1, published: fromDepth,
		exact: func(p, m, _ int) bool { return fromDepth(p, m) }},
	// Below, heuristics fills bubbles of the hand-made order; the script keeps it, as PyTorch does.
	{name: "zb-v", as: "zbv", chunks: []int{0}, perStage: 2, published: fromDepth,
		exact: func(p, m, _ int) bool { return fromDepth(p, m) }},
	// The published algorithm packs the end of the pipeline a second time.
	{name: "v-half", as: "v-half", chunks: []int{0}, perStage: 2, published: func(p, m int) bool { return p > 2 && m >= p },
		exact: func(p, m, _ int) bool { return p > 2 && p%2 == 1 && m >= p }},
	{name: "v-min", as: "v-min", chunks: []int{0}, perStage: 2, published: func(p, m int) bool { return p > 2 && m >= p },
		exact: func(p, m, _ int) bool { return p > 2 && m >= p }},
	{name: "hanayo", as: "hanayo", chunks: []int{2, 4}},
	{name: "chimera", as: "chimera", chunks: []int{0}, perStage: 1, legal: func(p, m int) bool { return p%2 == 0 && m >= 2 }},
	{name: "dualpipev", as: "dualpipev", chunks: []int{0}, perStage: 2, legal: func(p, m int) bool { return m >= 2*p }},
}

// TestLibraryNamed demands that scripts give the orders that package heuristics lists,
// which knows nothing of scripts; or where their priorities give others, plans that are
// as short, with no more memory.
func TestLibraryNamed(t *testing.T) {
	for _, c := range namedScripts {
		t.Run(c.name, func(t *testing.T) {
			same, other := 0, 0
			for _, p := range []int{2, 3, 4, 8} {
				micro := []int{1, p - 1, p, p + 1, 2*p - 1, 2 * p, 2*p + 1, 3 * p, 4*p + 1}
				slices.Sort(micro)
				for _, m := range slices.Compact(micro) {
					if c.legal != nil && !c.legal(p, m) {
						continue
					}
					for _, v := range c.chunks {
						if c.compare(t, p, m, v) {
							same++
						} else {
							other++
						}
					}
				}
			}
			t.Logf("the same order for %d shapes, another for %d", same, other)
		})
	}
}

// compare compares a script with the schedule of the same name for a shape, and reports
// whether they give the same order.
func (c *namedScript) compare(t *testing.T, p, m, v int) bool {
	t.Helper()
	got := script(t, c.name, unitConfiguration(p, m, max(v, c.perStage)), chunks(v)...)
	s, err := heuristics.Lookup(c.as)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Build(got.problem)
	if err != nil {
		t.Fatal(err)
	}
	want := judged(t, c.as, got.problem, plan)
	what := fmt.Sprintf("P=%d M=%d v=%d", p, m, v)
	if slices.EqualFunc(got.plan.Order, plan.Order, slices.Equal[[]model.OpID]) {
		return true
	}
	if c.exact == nil || c.exact(p, m, v) {
		t.Errorf("%s: another order\n got %v\nwant %v", what, got.orders(), want.orders())
	}
	if (c.published == nil || c.published(p, m)) && (got.metrics.Makespan > want.metrics.Makespan || got.metrics.Span > want.metrics.Span || slices.Max(got.peaks()) > slices.Max(want.peaks())) {
		t.Errorf("%s: makespan %d, span %d, peaks %v; listed %d, %d, %v", what, got.metrics.Makespan, got.metrics.Span, got.peaks(),
			want.metrics.Makespan, want.metrics.Span, want.peaks())
	}
	return false
}

// TestLibraryTable demands makespans and peaks on four devices from the scripts, as they
// are published for F = 1 and B = 2. Chunks have half the costs, and count as 1.
func TestLibraryTable(t *testing.T) {
	for _, c := range []struct {
		name    string
		at8     string
		at16    string
		chunked int
		peaks   []int
	}{
		{"gpipe", "33", "57", 1, []int{8, 8, 8, 8}},
		{"1f1b", "33", "57", 1, []int{4, 3, 2, 1}},
		{"interleaved", "28.5", "52.5", 2, []int{11, 9, 7, 5}},
		{"zb-h1", "27", "51", 1, []int{4, 3, 2, 1}},
		{"zb-v", "25.5", "49.5", 2, []int{8, 8, 8, 8}},
	} {
		for m, want := range map[int]string{8: c.at8, 16: c.at16} {
			got := script(t, c.name, fmt.Sprintf("version: 1\ndevices: 4\nmicro_batches: %d\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"+
				"memory: {activation: %d, freed_by_backward_input: %[2]d}\n", m, c.chunked))
			if makespan := got.ticks(got.metrics.Makespan); makespan != want {
				t.Errorf("%s M=%d: makespan %s, want %s", c.name, m, makespan, want)
			}
			if m == 8 && c.name != "zb-v" && !slices.Equal(got.peaks(), c.peaks) {
				t.Errorf("%s: peaks %v, want %v", c.name, got.peaks(), c.peaks)
			}
		}
	}
	// On a V activations count until the gradient of the weights has run.
	if got := script(t, "zb-v", unitConfiguration(4, 8, 2)); !slices.Equal(got.peaks(), []int{8, 8, 8, 8}) {
		t.Errorf("zb-v: peaks %v, want 8 on each device", got.peaks())
	}
}
