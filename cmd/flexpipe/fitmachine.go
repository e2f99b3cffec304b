package main

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/cpu"
)

// fitsMachine refuses a training that takes more memory than this machine has left: the
// operating system would kill the program, or another one.
func (e *execution) fitsMachine() error {
	available, known := availableMemory()
	if !known {
		return nil
	}
	need, err := e.memoryOnCPU()
	if err != nil {
		return err
	}
	if need > available {
		return fmt.Errorf("--backend cpu: the network with its activations takes %s in 32-bit floats, and this machine has %s left; "+
			"train a smaller one, or use --backend emulated", bytesText(need), bytesText(available))
	}
	return nil
}

// memoryOnCPU returns the bytes that all devices together take at most. Errors are those of
// [cpu.Open] for the network.
func (e *execution) memoryOnCPU() (total int64, err error) {
	if len(e.blueprint.Stages) != len(e.problem.Pipeline.Stages) {
		return 0, nil // cpu.Open refuses it, and says why
	}
	stages := make([]pipert.StageCosts, len(e.blueprint.Stages))
	for s := range stages {
		bytes, err := cpu.Footprint(e.blueprint, s)
		if err != nil {
			return 0, err
		}
		stages[s] = pipert.StageCosts{Activation: bytes.Activation, FreedByInput: bytes.FreedByBackwardInput, Static: bytes.Static}
		total += bytes.Work
	}
	problem, err := pipert.Retime(e.problem, stages, 0)
	if err != nil {
		return 0, nil // as above
	}
	p, err := pipert.Predict(problem, e.plan, 1)
	if err != nil {
		return 0, err
	}
	for d := range p.Metrics.Devices {
		total += int64(p.Metrics.Devices[d].Peak)
	}
	return total, nil
}

// bytesText writes an amount of memory.
func bytesText(n int64) string { return model.Unit{Name: "B"}.Size(n) }
