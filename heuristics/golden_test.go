package heuristics_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// goldenLine is the orders of one shape by published generators, with figures
// for unit costs. See testdata/golden/README.md.
type goldenLine struct {
	generator
	ID         string
	P, M, V    int
	Placement  []int
	Streams    []struct{ Placement []int } // two directions; each has as many micro-batches
	Rows       [][]string
	pairs      [][2]string // forwards and backwards that run at the same time
	Makespan   model.Time
	FirstStart []model.Time `json:"first_start"`
	LastEnd    []model.Time `json:"last_end"`
	Peak       []int
	Also       []generator
}

// generator names a project's generator and its arguments beyond the shape.
type generator struct {
	Name   string
	Params struct {
		Costs     []model.Time `json:"cost_F_B_W_c"` // B is our I
		RoundSize any          `json:"microbatch_group_size_per_vp_stage"`
	}
}

// readGolden returns the lines of a family.
func readGolden(t *testing.T, family string) []*goldenLine {
	t.Helper()
	file, err := os.Open("testdata/golden/" + family + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []*goldenLine
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := new(goldenLine)
		if err := json.Unmarshal(scan.Bytes(), line); err != nil {
			t.Fatal(err)
		}
		line.splitPairs()
		lines = append(lines, line)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// splitPairs replaces the cells of pairs, (<forward>;<backward>), by two cells.
func (g *goldenLine) splitPairs() {
	for d, row := range g.Rows {
		var cells []string
		for _, cell := range row {
			forward, backward, paired := strings.Cut(strings.Trim(cell, "()"), ";")
			cells = append(cells, forward)
			if paired {
				cells = append(cells, backward)
				g.pairs = append(g.pairs, [2]string{forward, backward})
			}
		}
		g.Rows[d] = cells
	}
}

// by reports whether a generator of that project made the line.
func (g *goldenLine) by(project string) bool {
	return slices.ContainsFunc(append([]generator{g.generator}, g.Also...), func(x generator) bool {
		return strings.HasPrefix(x.Name, project+".")
	})
}

// problem returns the line's shape with the given costs F, I, W and latency.
// Each forward takes one unit of memory.
func (g *goldenLine) problem(mode model.Mode, costs []model.Time) *model.Problem {
	place := make([][]int, len(g.Placement))
	for s, d := range g.Placement {
		place[s] = []int{d}
	}
	pl := modelgen.Pipeline(modelgen.Spec{
		Devices: g.P, MicroBatches: g.M, Placement: place, Backward: mode, Objective: model.Span,
		F: costs[:1], I: costs[1:2], W: costs[2:3], Latency: costs[3], Activation: []model.Bytes{1},
	})
	if g.Streams != nil {
		addReverse(pl, g.Streams[1].Placement)
	}
	return compile(pl)
}

// rowsOf returns a plan in the form of the golden rows.
func rowsOf(p *model.Problem, plan *model.Plan) [][]string {
	rows := make([][]string, len(plan.Order))
	for d, order := range plan.Order {
		for _, op := range order {
			rows[d] = append(rows[d], p.Name(op))
		}
	}
	return rows
}

// planOf is the inverse of rowsOf.
func planOf(p *model.Problem, rows [][]string) *model.Plan {
	byName := opsByName(p)
	plan := &model.Plan{Order: make([][]model.OpID, len(rows))}
	for d, row := range rows {
		for _, name := range row {
			plan.Order[d] = append(plan.Order[d], byName[name])
		}
	}
	return plan
}

func opsByName(p *model.Problem) map[string]model.OpID {
	byName := map[string]model.OpID{}
	for op := range p.NumOps() {
		byName[p.Name(model.OpID(op))] = model.OpID(op)
	}
	return byName
}

// paired adds to a plan that a pair starts when both of its operations are ready,
// and that the results of both appear when the longer backward ends.
func paired(p *model.Problem, plan *model.Plan, pairs [][2]string) *model.Plan {
	byName := opsByName(p)
	for _, pair := range pairs {
		forward, backward := byName[pair[0]], byName[pair[1]]
		for _, pred := range p.Row(backward).Preds {
			before := p.Op(int(pred.Row), p.MicroBatch(backward))
			plan.Waits = append(plan.Waits, model.Wait{Before: before, After: forward})
		}
		for _, succ := range p.Succs[p.RowOf(forward)] {
			after := p.Op(int(succ.Row), p.MicroBatch(forward))
			plan.Waits = append(plan.Waits, model.Wait{Before: backward, After: after})
		}
	}
	return plan
}

func equalRows(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

// comparison is a recorded order and ours for the same shape and costs.
type comparison struct {
	line         *goldenLine
	rows         [][]string // ours
	ours, theirs *model.Metrics
}

// onlyWeightsMoved says that forward and backward input passes keep their order.
func (c *comparison) onlyWeightsMoved() bool {
	return equalRows(withoutWeights(c.rows), withoutWeights(c.line.Rows))
}

func withoutWeights(rows [][]string) [][]string {
	kept := make([][]string, len(rows))
	for d, row := range rows {
		for _, op := range row {
			if !strings.Contains(op, "W") {
				kept[d] = append(kept[d], op)
			}
		}
	}
	return kept
}

// noWorse says that our span and largest peak are at most the recorded ones.
func (c *comparison) noWorse() bool {
	return c.ours.Span <= c.theirs.Span && largestPeak(c.ours) <= largestPeak(c.theirs)
}

func largestPeak(m *model.Metrics) model.Bytes {
	peak := model.Bytes(0)
	for _, d := range m.Devices {
		peak = max(peak, d.Peak)
	}
	return peak
}

// rule is a reason for which a recorded order differs from ours.
type rule struct {
	text  string
	holds func(c *comparison) bool
}

// goldenFamilies says how each family is compared.
var goldenFamilies = []struct {
	family, schedule string
	rules            []rule
}{
	{"gpipe", "gpipe", nil},
	{"1f1b", "1f1b", nil},
	{"interleaved-1f1b", "interleaved", []rule{
		{"the same rows for rounds of the size that the generator is told or always takes", sameInRounds},
	}},
	{"looped-bfs", "looped-bfs", []rule{
		{"minPP: the same rows with the micro-batches of backward passes first in, first out", func(c *comparison) bool {
			return c.line.by("minpp") && equalRows(reverseBackward(c.rows, c.line.M), c.line.Rows)
		}},
	}},
	{"zb-h1", "zb-h1", []rule{
		{"Primus below M = P: no shorter, no less memory", func(c *comparison) bool {
			return c.line.by("primus") && c.line.M < c.line.P && c.noWorse()
		}},
	}},
	{"zb-h2", "zb-h2", nil},
	{"zbv", "zbv", []rule{
		{"PyTorch below M = 2P-1: only weight gradients stand elsewhere; longer, with a peak within 2P", func(c *comparison) bool {
			return c.line.by("pytorch") && c.line.M < 2*c.line.P-1 && c.onlyWeightsMoved() &&
				c.ours.Span < c.theirs.Span && int(largestPeak(c.ours)) <= 2*c.line.P
		}},
		{"sail and ColossalAI at their costs: only weight gradients stand elsewhere; no shorter, no less memory", func(c *comparison) bool {
			return c.line.by("sail") && c.onlyWeightsMoved() && c.noWorse()
		}},
		{"sail and ColossalAI at their costs: only weight gradients stand elsewhere; less than 1 % shorter, no less memory", func(c *comparison) bool {
			return c.line.by("sail") && c.onlyWeightsMoved() && c.ours.Span*100 < c.theirs.Span*101 && largestPeak(c.ours) <= largestPeak(c.theirs)
		}},
	}},
	{"dualpipev", "dualpipev", []rule{
		{"JaxPP: other places of full and split backward passes; no shorter, no less memory", func(c *comparison) bool {
			return c.line.by("jaxpp") && c.noWorse()
		}},
	}},
	{"chimera", "chimera", nil},
	{"v-half", "v-half", squeezeRules},
	{"v-min", "v-min", squeezeRules},
}

var squeezeRules = []rule{
	{"Primus: only weight gradients stand elsewhere; longer, no less memory", func(c *comparison) bool {
		return c.line.by("primus") && c.onlyWeightsMoved() && c.ours.Span < c.theirs.Span && c.noWorse()
	}},
	{"sail squeezes otherwise: no shorter, no less memory", func(c *comparison) bool {
		return c.line.by("sail") && c.noWorse()
	}},
}

// sameInRounds compares with rounds of Megatron's argument, or of P micro-batches.
func sameInRounds(c *comparison) bool {
	size := c.line.P
	if n, ok := c.line.Params.RoundSize.(float64); ok {
		size = int(n)
	}
	p := c.line.problem(model.Fused, unitCosts)
	plan, err := heuristics.InterleavedRounds(p, size)
	return err == nil && equalRows(rowsOf(p, plan), c.line.Rows)
}

// reverseBackward turns around the micro-batches of backward passes.
func reverseBackward(rows [][]string, micro int) [][]string {
	turned := make([][]string, len(rows))
	for d, row := range rows {
		for _, op := range row {
			var stage, m int
			if n, _ := fmt.Sscanf(op, "%dB%d", &stage, &m); n == 2 {
				op = fmt.Sprintf("%dB%d", stage, micro-1-m)
			}
			turned[d] = append(turned[d], op)
		}
	}
	return turned
}

var unitCosts = []model.Time{1, 1, 1, 0}

// TestGolden compares the named schedules with what published generators give.
// Every recorded order must be ours, or differ by a rule that is stated above.
func TestGolden(t *testing.T) {
	for _, f := range goldenFamilies {
		t.Run(f.family, func(t *testing.T) {
			lines := readGolden(t, f.family)
			equal, byRule := 0, make([]int, len(f.rules))
			for _, line := range lines {
				c := compare(t, f.schedule, line)
				if equalRows(c.rows, line.Rows) {
					equal++
					continue
				}
				i := slices.IndexFunc(f.rules, func(r rule) bool { return r.holds(c) })
				if i < 0 {
					t.Errorf("%s: rows differ and no rule says why; span %d, peak %d; recorded %d, %d\nours     %v\nrecorded %v",
						line.ID, c.ours.Span, largestPeak(c.ours), c.theirs.Span, largestPeak(c.theirs), c.rows, line.Rows)
					continue
				}
				byRule[i]++
			}
			t.Logf("%d lines, %d equal", len(lines), equal)
			for i, r := range f.rules {
				t.Logf("%d by rule: %s", byRule[i], r.text)
				if byRule[i] == 0 {
					t.Errorf("no line needs the rule: %s", r.text)
				}
			}
		})
	}
}

// compare builds the schedule for the shape of a line and the costs that its
// generator was given, if any.
func compare(t *testing.T, schedule string, line *goldenLine) *comparison {
	t.Helper()
	s, err := heuristics.Lookup(schedule)
	if err != nil {
		t.Fatal(err)
	}
	checkRecorded(t, line, s.Backward)
	costs := line.Params.Costs
	if costs == nil {
		costs = unitCosts
	}
	p := line.problem(s.Backward, costs)
	plan, err := s.Build(p)
	if err != nil {
		t.Fatalf("%s: %v", line.ID, err)
	}
	return &comparison{line, rowsOf(p, plan), judge(t, p, plan), judge(t, p, planOf(p, line.Rows))}
}

// checkRecorded tests the recorded figures against our own evaluation of the
// recorded rows.
func checkRecorded(t *testing.T, line *goldenLine, mode model.Mode) {
	t.Helper()
	p := line.problem(mode, unitCosts)
	m := judge(t, p, paired(p, planOf(p, line.Rows), line.pairs))
	if m.Makespan != line.Makespan {
		t.Errorf("%s: the makespan of the recorded rows is %d, recorded %d", line.ID, m.Makespan, line.Makespan)
	}
	for d, got := range m.Devices {
		if int(got.Peak) != line.Peak[d] || got.First != line.FirstStart[d] || got.Last != line.LastEnd[d] {
			t.Errorf("%s: device %d has peak %d in [%d, %d), recorded %d in [%d, %d)",
				line.ID, d, got.Peak, got.First, got.Last, line.Peak[d], line.FirstStart[d], line.LastEnd[d])
		}
	}
}
