package cssr_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

const twoUneven = `
devices: [{}, {slowdown: 2}]
micro_batches: 2
costs: {forward: [2, 6], backward_input: [4, 1], backward_weight: 2}
memory: {activation: [6, 3], freed_by_backward_input: 3, static: 12, limit: 30}
`

func TestSplitStages(t *testing.T) {
	pl := pipeline(t, twoUneven, cssr.Choices{SplitStages: 3})
	if want := (model.Unit{Name: "tick", Multiplier: 1, Divisor: 3}); pl.TimeUnit != want {
		t.Errorf("unit %+v", pl.TimeUnit)
	}
	equal(t, "forwards", forwards(pl), []model.Time{2, 4, 2, 12, 6, 12})
	if got := fmt.Sprint(gangs(pl)); got != "[[0] [1] [0] [1] [0] [1]]" {
		t.Errorf("devices %s", got)
	}
	for s, st := range pl.Stages {
		if activation := []model.Bytes{2, 1}[s/3]; st.Activation != activation || st.FreedByInput != 1 || st.Static != 4 {
			t.Errorf("memory of chunk %d: %+v", s, st)
		}
		if s > 0 {
			equal(t, "after", st.After, []int{s - 1})
		}
	}
	if pl.Devices[0].Limit != 30 {
		t.Errorf("limit %d", pl.Devices[0].Limit)
	}
}

func TestPlacementChoices(t *testing.T) {
	for _, c := range []struct {
		placement string // in the configuration
		choices   cssr.Choices
		want      string
	}{
		{"linear", cssr.Choices{SplitStages: 2}, "[[0] [1] [2] [0] [1] [2]]"},
		{"loop", cssr.Choices{SplitStages: 2}, "[[0] [1] [2] [0] [1] [2]]"},
		{"v", cssr.Choices{SplitStages: 2}, "[[0] [1] [2] [2] [1] [0]]"},
		{"[0, [1, 2], 2]", cssr.Choices{SplitStages: 2}, "[[0] [1 2] [2] [0] [1 2] [2]]"},
		{"linear", cssr.Choices{SplitStages: 2, Placement: "v"}, "[[0] [1] [2] [2] [1] [0]]"},
		{"[2, 1, 0]", cssr.Choices{Placement: "loop"}, "[[0] [1] [2]]"},
		{"[2, 1, 0]", cssr.Choices{Placement: "linear", SplitStages: 1}, "[[0] [1] [2]]"},
	} {
		text := "devices: 3\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\nplacement: " + c.placement
		if got := fmt.Sprint(gangs(pipeline(t, text, c.choices))); got != c.want {
			t.Errorf("%s with %+v: got %s, want %s", c.placement, c.choices, got, c.want)
		}
	}
}

func TestRefusedLayouts(t *testing.T) {
	const costs = "\nmicro_batches: 1\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"
	for _, c := range []struct {
		text    string
		choices cssr.Choices
		words   []string
	}{
		{"devices: 2" + costs, cssr.Choices{SplitStages: -1}, []string{"split-stages -1", "at least 1"}},
		{"devices: 2" + costs, cssr.Choices{SplitStages: 1 << 62}, []string{"test.yaml:2:10: devices: split-stages", "more than 65536"}},
		{"devices: 3\nedges: [[0, 2], [1, 2]]" + costs, cssr.Choices{SplitStages: 2}, []string{"test.yaml:3:8: edges: split-stages 2: ", "chain"}},
		{"devices: 2\nmicro_batches: 1\ncosts: {forward: 1, backward_input: [none, 1], backward_weight: 1}", cssr.Choices{SplitStages: 2}, []string{"test.yaml:4:38: costs.backward_input[0]: ", "stage 0"}},
		{"devices: 2" + costs, cssr.Choices{Placement: "zigzag"}, []string{"placement zigzag", "linear, loop or v"}},
		{"devices: 2\nplacement: [[0, 1]]" + costs, cssr.Choices{Placement: "loop"}, []string{"test.yaml:3:13: placement[0]: placement loop: stage 0", "gang"}},
		{"devices: 2" + costs, cssr.Choices{SplitStages: 2, Placement: "linear"}, []string{"test.yaml:2:10: devices: placement linear: ", "not 4 on 2"}},
		{"devices: 2\nstages: 3" + costs, cssr.Choices{Placement: "v"}, []string{"test.yaml:3:9: stages: placement v: ", "not 3 on 2"}},
	} {
		err := refused(t, c.text, c.choices, c.words...)
		if choice := (*cssr.ChoiceError)(nil); !errors.As(err, &choice) {
			t.Errorf("%v is no ChoiceError", err)
		}
	}
}

// Chunks of one stage are as far apart as the slower of its neighbours.
func TestSplitStagesOfProfile(t *testing.T) {
	stage := `{"durations": {"forward": {"median": 2}, "backward_input": {"median": 2}, "backward_weight": {"median": 2}}}`
	files := fstest.MapFS{
		"c.yaml": {Data: []byte("version: 1\ndevices: 3\nmicro_batches: 2\nprofile: p.json\ncommunication: {links: [{from: 2, to: 0, latency: 7}]}\n")},
		"p.json": {Data: []byte(`{"format": "flexpipe/profile", "version": 1, "unit": "us", "stages": [` + stage + "," + stage + "," + stage + `],
			"edges": [{"from": 0, "to": 1, "latency": 3}, {"from": 1, "to": 2, "latency": 5}]}`)},
	}
	cfg, err := config.Load(files, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pl, err := cssr.Pipeline(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	if pl.Latency != 5 {
		t.Errorf("latency %d", pl.Latency)
	}
	equal(t, "links", pl.Links, []model.Link{{From: 0, To: 1, Latency: 3}, {From: 1, To: 0, Latency: 3}, {From: 2, To: 0, Latency: 7}})
	// Chunks 0 to 5 on devices 0 1 2 0 1 2, with 3 3 5 5 5 between them: each pair
	// of devices has a 5.
	if pl, err = cssr.Pipeline(cfg, cssr.Choices{SplitStages: 2}); err != nil {
		t.Fatal(err)
	}
	if pl.Latency != 5 {
		t.Errorf("latency %d of the chunks", pl.Latency)
	}
	equal(t, "links of the chunks", pl.Links, []model.Link{{From: 2, To: 0, Latency: 7}})
}
