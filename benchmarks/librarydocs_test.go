package benchmarks

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/cssr/dsl"
)

var updateLibrary = flag.Bool("update-library", false, "rewrite the table of the library's README")

// shows says what each script is there for, in the order of the table.
var shows = []struct{ name, paper, what string }{
	{"gpipe", "[Huang et al. 2019](https://arxiv.org/abs/1811.06965)", "a priority alone"},
	{"1f1b", "[Narayanan et al. 2021](https://arxiv.org/abs/2006.09503)", "a bound on what is in flight"},
	{"interleaved", "[Narayanan et al. 2021](https://arxiv.org/abs/2104.04473)", "chunks, groups of micro-batches"},
	{"looped-bfs", "[Lamy-Poirier 2023](https://arxiv.org/abs/2211.05953)", "an order in two lines"},
	{"zb-h1", "[Qi et al. 2024](https://arxiv.org/abs/2401.10241)", "weight gradients that wait"},
	{"zb-h2", "[Qi et al. 2024](https://arxiv.org/abs/2401.10241)", "the same with twice the warm-up"},
	{"zb-v", "[Qi et al. 2024](https://arxiv.org/abs/2401.10241)", "a V; phases as lists of steps"},
	{"v-half", "[Qi et al. 2024](https://arxiv.org/abs/2405.15362)", "a block of passes, repeated and squeezed"},
	{"v-min", "[Qi et al. 2024](https://arxiv.org/abs/2405.15362)", "the same for less memory"},
	{"hanayo", "[Liu et al. 2023](https://arxiv.org/abs/2308.15762)", "waves; passes in slots"},
	{"chimera", "[Li and Hoefler 2021](https://arxiv.org/abs/2107.06925)", "two directions"},
	{"dualpipev", "[DeepSeek-AI 2024](https://arxiv.org/abs/2412.19437)", "full and split backward passes in one order"},
	{"distmm-pipe", "Huang et al. 2024 (DISTMM, NSDI)", "two branches, a loss over the whole batch"},
	{"tessel-m", "Lin et al. 2024 (Tessel, HPCA)", "a stage on all devices, a pattern with a period"},
	{"tessel-nn", "Lin et al. 2024 (Tessel, HPCA)", "two such stages"},
	{"tessel-k", "Lin et al. 2024 (Tessel, HPCA)", "two branches and a stage that joins them"},
	{"vocabulary-parallel", "[Yeung et al. 2024](https://arxiv.org/abs/2411.05288)", "operations of one's own that wait for all stages"},
	{"1f1b-recompute", "[Chen et al. 2016](https://arxiv.org/abs/1604.06174)", "an operation that takes memory"},
	{"1f1b-offload", "[Wan et al. 2025](https://arxiv.org/abs/2503.01328)", "a copy engine beside each device"},
	{"1f1b-all-reduce", "[Li et al. 2020](https://arxiv.org/abs/2006.15704)", "an operation once for the iteration"},
	{"1f1b-optimizer", "[Pascanu et al. 2013](https://arxiv.org/abs/1211.5063)", "one that waits for all stages"},
}

// Marks of the table in the README.
const tableBegins, tableEnds = "<!-- table -->\n", "<!-- end of table -->\n"

// TestLibraryReadme builds the table of the library's README anew, and demands that it
// has a row for every script.
func TestLibraryReadme(t *testing.T) {
	files, err := filepath.Glob(library + "*.star")
	if err != nil || len(files) != len(shows) {
		t.Fatalf("%d scripts, %d rows, error %v", len(files), len(shows), err)
	}
	var table strings.Builder
	table.WriteString("| script | paper | shows | lines | makespan |\n|---|---|---|---|---|\n")
	for _, row := range shows {
		got := script(t, row.name, "")
		fmt.Fprintf(&table, "| [%s](%[1]s.star) | %s | %s | %d | %s |\n", row.name, row.paper, row.what, codeLines(t, row.name), got.ticks(got.metrics.Makespan))
	}
	name := library + "README.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(text), tableBegins)
	_, tail, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatal("the marks of the table are missing")
	}
	want := head + tableBegins + table.String() + tableEnds + tail
	if *updateLibrary {
		if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("the table is not that of the scripts; go test ./benchmarks -run LibraryReadme -update-library writes\n%s", table.String())
	}
}

// codeLines counts the lines of a script without docstring, comments and blank ones.
func codeLines(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(library + name + ".star")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(text), `"""`, 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("%s does not begin with a docstring", name)
	}
	lines := 0
	for line := range strings.Lines(parts[2]) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	return lines
}

// TestLibraryIsShort demands scripts that fit into a look: 25 lines, and two of three
// at most 15.
func TestLibraryIsShort(t *testing.T) {
	short := 0
	for _, row := range shows {
		lines := codeLines(t, row.name)
		if lines > 25 {
			t.Errorf("%s has %d lines", row.name, lines)
		}
		if lines <= 15 {
			short++
		}
	}
	if 3*short < 2*len(shows) {
		t.Errorf("%d of %d scripts have at most 15 lines", short, len(shows))
	}
}

// TestLibraryOnConfigurations runs the scripts on what a user has: a network of uneven
// stages, with the transfers of a cluster. Those with a stage graph of their own need
// one like it.
func TestLibraryOnConfigurations(t *testing.T) {
	network, err := os.ReadFile("../examples/uneven-vocabulary-gpt.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range shows {
		if strings.HasPrefix(row.name, "tessel-") || row.name == "distmm-pipe" {
			continue
		}
		got := script(t, row.name, string(network))
		if p := got.problem; p.Pipeline.RealDevices() != 8 || p.MicroBatches() != 16 {
			t.Errorf("%s: %d devices and %d micro-batches", row.name, p.Pipeline.RealDevices(), p.MicroBatches())
		}
		t.Logf("%s: %s", row.name, got.problem.FormatTime(got.metrics.Makespan))
	}
	script(t, "distmm-pipe", "version: 1\ndevices: 4\nmicro_batches: 6\nmodel:\n  kind: two-branch\n  branches:\n"+
		"    - {layers: 12, hidden: 768, heads: 12, sequence: 197}\n    - {layers: 12, hidden: 512, heads: 8, sequence: 77}\n"+
		"  joint: {layers: 2, hidden: 768, heads: 12, sequence: 274}\ncluster: {flops: 312e12, link_bandwidth: 25e9}\n")
}

// TestLibraryMisfits demands that scripts refuse a shape for which their schedule is not
// defined, rather than give another schedule its name.
func TestLibraryMisfits(t *testing.T) {
	for name, want := range map[string]string{
		"chimera": "an even number of devices", "dualpipev": "at least 2 micro-batches for each device",
		"tessel-m": "on all devices", "tessel-nn": "on all devices", "tessel-k": "on all devices",
		"zb-v": "is missing", "v-half": "is missing", "v-min": "is missing",
	} {
		configuration := unitCosts(3, 4, "")
		if want == "is missing" {
			configuration = unitCosts(3, 4, "stages: 9") // six chunks on a device
		}
		text, err := os.ReadFile(library + name + ".star")
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{"user.yaml": {Data: []byte(configuration)}}
		_, err = dsl.Run(context.Background(), name+".star", text, dsl.Options{FS: files, Config: "user.yaml"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s on three devices: error %v, want one that says %q", name, err, want)
		}
	}
}
