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
		Flags:  commonFlags("write the list to this `FILE`", reports),
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
		scheduleList(w, c.Bool("quiet"))
		return nil
	})
}

func scheduleList(w io.Writer, quiet bool) {
	all := heuristics.Schedules()
	if quiet {
		for _, s := range all {
			fmt.Fprintln(w, s.Name)
		}
		return
	}
	for _, s := range all {
		fmt.Fprintln(w, s.Name)
		fields(w, [][2]string{
			{"  what", s.Title}, {"  placement", s.Placement}, {"  shape", s.Shapes}, {"  backward", s.Backward.String()},
			{"  makespan", s.Makespan}, {"  peak", s.Peak}, {"  paper", s.Paper},
		}...)
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, `P devices, M micro-batches, v stages per device. The closed forms of makespan and peak hold for a
forward, an input gradient and a weight gradient of length 1 each and no latency; peaks are live
activations of a stage, on device d.
`)
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
