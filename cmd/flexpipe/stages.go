package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/flexpipe/flexpipe/model"
)

// stageTable prints what each stage costs on its devices, and which layers of the
// network it holds if there is one.
func stageTable(w io.Writer, p *model.Problem, layers []string) {
	stages := p.Pipeline.Stages
	shown := min(len(stages), mostRows)
	columns := []column{{name: "stage", left: true}, {name: "devices", left: true}}
	for s := range shown {
		columns[0].add(strconv.Itoa(s))
		columns[1].add(replicaList(stages[s].Replicas))
	}
	if layers != nil {
		columns = append(columns, column{name: "layers", left: true, cells: layers[:shown]})
	}
	printTable(w, append(columns, costColumns(p, stages[:shown])...)...)
	if more := len(stages) - shown; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more stage"))
	}
}

// replicaList writes the devices of each replica of a stage.
func replicaList(replicas []model.Replica) string {
	const most = 4
	var parts []string
	for _, r := range replicas[:min(most, len(replicas))] {
		parts = append(parts, stageList(r.Devices))
	}
	if len(replicas) > most {
		parts = append(parts, "...")
	}
	return text.Snip(strings.Join(parts, " / "), longestName, "~")
}

// costColumns are the durations that any stage has, and sizes if memory is
// modelled.
func costColumns(p *model.Problem, stages []model.Stage) []column {
	unit := p.TimeUnit()
	duration := func(name string, of func(*model.Stage) model.Time) column {
		c := column{name: name + " " + unit.Plural()}
		for s := range stages {
			c.add(durationCell(unit, of(&stages[s])))
		}
		return c
	}
	size := func(name string, of func(*model.Stage) model.Bytes) column {
		c := column{name: name}
		for s := range stages {
			c.add(p.FormatMemory(of(&stages[s])))
		}
		return c
	}
	has := func(of func(*model.Stage) model.Time) bool {
		return slices.ContainsFunc(stages, func(s model.Stage) bool { return of(&s) != model.Absent })
	}
	var columns []column
	for _, d := range stageDurations {
		if has(d.of) {
			columns = append(columns, duration(d.letter, d.of))
		}
	}
	if p.ModelsMemory() {
		columns = append(columns,
			size("static", func(s *model.Stage) model.Bytes { return s.Static }),
			size("activation", func(s *model.Stage) model.Bytes { return s.Activation }))
	}
	return columns
}

// durationCell writes a duration, or that there is no such operation.
func durationCell(unit model.Unit, t model.Time) string {
	if t == model.Absent {
		return "none"
	}
	return unit.Rounded(int64(t))
}

// stageDurations are the durations of the operations that a stage may run.
var stageDurations = []struct {
	letter string
	of     func(*model.Stage) model.Time
}{
	{"F", func(s *model.Stage) model.Time { return s.Replicas[0].Durations.Forward }},
	{"I", func(s *model.Stage) model.Time { return unlessFused(s, s.Replicas[0].Durations.BackwardInput) }},
	{"W", func(s *model.Stage) model.Time { return unlessFused(s, s.Replicas[0].Durations.BackwardWeight) }},
	{"B", fusedDuration},
}

// unlessFused returns the duration of half a backward pass, which a stage that
// runs fused does not have.
func unlessFused(s *model.Stage, half model.Time) model.Time {
	if s.Backward == model.Fused && fusedDuration(s) != model.Absent {
		return model.Absent
	}
	return half
}

// fusedDuration returns the duration of the fused backward of a stage that may
// run it.
func fusedDuration(s *model.Stage) model.Time {
	if s.Backward == model.Split {
		return model.Absent
	}
	return s.Replicas[0].Durations.BackwardFull
}

type stageJSON struct {
	Stage          int          `json:"stage"`
	Devices        []int        `json:"devices"`            // on the first route
	Replicas       [][]int      `json:"replicas,omitempty"` // devices on each route, if there are several
	Layers         string       `json:"layers"`             // empty without a network
	Forward        *json.Number `json:"forward"`
	BackwardInput  *json.Number `json:"backward_input"` // null: it does not run this
	BackwardWeight *json.Number `json:"backward_weight"`
	BackwardFull   *json.Number `json:"backward_full"`
	Static         *json.Number `json:"static"`
	Activation     *json.Number `json:"activation"`
}

func stagesJSON(p *model.Problem, layers []string) []stageJSON {
	pl := p.Pipeline
	list := make([]stageJSON, len(pl.Stages))
	for i := range pl.Stages {
		s := &pl.Stages[i]
		var durations [4]*json.Number
		for k, d := range stageDurations {
			if t := d.of(s); t != model.Absent {
				durations[k] = number(pl.TimeUnit, t)
			}
		}
		list[i] = stageJSON{
			Stage: i, Devices: s.Replicas[0].Devices,
			Forward: durations[0], BackwardInput: durations[1], BackwardWeight: durations[2], BackwardFull: durations[3],
			Static: number(pl.MemoryUnit, s.Static), Activation: number(pl.MemoryUnit, s.Activation),
		}
		if len(s.Replicas) > 1 {
			for _, r := range s.Replicas {
				list[i].Replicas = append(list[i].Replicas, r.Devices)
			}
		}
		if layers != nil {
			list[i].Layers = layers[i]
		}
	}
	return list
}

// seats returns the devices of each stage.
func seats(p *model.Problem) [][]int {
	stages := p.Pipeline.Stages
	devices := make([][]int, len(stages))
	for s := range stages {
		devices[s] = stages[s].Replicas[0].Devices
	}
	return devices
}

// placementText writes where stages sit: the rule, and if that is a list, its
// first entries.
func placementText(rule string, devices [][]int) string {
	if rule != "list" {
		return rule
	}
	const most, first = 12, 10
	var entries []string
	for _, gang := range devices {
		text := strings.ReplaceAll(stageList(gang), " ", "+")
		entries = append(entries, text)
	}
	if len(entries) > most {
		entries = slices.Replace(entries, first, len(entries)-1, "...")
	}
	return "stages 0 to " + strconv.Itoa(len(devices)-1) + " on devices " + strings.Join(entries, ", ")
}
