package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// exchange is an instance in the format of the peers, every operation on its own.
// Operations are numbered from 0, as in model.OpID. ../peers/README.md describes
// the fields.
type exchange struct {
	Format      string          `json:"format"`
	Version     int             `json:"version"`
	Name        string          `json:"name"`
	Objective   string          `json:"objective"`
	Devices     int             `json:"devices"`
	Operations  []operation     `json:"operations"`
	Precedences [][3]int64      `json:"precedences"` // before, after, lag
	Sequences   [][]model.OpID  `json:"sequences"`
	Memory      []exchangeLimit `json:"memory"`
}

type operation struct {
	Name       string     `json:"name"`
	Stage      int        `json:"stage"`
	MicroBatch int        `json:"micro_batch"`
	Devices    []int32    `json:"devices"`
	Duration   model.Time `json:"duration"`
}

type exchangeLimit struct {
	Device int         `json:"device"`
	Limit  model.Bytes `json:"limit"`  // without the static part
	Deltas [][3]int64  `json:"deltas"` // operation, taken at its start, taken at its end
}

// newExchange translates a problem. Errors: one for features that the peers do not
// have.
func newExchange(p *model.Problem) (*exchange, error) {
	switch {
	case p.HasChoice:
		return nil, fmt.Errorf("the peers have no choice between split and fused")
	case p.Pipeline.Objective != model.Makespan:
		return nil, fmt.Errorf("the peers know the makespan only")
	}
	x := &exchange{
		Format: "flexpipe/instance", Version: 1,
		Name: p.Pipeline.Name, Objective: "makespan", Devices: p.NumDevices(),
		Precedences: [][3]int64{}, Memory: []exchangeLimit{},
	}
	for op := range model.OpID(p.NumOps()) {
		row := p.Row(op)
		x.Operations = append(x.Operations, operation{p.Name(op), row.Stage, p.MicroBatch(op), row.Devices, p.Duration(op)})
	}
	for c := range constraints.Precedences(p) {
		x.addPrecedence(p, c)
	}
	for _, s := range constraints.Sequences(p) {
		x.Sequences = append(x.Sequences, s.Ops)
	}
	for l := range constraints.MemoryLimits(p) {
		x.addLimit(p, l)
	}
	return x, nil
}

func (x *exchange) addPrecedence(p *model.Problem, c constraints.Precedence) {
	for index := range p.Count(int(c.After)) {
		after := p.Base(int(c.After)) + model.OpID(index)
		first, end := p.PredOps(int(c.After), index, model.Pred{Row: c.Before, Lag: c.Lag})
		for before := first; before < end; before++ {
			x.Precedences = append(x.Precedences, [3]int64{int64(before), int64(after), int64(c.Lag)})
		}
	}
}

func (x *exchange) addLimit(p *model.Problem, l constraints.MemoryLimit) {
	limit := exchangeLimit{Device: l.Device, Limit: l.Limit - l.Static, Deltas: [][3]int64{}}
	for _, d := range l.Deltas {
		for index := range p.Count(int(d.Row)) {
			op := p.Base(int(d.Row)) + model.OpID(index)
			limit.Deltas = append(limit.Deltas, [3]int64{int64(op), int64(d.AtStart), int64(d.AtEnd)})
		}
	}
	x.Memory = append(x.Memory, limit)
}

// dumpAll writes a file for each instance.
func dumpAll(folder string, instances []suite.Instance) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for i := range instances {
		p, err := instances[i].Problem()
		if err != nil {
			return err
		}
		if err := dump(filepath.Join(folder, instances[i].Name+".json"), p); err != nil {
			return err
		}
	}
	return nil
}

func dump(file string, p *model.Problem) error {
	x, err := newExchange(p)
	if err != nil {
		return err
	}
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}
