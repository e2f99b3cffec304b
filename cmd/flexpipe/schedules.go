package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/heuristics"
)

func (p *program) schedulesCommand() *cli.Command {
	return &cli.Command{
		Name:   "schedules",
		Usage:  "list the named schedules with papers, legal shapes and closed forms",
		Flags:  append([]cli.Flag{jsonFlag()}, outputFlags("write the list to this `FILE`")...),
		Action: p.schedules,
	}
}

func (p *program) schedules(c *cli.Context) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	return p.output(c.String("output"), func(w io.Writer) error {
		if c.Bool("json") {
			return writeJSON(w, scheduleListJSON())
		}
		scheduleTable(w, c.Bool("quiet"))
		return nil
	})
}

func scheduleTable(w io.Writer, quiet bool) {
	if quiet {
		for _, s := range heuristics.Schedules() {
			fmt.Fprintln(w, s.Name)
		}
		return
	}
	t := newTable([]string{"name", "placement", "backward", "makespan", "peak on device d"})
	for _, s := range heuristics.Schedules() {
		t.AppendRow(row([]string{s.Name, s.Placement, s.Backward.String(), s.Makespan, s.Peak}))
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprint(w, `
P devices, M micro-batches, v stages per device. The closed forms hold for a forward, an input gradient and
a weight gradient of length 1 each and no latency; peaks are live activations of a stage.

`)
	for _, s := range heuristics.Schedules() {
		fmt.Fprintf(w, "%s: %s\n  shape  %s\n  paper  %s\n", s.Name, s.Title, s.Shapes, s.Paper)
	}
}

type schedulesJSON struct {
	Format    string         `json:"format"`
	Version   int            `json:"version"`
	Schedules []scheduleJSON `json:"schedules"`
}

type scheduleJSON struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Paper     string `json:"paper"`
	Placement string `json:"placement"`
	Shapes    string `json:"shapes"`
	Backward  string `json:"backward"`
	Makespan  string `json:"makespan"`
	Peak      string `json:"peak"`
}

func scheduleListJSON() schedulesJSON {
	j := schedulesJSON{Format: "flexpipe/schedules", Version: 1}
	for _, s := range heuristics.Schedules() {
		j.Schedules = append(j.Schedules, scheduleJSON{
			s.Name, s.Title, s.Paper, s.Placement, s.Shapes, s.Backward.String(), s.Makespan, s.Peak,
		})
	}
	return j
}
