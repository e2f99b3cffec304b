package benchmarks

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

// published is the order that a published generator gives for a shape, with its figures
// for F = I = W = 1. The files and their format are described in
// heuristics/testdata/golden/README.md.
type published struct {
	ID       string
	P, M, V  int
	Rows     [][]string
	Makespan model.Time
	Peak     []int
	First    []model.Time `json:"first_start"`
	Last     []model.Time `json:"last_end"`
	Name     string
	Params   struct {
		Costs []model.Time `json:"cost_F_B_W_c"`
	}
}

// publishedOrders returns the orders of a family, those for other costs left out.
func publishedOrders(t *testing.T, family string) []*published {
	t.Helper()
	file, err := os.Open("../heuristics/testdata/golden/" + family + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []*published
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := new(published)
		if err := json.Unmarshal(scan.Bytes(), line); err != nil {
			t.Fatal(err)
		}
		if c := line.Params.Costs; c == nil || c[0] == c[1] && c[1] == c[2] && c[3] == 0 {
			line.flatten()
			list = append(list, line)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// flatten replaces a pair, (<forward>;<backward>), by its two operations.
func (x *published) flatten() {
	pair := strings.NewReplacer("(", "", ")", "")
	for d, row := range x.Rows {
		var flat []string
		for _, cell := range row {
			flat = append(flat, strings.Split(pair.Replace(cell), ";")...)
		}
		x.Rows[d] = flat
	}
}

// span returns the largest own span of a device.
func (x *published) span() model.Time {
	span := model.Time(0)
	for d := range x.First {
		span = max(span, x.Last[d]-x.First[d])
	}
	return span
}

// noWorse says that a plan is as short as the published one, by makespan and by span,
// with no more memory on any device than that has on its fullest.
func (x *published) noWorse(got *scripted) bool {
	return got.metrics.Makespan <= x.Makespan && got.metrics.Span <= x.span() && slices.Max(got.peaks()) <= slices.Max(x.Peak)
}

// libraryFamilies are the families of published orders and their scripts. An order that
// differs must be no worse, or for the reason that is given differ in that way.
var libraryFamilies = []struct {
	family, name string
	perStage     int // chunks of a stage; 0: the parameter of the script
	same         int // orders that are the same
	differs      func(x *published, got *scripted) bool
}{
	{family: "gpipe", name: "gpipe", perStage: 1, same: 20},
	{family: "1f1b", name: "1f1b", perStage: 1, same: 20},
	// Other generators and arguments have rounds of other sizes. Victarry's last round may
	// be short, which takes less memory and is longer.
	{family: "interleaved-1f1b", name: "interleaved", same: 52, differs: func(x *published, got *scripted) bool {
		return strings.HasPrefix(x.Name, "victarry.") && x.M%x.P != 0 && got.metrics.Makespan < x.Makespan
	}},
	// minPP takes micro-batches back first in, first out.
	{family: "looped-bfs", name: "looped-bfs", same: 60},
	// Below M = P generators go their own ways.
	{family: "zb-h1", name: "zb-h1", perStage: 1, same: 18},
	{family: "zb-h2", name: "zb-h2", perStage: 1, same: 11},
	// PyTorch's orders are the script's. Below M = 2P-1 sail's have fewer bubbles.
	{family: "zbv", name: "zb-v", perStage: 2, same: 21, differs: func(x *published, got *scripted) bool {
		return strings.HasPrefix(x.Name, "sail.") && x.M < 2*x.P-1 && slices.Max(got.peaks()) <= slices.Max(x.Peak)
	}},
	// Primus squeezes otherwise, and so does the script for an even number of devices.
	{family: "v-half", name: "v-half", perStage: 2, same: 5},
	{family: "v-min", name: "v-min", perStage: 2, same: 21},
	// JaxPP has other places for weight gradients.
	{family: "dualpipev", name: "dualpipev", perStage: 2, same: 12},
	{family: "chimera", name: "chimera", perStage: 1, same: 3},
}

// TestLibraryPublished compares the scripts with what published generators give.
func TestLibraryPublished(t *testing.T) {
	for _, c := range libraryFamilies {
		t.Run(c.name, func(t *testing.T) {
			lines, same := publishedOrders(t, c.family), 0
			for _, x := range lines {
				v, perStage := 0, c.perStage
				if perStage == 0 {
					v, perStage = x.V, x.V
				}
				got := script(t, c.name, unitConfiguration(x.P, x.M, perStage), chunks(v)...)
				switch {
				case slices.EqualFunc(got.orders(), x.Rows, slices.Equal[[]string]):
					same++
				case !x.noWorse(got) && (c.differs == nil || !c.differs(x, got)):
					t.Errorf("%s: makespan %d, span %d, peaks %v; published %d, %d, %v", x.ID, got.metrics.Makespan, got.metrics.Span, got.peaks(),
						x.Makespan, x.span(), x.Peak)
				}
			}
			if t.Logf("%d of %d orders are the same", same, len(lines)); same != c.same {
				t.Errorf("%d orders are the same, want %d", same, c.same)
			}
		})
	}
}

// costed is a configuration of costs of a chunk and a latency, where a stage becomes v
// chunks.
func costed(p, m, v int, f, i, w, latency model.Time) string {
	k := model.Time(v)
	return fmt.Sprintf("version: 1\ndevices: %d\nmicro_batches: %d\ncosts: {forward: %d, backward_input: %d, backward_weight: %d}\n"+
		"communication: {latency: %d}\nmemory: {activation: %d, freed_by_backward_input: 0}\n", p, m, k*f, k*i, k*w, latency, v)
}

// TestLibraryMeasuredCosts demands the makespans and spans that the authors of zero-bubble
// schedules give for measured costs, in microseconds: Qi et al., ICLR 2024, table of
// section 5.3; arXiv:2401.10241, ZB-V, and arXiv:2405.15362, V-Half and V-Min, for unit
// costs, which their hand-made orders are for.
func TestLibraryMeasuredCosts(t *testing.T) {
	for _, c := range []struct {
		name       string
		p, m, v    int
		f, i, w, c model.Time
		span       bool
		published  model.Time
	}{
		{"1f1b", 8, 24, 1, 18522, 18086, 9337, 601, false, 1456749},
		{"1f1b", 8, 32, 1, 29802, 29428, 19530, 577, false, 3110876},
		{"1f1b", 16, 64, 1, 11307, 11254, 8101, 379, false, 2478390},
		{"1f1b", 32, 96, 1, 10419, 10207, 7715, 408, false, 3699675},
		{"zb-h1", 8, 24, 1, 18522, 18086, 9337, 601, false, 1310405},
		{"zb-h1", 8, 32, 1, 29802, 29428, 19530, 577, false, 2814376},
		{"zb-h1", 16, 64, 1, 11307, 11254, 8101, 379, false, 2202008},
		{"zb-h1", 32, 96, 1, 10419, 10207, 7715, 408, false, 3171569},
		{"zb-h2", 8, 24, 1, 18522, 18086, 9337, 601, true, 1236632},
		{"zb-h2", 8, 32, 1, 29802, 29428, 19530, 577, true, 2669588},
		{"zb-h2", 16, 64, 1, 11307, 11254, 8101, 379, true, 2069123},
		{"zb-h2", 32, 96, 1, 10419, 10207, 7715, 408, true, 2907108},
		{"zb-v", 4, 12, 2, 1000, 1000, 1000, 0, true, 72000},
		{"zb-v", 8, 24, 2, 1000, 1000, 1000, 0, true, 144000},
		{"v-half", 4, 12, 2, 1000, 1000, 1000, 0, true, 77000},
		{"v-half", 6, 18, 2, 1000, 1000, 1000, 0, true, 119000},
		{"v-half", 8, 32, 2, 1000, 1000, 1000, 0, true, 209000},
		{"v-half", 12, 36, 2, 1000, 1000, 1000, 0, true, 245000},
		{"v-min", 4, 12, 2, 1000, 1000, 1000, 0, true, 83000},
		{"v-min", 6, 18, 2, 1000, 1000, 1000, 0, true, 125000},
		{"v-min", 8, 32, 2, 1000, 1000, 1000, 0, true, 218000}, // the paper: 219000,
		{"v-min", 12, 36, 2, 1000, 1000, 1000, 0, true, 257000},
	} {
		got := script(t, c.name, costed(c.p, c.m, c.v, c.f, c.i, c.w, c.c))
		value := got.metrics.Makespan
		if c.span {
			value = got.metrics.Span
		}
		if text := got.ticks(value); text != fmt.Sprint(c.published) {
			t.Errorf("%s P=%d M=%d: %s, published %d", c.name, c.p, c.m, text, c.published)
		}
	}
}
