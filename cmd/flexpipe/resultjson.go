package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// mostListed is the number of operations up to which a result lists the orders.
const mostListed = 100_000

// resultJSON is the result of a solve, version 1. Without a plan, what only a
// plan has is null.
type resultJSON struct {
	Format          string       `json:"format"`
	Version         int          `json:"version"`
	Status          string       `json:"status"`
	Objective       string       `json:"objective"`
	Value           *json.Number `json:"value"`
	Bound           *json.Number `json:"bound"`
	Gap             *float64     `json:"gap"`
	Unit            string       `json:"unit"`
	Makespan        *json.Number `json:"makespan"`
	Span            *json.Number `json:"span"`
	Ideal           *json.Number `json:"ideal"`
	BubbleRatio     *float64     `json:"bubble_ratio"`
	BubbleOverIdeal *float64     `json:"bubble_over_ideal"`
	Engine          string       `json:"engine"`
	Proof           string       `json:"proof"`
	WallSeconds     float64      `json:"wall_seconds"`
	Seed            uint64       `json:"seed"`
	Devices         []deviceJSON `json:"devices"`
	Order           [][]string   `json:"order,omitempty"`
	Reason          string       `json:"reason"`
	Scope           string       `json:"scope,omitempty"` // which plans status and bound are about; absent: all
	Rule            string       `json:"rule"`            // what found the plan
	BoundReason     string       `json:"bound_reason"`    // why nothing takes less than the bound
	Conflicts       int64        `json:"conflicts"`       // contradictions that exact search met
	Nogoods         int64        `json:"nogoods"`         // what it learned from them
}

type deviceJSON struct {
	Device     int          `json:"device"`
	Busy       *json.Number `json:"busy"`
	Idle       *json.Number `json:"idle"`
	Span       *json.Number `json:"span"`
	PeakMemory *json.Number `json:"peak_memory"`
	Limit      *json.Number `json:"limit"` // null: unlimited

	Name          string `json:"name"` // empty: it has none
	Stages        []int  `json:"stages"`
	ChunkSwitches int    `json:"chunk_switches"`
}

// json returns the result in its JSON form.
func (a *answer) json() resultJSON {
	r, pl := a.result, a.problem.Pipeline
	j := resultJSON{
		Format: "flexpipe/result", Version: 1,
		Status: r.Status.String(), Objective: pl.Objective.String(), Unit: a.problem.TimeUnit().Name,
		Engine: r.Engine, Proof: string(r.Proof),
		WallSeconds: a.wall.Seconds(), Seed: a.options.seed, Devices: []deviceJSON{}, Reason: r.Reason,
		Scope: a.scope, Rule: a.rule(), BoundReason: r.BoundReason, Conflicts: r.Stats.Conflicts, Nogoods: r.Stats.Learned,
	}
	if r.Status != solve.Infeasible {
		j.Bound = number(pl.TimeUnit, r.Bound)
	}
	if r.Plan == nil {
		return j
	}
	m, o := r.Metrics, pl.Objective
	gap, bubble, overIdeal := r.Gap(), m.BubbleRatio(o), m.BubbleOverIdeal(o)
	j.Value, j.Gap = number(pl.TimeUnit, r.Value), &gap
	j.Makespan, j.Span, j.Ideal = number(pl.TimeUnit, m.Makespan), number(pl.TimeUnit, m.Span), number(pl.TimeUnit, m.Ideal)
	j.BubbleRatio, j.BubbleOverIdeal = &bubble, &overIdeal
	j.Devices = devicesJSON(a.problem, m)
	if r.Plan.NumOps() <= mostListed || a.options.withOrder {
		j.Order = orderJSON(a.problem, r.Plan)
	}
	return j
}

func devicesJSON(p *model.Problem, m *model.Metrics) []deviceJSON {
	time, memory := p.Pipeline.TimeUnit, p.Pipeline.MemoryUnit
	list := make([]deviceJSON, len(m.Devices))
	for d, dm := range m.Devices {
		list[d] = deviceJSON{
			Device: d, Busy: number(time, dm.Busy), Idle: number(time, m.Makespan-dm.Busy),
			Span: number(time, dm.Span()), PeakMemory: number(memory, dm.Peak),
			Name: p.Pipeline.Devices[d].Name, Stages: append([]int{}, p.StagesOn(d)...), ChunkSwitches: dm.ChunkSwitches,
		}
		if p.Limits[d] != model.Unlimited {
			list[d].Limit = number(memory, p.Limits[d])
		}
	}
	return list
}

func orderJSON(p *model.Problem, plan *model.Plan) [][]string {
	all := make([][]string, len(plan.Order))
	for d, order := range plan.Order {
		all[d] = make([]string, len(order))
		for i, op := range order {
			all[d][i] = p.Name(op)
		}
	}
	return all
}

// number returns an amount in the user's unit, exactly. A unit of a plan file
// that is no decimal is rounded.
func number[T model.Time | model.Bytes](u model.Unit, n T) *json.Number {
	text := u.Format(int64(n))
	if strings.Contains(text, "/") {
		f, _ := u.Rat(int64(n)).Float64()
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	j := json.Number(text)
	return &j
}

// writeJSON writes a value on one line.
func writeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}
