package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/flexpipe/flexpipe/model"
)

// ownTable prints the operations of the configuration's own, if there are any.
func ownTable(w io.Writer, p *model.Problem) {
	list := p.Pipeline.Operations
	if len(list) == 0 {
		return
	}
	unit := p.TimeUnit()
	kind, letter, stage := column{name: "operation", left: true}, column{name: "letter", left: true}, column{name: "stage"}
	runs, on, duration := column{name: "runs", left: true}, column{name: "on", left: true}, column{name: unit.Plural()}
	takes, gives := column{name: "takes"}, column{name: "gives"}
	for i := range list[:min(len(list), mostRows)] {
		o := &list[i]
		kind.add(text.Snip(o.Name, longestName, "~"))
		letter.add(text.Snip(o.Letter, 12, "~"))
		stage.add(stageOrNone(o.Stage))
		runs.add(howOften(o))
		on.add(occupied(p.Pipeline, o))
		duration.add(unit.Rounded(int64(o.Duration)))
		takes.add(p.FormatMemory(o.Takes))
		gives.add(p.FormatMemory(o.Gives))
	}
	columns := []column{kind, letter, stage, runs, on, duration}
	if p.ModelsMemory() {
		columns = append(columns, takes, gives)
	}
	fmt.Fprintln(w)
	printTable(w, columns...)
	if more := len(list) - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more operation"))
	}
}

func stageOrNone(stage int) string {
	if stage < 0 {
		return "none"
	}
	return strconv.Itoa(stage)
}

func howOften(o *model.Operation) string {
	switch {
	case o.Single:
		return "once"
	case o.Fixed:
		return "each, fixed"
	}
	return "each"
}

// occupied names the devices and engines of an operation.
func occupied(pl *model.Pipeline, o *model.Operation) string {
	if o.Devices == nil {
		return "its stage"
	}
	var devices []int
	var engines []string
	for _, d := range o.Devices {
		if pl.Devices[d].Engine {
			engines = append(engines, pl.Devices[d].Name)
		} else {
			devices = append(devices, d)
		}
	}
	if len(engines) > 0 {
		return text.Snip(strings.Join(engines, ", "), longestName, "~")
	}
	return stageList(devices)
}

// ownJSON is an operation of the configuration's own.
type ownJSON struct {
	Kind     string       `json:"kind"`
	Letter   string       `json:"letter"`
	Stage    *int         `json:"stage"` // null: beside none
	Once     bool         `json:"once"`
	Devices  []int        `json:"devices"` // engines follow the devices; null: those of the stage
	Duration *json.Number `json:"duration"`
	Takes    *json.Number `json:"takes"`
	Gives    *json.Number `json:"gives"`
}

func ownListJSON(pl *model.Pipeline) []ownJSON {
	var list []ownJSON
	for i := range pl.Operations {
		o := &pl.Operations[i]
		j := ownJSON{Kind: o.Name, Letter: o.Letter, Once: o.Single, Devices: o.Devices,
			Duration: number(pl.TimeUnit, o.Duration), Takes: number(pl.MemoryUnit, o.Takes), Gives: number(pl.MemoryUnit, o.Gives)}
		if o.Stage >= 0 {
			j.Stage = &o.Stage
		}
		list = append(list, j)
	}
	return list
}
