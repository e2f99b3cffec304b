// Package suite holds scheduling instances with the best values known.
package suite

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

//go:embed suite.json
var data []byte

// Instance is one problem of the suite. Lists have one value per stage; limits
// have one per device. A nil BackwardFull stands for separated halves.
type Instance struct {
	Name          string        `json:"name"`
	Devices       int           `json:"devices"`
	MicroBatches  int           `json:"micro_batches"`
	Placement     []int         `json:"placement"`
	Forward       []model.Time  `json:"forward"`
	BackwardInput []model.Time  `json:"backward_input"`
	Weight        []model.Time  `json:"backward_weight"`
	BackwardFull  []model.Time  `json:"backward_full"`
	Latency       model.Time    `json:"latency"`
	Activation    []model.Bytes `json:"activation"`
	FreedByInput  []model.Bytes `json:"freed_by_backward_input"`
	FreedByWeight []model.Bytes `json:"freed_by_backward_weight"`
	Limits        []model.Bytes `json:"memory_limit"`

	BestBound model.Time `json:"best_bound"` // largest lower bound known
	BestValue model.Time `json:"best_value"` // smallest makespan known
}

// Group returns the name without devices and micro-batches, such as V-ten-half.
func (in *Instance) Group() string { return in.Name[:strings.LastIndex(in.Name, "-P")] }

// Instances returns all instances, in the order of the file.
func Instances() ([]Instance, error) {
	var all []Instance
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("suite.json: %w", err)
	}
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, fmt.Errorf("suite.json: %s: %w", all[i].Name, err)
		}
	}
	return all, nil
}

// check tests that what the two halves of a backward give back is what the
// forward takes.
func (in *Instance) check() error {
	if in.BackwardFull != nil {
		return nil
	}
	for s, a := range in.Activation {
		if in.FreedByInput[s]+in.FreedByWeight[s] != a {
			return fmt.Errorf("stage %d takes %d and gives back %d", s, a, in.FreedByInput[s]+in.FreedByWeight[s])
		}
	}
	return nil
}

// Problem compiles the instance.
func (in *Instance) Problem() (*model.Problem, error) {
	pl := &model.Pipeline{Name: in.Name, MicroBatches: in.MicroBatches, Latency: in.Latency}
	for _, limit := range in.Limits {
		pl.Devices = append(pl.Devices, model.Device{Limit: limit})
	}
	for s := range in.Placement {
		pl.Stages = append(pl.Stages, in.stage(s))
	}
	model.Chain(pl.Stages)
	return model.Compile(pl)
}

func (in *Instance) stage(s int) model.Stage {
	d := model.Durations{
		Forward: in.Forward[s], BackwardInput: model.Absent, BackwardWeight: model.Absent,
		BackwardFull: model.Absent, Overlapped: model.Absent,
	}
	st := model.Stage{Activation: in.Activation[s]}
	if in.BackwardFull != nil {
		d.BackwardFull, st.Backward = in.BackwardFull[s], model.Fused
	} else {
		d.BackwardInput, d.BackwardWeight = in.BackwardInput[s], in.Weight[s]
		st.FreedByInput = in.FreedByInput[s]
	}
	st.Replicas = []model.Replica{{Devices: []int{in.Placement[s]}, Durations: d}}
	return st
}
