package main

import (
	"encoding/json"

	pipert "github.com/flexpipe/flexpipe/runtime"
)

// runJSON is the report of run, version 1, and most of a row of bench. Times are seconds; memory is
// bytes, or of emulated devices in the plan's own unit. What a backend does not know is null.
type runJSON struct {
	Format  string `json:"format,omitempty"` // not in rows of bench
	Version int    `json:"version,omitempty"`

	Schedule         string          `json:"schedule"`
	Backend          string          `json:"backend"`
	Label            string          `json:"label"`      // what the times are those of
	Functional       bool            `json:"functional"` // true: times say nothing about speed
	Iterations       int             `json:"iterations"`
	Measured         quantilesJSON   `json:"measured_seconds"`
	Step             quantilesJSON   `json:"step_seconds"` // with data and optimizer
	Predicted        float64         `json:"predicted_seconds"`
	PredictionError  *float64        `json:"prediction_error"` // null: not compared
	SamplesPerSecond *float64        `json:"samples_per_second"`
	TokensPerSecond  *float64        `json:"tokens_per_second"`
	PeakMemory       *json.Number    `json:"peak_memory"` // of the device with most
	Basis            string          `json:"prediction_basis"`
	Losses           []float64       `json:"losses"` // of all iterations, warm-up included
	Preempted        *float64        `json:"preempted_share"`
	Devices          []ranDeviceJSON `json:"devices"`
	Operations       []ranRowJSON    `json:"operations"`
	Reason           string          `json:"reason"`
}

type quantilesJSON struct {
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P90    float64 `json:"p90"`
}

func toQuantilesJSON(q pipert.Quantiles) quantilesJSON { return quantilesJSON{q.Median, q.P10, q.P90} }

type ranDeviceJSON struct {
	Device        int          `json:"device"`
	Name          string       `json:"name"`
	Stages        []int        `json:"stages"`
	Busy          float64      `json:"busy_seconds"`
	Wait          float64      `json:"wait_seconds"`
	Overhead      float64      `json:"overhead_seconds"`
	PredictedBusy float64      `json:"predicted_busy_seconds"`
	PeakMemory    *json.Number `json:"peak_memory"`
	PredictedPeak *json.Number `json:"predicted_peak_memory"`
	LiveMemory    *int64       `json:"live_memory"` // bytes of tensors that the iteration left, beside what is static
}

type ranRowJSON struct {
	Stage     int           `json:"stage"` // -1: none
	Route     int           `json:"route"`
	Kind      string        `json:"kind"`
	Samples   int           `json:"samples"`
	Predicted float64       `json:"predicted_seconds"`
	Measured  quantilesJSON `json:"measured_seconds"`
}

// json returns the report in its JSON form.
func (r *outcome) json() runJSON {
	j := r.row()
	j.Format, j.Version = "flexpipe/run", 1
	return j
}

// row returns the report without its header.
func (r *outcome) row() runJSON {
	predicted, deviation := r.predicted()
	j := runJSON{
		Schedule: r.name, Backend: r.backend.Name(), Label: r.label(), Functional: r.functional(), Basis: r.basis,
		Iterations: len(r.run.Records), Measured: toQuantilesJSON(r.run.Makespans()), Step: toQuantilesJSON(r.run.StepSeconds()),
		Predicted: predicted, Losses: []float64{}, Devices: r.devicesJSON(), Operations: []ranRowJSON{},
	}
	if r.compared() {
		j.PredictionError = &deviation
	}
	if samples, tokens, ok := r.throughput(); ok {
		j.SamplesPerSecond, j.TokensPerSecond = &samples, &tokens
	}
	if r.counted() {
		j.PeakMemory = number(r.prediction.Problem.Pipeline.MemoryUnit, r.highestPeak())
	}
	if r.trains() {
		j.Losses = r.run.Losses
	}
	if share := r.preempted(); share >= 0 {
		j.Preempted = &share
	}
	for _, o := range r.operations() {
		j.Operations = append(j.Operations, ranRowJSON{o.stage, o.route, o.kind, o.measured.N, o.predicted, toQuantilesJSON(o.measured)})
	}
	if r.interrupted {
		j.Reason = errInterrupted.Error()
	}
	return j
}

func (r *outcome) devicesJSON() []ranDeviceJSON {
	list := []ranDeviceJSON{}
	for d, s := range pipert.DeviceShares(r.run.Records) {
		row := ranDeviceJSON{
			Device: d, Name: r.problem.Pipeline.Devices[d].Name, Stages: append([]int{}, r.problem.StagesOn(d)...),
			Busy: s.Busy.Seconds(), Wait: s.Wait.Seconds(), Overhead: s.Overhead.Seconds(),
			PredictedBusy: r.predictedBusy(d),
		}
		if r.counted() {
			unit := r.prediction.Problem.Pipeline.MemoryUnit
			row.PeakMemory, row.PredictedPeak = number(unit, r.peak(d)), number(unit, r.predictedPeak(d))
		}
		if r.run.Memory != nil {
			row.LiveMemory = &r.run.Memory[d].Live
		}
		list = append(list, row)
	}
	return list
}
