package view_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/model/view"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run the test with -update to accept:\n%s", path, got)
	}
}

func ascii(t testing.TB, p *model.Problem, plan *model.Plan, tl *model.Timeline, o view.ASCIIOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.ASCII(&b, p, plan, tl, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestASCII(t *testing.T) {
	for _, c := range []struct {
		name     string
		p        *model.Problem
		inFlight int
		options  view.ASCIIOptions
	}{
		{"exact_unit", modelgen.Unit(4, 8), 4, view.ASCIIOptions{Form: view.Exact, Bound: 27}},
		{"exact_v", vShape(3, 4), 0, view.ASCIIOptions{Form: view.Exact}},
		{"exact_oddities", oddities(), 0, view.ASCIIOptions{Form: view.Exact}},
		{"fitting_small", modelgen.Unit(2, 2), 0, view.ASCIIOptions{}},
		{"fitting_large", modelgen.Unit(8, 256), 8, view.ASCIIOptions{}},
		{"scaled_unit", modelgen.Unit(4, 8), 4, view.ASCIIOptions{Form: view.Scaled}},
		{"scaled_named", named(), 4, view.ASCIIOptions{Width: 120}},
		{"scaled_v", vShape(4, 8), 0, view.ASCIIOptions{Form: view.Scaled}},
		{"scaled_oddities", oddities(), 0, view.ASCIIOptions{Form: view.Scaled}},
		{"scaled_many", modelgen.Unit(96, 12), 0, view.ASCIIOptions{Devices: 9}},
		{"exact_operations", operations(), 0, view.ASCIIOptions{Form: view.Exact}},
		{"scaled_operations", operations(), 0, view.ASCIIOptions{Form: view.Scaled}},
		{"color", vShape(3, 6), 0, view.ASCIIOptions{Form: view.Scaled, Color: true}},
		{"color_exact", oddities(), 0, view.ASCIIOptions{Form: view.Exact, Color: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, tl := scheduled(t, c.p, c.inFlight)
			golden(t, c.name+".txt", ascii(t, c.p, plan, tl, c.options))
		})
	}
}

// TestASCIIOfRandomPlans demands straight frames and, unless exact, the width.
func TestASCIIOfRandomPlans(t *testing.T) {
	for seed := range uint64(200) {
		p, err := model.Compile(modelgen.RandomPipeline(seed, 12))
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := modelgen.RandomPlan(p, seed)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []view.Form{view.Fitting, view.Exact, view.Scaled} {
			bars := map[int]bool{}
			for _, line := range strings.Split(string(ascii(t, p, plan, tl, view.ASCIIOptions{Form: form})), "\n") {
				if first, rest, ok := strings.Cut(line, "|"); ok {
					bars[utf8.RuneCountInString(first)<<20+strings.IndexByte(rest, '|')] = true
				}
				if form != view.Exact && len(line) > 100 {
					t.Errorf("seed %d: line of %d columns: %s", seed, len(line), line)
				}
			}
			if len(bars) != 1 {
				t.Errorf("seed %d, form %d: the bars of lanes stand in %d ways", seed, form, len(bars))
			}
		}
	}
}

// TestASCIIWideNames demands that names of any script leave the bars in one column
// of a terminal: the summary wraps and the labels align.
func TestASCIIWideNames(t *testing.T) {
	p := modelgen.Unit(4, 8)
	p.Pipeline.Name = strings.Repeat("流水线 ", 9) + "e\u0301te\u0301"
	for d, name := range []string{"显卡零", "显卡零一二三四五六七八九十", "gpu", "e\u0301"} {
		p.Pipeline.Devices[d].Name = name
	}
	plan, tl := scheduled(t, p, 4)
	golden(t, "wide_names.txt", ascii(t, p, plan, tl, view.ASCIIOptions{Width: 90}))
}

// TestBroken demands that a plan which breaks rules has no gap, and that all
// pictures say so.
func TestBroken(t *testing.T) {
	p := modelgen.Unit(4, 8)
	plan, tl := scheduled(t, p, 4)
	for name, picture := range map[string][]byte{
		"ascii": ascii(t, p, plan, tl, view.ASCIIOptions{Bound: 40, Broken: true}),
		"svg":   svg(t, p, plan, tl, view.SVGOptions{Bound: 40, Broken: true}),
	} {
		for text, want := range map[string]bool{
			"breaks rules": true, "bound 40 ticks of plans that keep the rules": true, "gap": false, "optimal": false,
		} {
			if bytes.Contains(picture, []byte(text)) != want {
				t.Errorf("%s: %q: want %t in\n%s", name, text, want, picture)
			}
		}
	}
}

func TestASCIIErrors(t *testing.T) {
	p := modelgen.Unit(2, 2)
	plan, tl := scheduled(t, p, 0)
	for name, c := range map[string]struct {
		plan *model.Plan
		tl   *model.Timeline
	}{
		"too few devices": {&model.Plan{}, tl},
		"too few times":   {plan, &model.Timeline{}},
		"no such op":      {&model.Plan{Order: [][]model.OpID{{99}, nil}}, tl},
		"no time":         {plan, &model.Timeline{Start: absent(p.NumOps())}},
	} {
		if err := view.ASCII(&bytes.Buffer{}, p, c.plan, c.tl, view.ASCIIOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	long := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 1, F: []model.Time{1 << 40}})
	plan, tl = scheduled(t, long, 0)
	if err := view.ASCII(&bytes.Buffer{}, long, plan, tl, view.ASCIIOptions{Form: view.Exact}); err == nil {
		t.Error("a picture of 2^41 columns: no error")
	}
	ascii(t, long, plan, tl, view.ASCIIOptions{})
}

// absent returns n absent times.
func absent(n int) []model.Time {
	all := make([]model.Time, n)
	for i := range all {
		all[i] = model.Absent
	}
	return all
}
