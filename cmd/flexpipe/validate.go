package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

func (p *program) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check a configuration, and say what it means",
		ArgsUsage: "CONFIG",
		Flags:     commonFlags("write what it means to this `FILE`", reports),
		Action:    p.validate,
	}
}

func (p *program) validate(c *cli.Context) error {
	name, err := argument(c, "configuration")
	if err != nil {
		return err
	}
	cfg, err := p.loadConfig(name, c.Bool("quiet"))
	if err != nil {
		return err
	}
	problem, err := cssr.Build(cfg, cssr.Choices{})
	if err != nil {
		return err
	}
	layers, err := cssr.Layers(cfg, cssr.Choices{})
	if err != nil {
		return err
	}
	d := digest{cfg: cfg, problem: problem, layers: layers}
	if no := bound.Infeasible(problem); no != nil {
		d.infeasible = no.Reason + elsewhere(cfg, problem, cssr.Choices{})
	}
	return p.output(c.String("output"), func(w io.Writer) error {
		if c.Bool("json") {
			return writeJSON(w, d.json())
		}
		fmt.Fprintf(w, "%s: valid\n", displayName(name))
		if !c.Bool("quiet") {
			fields(w, d.lines()...)
			fmt.Fprintln(w)
			stageTable(w, problem, layers)
			ownTable(w, problem)
		}
		return nil
	})
}

// digest is what a configuration means.
type digest struct {
	cfg        *config.Config
	problem    *model.Problem
	layers     []string // of each stage; nil: there is no network
	infeasible string   // why no plan exists; "": not proved so
}

// lines returns the digest for people.
func (d *digest) lines() [][2]string {
	p := d.problem
	list := [][2]string{
		{"problem", outline(p, nil)},
		{"placement", d.placement()},
		{"costs", d.costs()},
		{"transfers", d.transfers()},
		{"memory", d.memory()},
		{"objective", p.Pipeline.Objective.String()},
	}
	if d.infeasible != "" {
		list = append(list, [2]string{"infeasible", d.infeasible})
	}
	return list
}

// placement says where the stages sit, on each route if there are several.
func (d *digest) placement() string {
	cfg := d.cfg
	if len(cfg.Routes) < 2 {
		return placementText(string(cfg.Placement.Rule), seats(d.problem))
	}
	const most = 4
	var parts []string
	for i, route := range cfg.Routes[:min(most, len(cfg.Routes))] {
		parts = append(parts, fmt.Sprintf("route %d %s", i, placementText(string(route.Rule), route.Devices)))
	}
	if more := len(cfg.Routes) - most; more > 0 {
		parts = append(parts, model.Plural(more, "more route"))
	}
	return strings.Join(parts, "; ")
}

func (d *digest) costs() string {
	unit := d.problem.TimeUnit().Plural()
	switch {
	case d.cfg.Model != nil:
		article := "a"
		if d.cfg.Model.Kind == config.EncoderDecoder || d.cfg.Model.Kind == config.MLP {
			article = "an"
		}
		if d.cfg.Measured() {
			return fmt.Sprintf("from measured layers of %s %s network, in %s", article, d.cfg.Model.Kind, unit)
		}
		return fmt.Sprintf("computed from %s %s network on a cluster, in %s", article, d.cfg.Model.Kind, unit)
	case d.cfg.Profile != nil:
		return "from a measured profile, in " + unit
	}
	return "as listed, in " + unit
}

func (d *digest) transfers() string {
	pl := d.problem.Pipeline
	mode := "overlapped"
	if pl.Blocking {
		mode = "blocking"
	}
	perNode := 0
	if d.cfg.Cluster != nil {
		perNode = d.cfg.Cluster.DevicesPerNode
	}
	return mode + ", " + latencies(d.problem, perNode)
}

func (d *digest) memory() string {
	p := d.problem
	if !p.ModelsMemory() {
		return "not modelled"
	}
	limited := 0
	least := model.Bytes(model.Unlimited)
	for _, l := range p.Limits {
		if least = min(least, l); l < model.Unlimited {
			limited++
		}
	}
	if limited == 0 {
		return "modelled, without limits"
	}
	return fmt.Sprintf("limits on %s, the least %s", model.Plural(limited, "device"), p.FormatMemory(least))
}

type digestJSON struct {
	Format       string   `json:"format"`
	Version      int      `json:"version"`
	Name         string   `json:"name"`
	Devices      int      `json:"devices"`
	Stages       int      `json:"stages"`
	MicroBatches int      `json:"micro_batches"`
	Operations   int      `json:"operations"`
	Placement    string   `json:"placement"`
	Unit         string   `json:"unit"`
	Objective    string   `json:"objective"`
	Infeasible   string   `json:"infeasible"` // why no plan exists; empty if that is not known
	Warnings     []string `json:"warnings"`

	StageCosts    []stageJSON `json:"stage_costs"`
	OwnOperations []ownJSON   `json:"own_operations,omitempty"`
}

func (d *digest) json() digestJSON {
	pl := d.problem.Pipeline
	j := digestJSON{
		Format: "flexpipe/validation", Version: 1,
		Name: pl.Name, Devices: pl.RealDevices(), Stages: len(pl.Stages), MicroBatches: pl.MicroBatches,
		Operations: d.problem.NumOps(), Placement: string(d.cfg.Placement.Rule), Infeasible: d.infeasible,
		Unit: d.problem.TimeUnit().Name, Objective: pl.Objective.String(), Warnings: []string{}, StageCosts: stagesJSON(d.problem, d.layers),
		OwnOperations: ownListJSON(pl),
	}
	if len(d.cfg.Routes) > 1 {
		j.Placement = "routes"
	}
	for _, w := range d.cfg.Warnings {
		j.Warnings = append(j.Warnings, w.String())
	}
	return j
}
