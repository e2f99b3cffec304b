package main

import (
	"encoding/json"

	"github.com/flexpipe/flexpipe/solve/tune"
)

// tuningJSON is the result of a tuning, version 1.
type tuningJSON struct {
	Format      string    `json:"format"`
	Version     int       `json:"version"`
	Objective   string    `json:"objective"`
	Unit        string    `json:"unit"`
	Rows        []rowJSON `json:"rows"`
	Reference   *rowJSON  `json:"reference"` // null: the configuration as it stands has no plan that fits
	ReferredTo  string    `json:"reference_name"`
	Fallback    bool      `json:"fallback"` // the only row is the reference
	Points      int       `json:"points"`
	Shapes      int       `json:"shapes"`
	Evaluated   int       `json:"evaluated"`
	Pruned      int       `json:"pruned"`
	Refused     int       `json:"refused"`
	TooLarge    int       `json:"too_large"`
	NoOrder     int       `json:"no_order"`
	Unbuilt     int       `json:"unbuilt"`
	WallSeconds float64   `json:"wall_seconds"`
	Seed        uint64    `json:"seed"`
	Reason      string    `json:"reason"`
}

// rowJSON is a plan of a tuning.
type rowJSON struct {
	Rank         int          `json:"rank"` // 0: the reference
	Status       string       `json:"status"`
	Value        *json.Number `json:"value"`
	Bound        *json.Number `json:"bound"`
	Gap          float64      `json:"gap"`
	Proof        string       `json:"proof"`
	Engine       string       `json:"engine"`
	Rule         string       `json:"rule"`    // what found the plan
	Speedup      *float64     `json:"speedup"` // over the reference
	PeakMemory   *json.Number `json:"peak_memory"`
	Point        string       `json:"point"`
	Devices      int          `json:"devices"`
	Stages       int          `json:"stages"`
	MicroBatches int          `json:"micro_batches"`
	Account      accountJSON  `json:"account"`
}

// accountJSON says where the time of the busiest device goes.
type accountJSON struct {
	Device  int     `json:"device"`
	Work    float64 `json:"work"`
	WarmUp  float64 `json:"warm_up"`
	Waits   float64 `json:"waits"`
	Drain   float64 `json:"drain"`
	Average float64 `json:"average_work"`
}

// json returns the result in its JSON form.
func (t *tuned) json() tuningJSON {
	r := t.result
	j := tuningJSON{
		Format: "flexpipe/tuning", Version: 1, Rows: []rowJSON{}, Points: r.Points, Shapes: r.Shapes, Evaluated: r.Evaluated,
		Pruned: r.Pruned, Refused: r.Refused, TooLarge: r.TooLarge, NoOrder: r.NoOrder, Fallback: r.Fallback, Unbuilt: r.Unbuilt, WallSeconds: t.wall.Seconds(), Seed: t.options.seed, Reason: r.Reason,
	}
	for i := range r.Rows {
		j.Rows = append(j.Rows, t.row(i+1, &r.Rows[i]))
	}
	if r.Reference != nil {
		row := t.row(0, r.Reference)
		j.Reference, j.ReferredTo = &row, t.reference()
	}
	if len(r.Rows) > 0 {
		p := r.Rows[0].Problem
		j.Objective, j.Unit = p.Pipeline.Objective.String(), p.TimeUnit().Name
	}
	return j
}

func (t *tuned) row(rank int, row *tune.Row) rowJSON {
	p, r, a := row.Problem, row.Result, row.Account
	j := rowJSON{
		Rank: rank, Status: r.Status.String(), Value: number(p.Pipeline.TimeUnit, r.Value), Bound: number(p.Pipeline.TimeUnit, r.Bound),
		Gap: r.Gap(), Proof: string(r.Proof), Engine: r.Engine, Rule: r.Rule, PeakMemory: number(p.Pipeline.MemoryUnit, highestPeak(row)), Point: row.Point.String(),
		Devices: p.NumDevices(), Stages: len(p.Pipeline.Stages), MicroBatches: p.MicroBatches(),
		Account: accountJSON{a.Device, a.Work, a.WarmUp, a.Waits, a.Drain, a.Average},
	}
	if t.result.Reference != nil && row.Value > 0 {
		ratio := t.result.Reference.Value / row.Value
		j.Speedup = &ratio
	}
	return j
}
