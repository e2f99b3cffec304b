package view_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/model/view"
)

func compare(t testing.TB, lanes []view.TraceLane, o view.CompareOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.Compare(&b, lanes, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pair returns the prediction of a plan and a lane as if it had run.
func pair(p *model.Problem, plan *model.Plan, tl *model.Timeline, nsPerTick float64) []view.TraceLane {
	return []view.TraceLane{view.LaneOf("predicted", p, plan, tl, nsPerTick), measured(p, plan, tl, nsPerTick, 1)}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name      string
		p         *model.Problem
		inFlight  int
		nsPerTick float64
		options   view.CompareOptions
	}{
		{"named", named(), 4, 100, view.CompareOptions{}},
		{"v", vShape(4, 8), 0, 2.5e6, view.CompareOptions{Width: 80}},
		{"many", modelgen.Unit(32, 12), 32, 1000, view.CompareOptions{Devices: 4}},
		{"color", vShape(2, 3), 0, 1000, view.CompareOptions{Color: true, Width: 70}},
		{"oddities", oddities(), 0, 5000, view.CompareOptions{}},
		{"operations", operations(), 0, 1e9, view.CompareOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, tl := scheduled(t, c.p, c.inFlight)
			golden(t, "compare_"+c.name+".txt", compare(t, pair(c.p, plan, tl, c.nsPerTick), c.options))
		})
	}
}

// TestCompareTheSame demands that a lane looks the same as itself, and 0% away.
func TestCompareTheSame(t *testing.T) {
	p := named()
	plan, tl := scheduled(t, p, 4)
	lane := view.LaneOf("a", p, plan, tl, 100)
	again := lane
	again.Name = "b"
	lines := strings.Split(string(compare(t, []view.TraceLane{lane, again}, view.CompareOptions{})), "\n")
	if !strings.Contains(lines[0], "b 391.2 us (a 0%)") {
		t.Errorf("summary %q", lines[0])
	}
	for i := 2; i < 2+2*p.NumDevices(); i += 2 {
		_, first, _ := strings.Cut(lines[i], "|")
		_, second, _ := strings.Cut(lines[i+1], "|")
		if first != second || first == "" {
			t.Errorf("one lane is drawn in two ways:\n%s\n%s", lines[i], lines[i+1])
		}
	}
}

// TestCompareOfOtherPlans demands that plans of different problems stand on one axis.
func TestCompareOfOtherPlans(t *testing.T) {
	split, fused := modelgen.Unit(2, 4), modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 4, Backward: model.Fused})
	var lanes []view.TraceLane
	for i, p := range []*model.Problem{split, fused} {
		plan, tl := scheduled(t, p, 2)
		lanes = append(lanes, view.LaneOf([]string{"split", "fused"}[i], p, plan, tl, 1000))
	}
	golden(t, "compare_plans.txt", compare(t, lanes, view.CompareOptions{Width: 60}))
}

// TestCompareOfRandomPlans demands straight frames and the width.
func TestCompareOfRandomPlans(t *testing.T) {
	for seed := range uint64(150) {
		p, err := model.Compile(modelgen.RandomPipeline(seed, 12))
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := modelgen.RandomPlan(p, seed)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		bars := map[int]bool{}
		for _, line := range strings.Split(string(compare(t, pair(p, plan, tl, 1000), view.CompareOptions{})), "\n") {
			if first, rest, ok := strings.Cut(line, "|"); ok {
				bars[utf8.RuneCountInString(first)<<20+strings.IndexByte(rest, '|')] = true
			}
			if len(line) > 100 {
				t.Errorf("seed %d: line of %d columns: %s", seed, len(line), line)
			}
		}
		if len(bars) != 1 {
			t.Errorf("seed %d: the bars of lanes stand in %d ways", seed, len(bars))
		}
	}
}

func TestCompareErrors(t *testing.T) {
	if err := view.Compare(io.Discard, nil, view.CompareOptions{}); err == nil {
		t.Error("no lanes: no error")
	}
	var lanes []view.TraceLane
	for devices := range 2 {
		p := modelgen.Unit(devices+1, 2)
		plan, tl := scheduled(t, p, 0)
		lanes = append(lanes, view.LaneOf("lane", p, plan, tl, 1))
	}
	var laneError *view.LaneError
	if err := view.CompareSVG(io.Discard, []view.TraceLane{lanes[0], again(lanes[0])}, 0); !errors.As(err, &laneError) {
		t.Errorf("lanes of two problems: %v", err)
	}
	if err := view.Compare(io.Discard, lanes, view.CompareOptions{}); !errors.As(err, &laneError) {
		t.Errorf("lanes of 1 and 2 devices: %v", err)
	}
}

// again returns a lane of an equal problem that is not the same.
func again(lane view.TraceLane) view.TraceLane {
	p := *lane.Problem
	lane.Problem = &p
	return lane
}

func TestCompareSVG(t *testing.T) {
	for _, c := range []struct {
		name      string
		p         *model.Problem
		nsPerTick float64
		width     int
	}{
		{"named", named(), 100, 0},
		{"v", vShape(2, 4), 2.5e6, 800},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, tl := scheduled(t, c.p, 4)
			document := compareSVG(t, pair(c.p, plan, tl, c.nsPerTick), c.width)
			golden(t, "compare_"+c.name+".svg", document)
			if n := elements(t, document)["title"]; n != 2*plan.NumOps()+1 {
				t.Errorf("%d titles for twice %d operations and the document", n, plan.NumOps())
			}
		})
	}
}

// TestCompareSVGOfMany demands that the size of the picture of many operations does not
// grow with their number, and that both lanes are in it.
func TestCompareSVGOfMany(t *testing.T) {
	p := modelgen.Unit(8, 1000)
	plan := modelgen.OneForwardOneBackward(p)
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	document := compareSVG(t, pair(p, plan, tl, 1000), 0)
	if groups := elements(t, document)["g"]; groups != 2*p.NumDevices() || len(document) > 600_000 {
		t.Errorf("%d lanes in %d bytes", groups, len(document))
	}
}

func compareSVG(t *testing.T, lanes []view.TraceLane, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.CompareSVG(&b, lanes, width); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
