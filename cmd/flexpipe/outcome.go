package main

import (
	"io"
	"math"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/view"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// outcome is what an execution was like.
type outcome struct {
	*execution
	run         *pipert.Run
	prediction  *pipert.Prediction
	basis       string // what the prediction rests on
	interrupted bool
}

// predicted returns the predicted seconds of an iteration, and the error relative to what
// was measured.
func (r *outcome) predicted() (seconds, deviation float64) {
	seconds = r.prediction.Seconds()
	return seconds, pipert.PredictionError(seconds, r.run.Makespans().Median)
}

// compared reports whether the prediction can be held against what was measured: actors that share
// cores say nothing about speed, and an iteration of no length has no relative error.
func (r *outcome) compared() bool {
	return !r.functional() && r.prediction.Seconds() > 0 && r.run.Makespans().Median > 0
}

// throughput returns samples and tokens in a second, whole steps counted; false if nothing
// was trained.
func (r *outcome) throughput() (samples, tokens float64, ok bool) {
	if r.blueprint == nil || !r.trains() {
		return 0, 0, false
	}
	net, err := r.blueprint.Network()
	if err != nil {
		return 0, 0, false // refused when the backend was opened
	}
	perBatch, perBatchTokens := net.MicroBatch()
	batches := float64(r.problem.MicroBatches()) / r.run.StepSeconds().Median
	return batches * float64(perBatch), batches * float64(perBatchTokens), true
}

// trains reports whether there is a loss.
func (r *outcome) trains() bool {
	return len(r.run.Losses) > 0 && !math.IsNaN(r.run.Losses[0])
}

// counted reports whether the memory of devices was counted: that of tensors, or what the plan
// says that operations take.
func (r *outcome) counted() bool { return r.run.Memory != nil || r.prediction.Problem.ModelsMemory() }

// peak returns the most memory that a device held in any iteration, in the unit of the prediction.
func (r *outcome) peak(d int) model.Bytes {
	if r.run.Memory != nil {
		return model.Bytes(r.run.Memory[d].Peak)
	}
	most := model.Bytes(0)
	for _, record := range r.run.Records {
		most = max(most, record.Devices[d].Peak)
	}
	return most
}

// predictedPeak returns what a device should hold at most.
func (r *outcome) predictedPeak(d int) model.Bytes { return r.prediction.Metrics.Devices[d].Peak }

// highestPeak returns the peak of the device with most.
func (r *outcome) highestPeak() model.Bytes {
	most := model.Bytes(0)
	for d := range r.problem.NumDevices() {
		most = max(most, r.peak(d))
	}
	return most
}

// bytes writes an amount of memory in the unit of the prediction.
func (r *outcome) bytes(b model.Bytes) string { return r.prediction.Problem.FormatMemory(b) }

// preempted returns the share of operations during which the machine did something else, -1
// where that is not known: devices that only wait give their core away.
func (r *outcome) preempted() float64 {
	if r.perTick > 0 {
		return -1
	}
	return pipert.PreemptedShare(r.run.Records)
}

// operation is what the operations of a row took, in seconds.
type operation struct {
	stage     int // -1 if it belongs to none
	route     int
	kind      string
	predicted float64
	measured  pipert.Quantiles
}

// operations returns the rows of the problem that were executed.
func (r *outcome) operations() []operation {
	var list []operation
	for row, q := range pipert.RowTimes(r.problem, r.run.Records) {
		if q.N == 0 {
			continue
		}
		of := &r.problem.Rows[row]
		list = append(list, operation{
			stage: of.Stage, route: of.Route, kind: r.problem.Kinds[of.Kind].Name,
			predicted: r.prediction.RowNanoseconds(row) / 1e9, measured: inSeconds(q),
		})
	}
	return list
}

// inSeconds converts quantiles from nanoseconds.
func inSeconds(q pipert.Quantiles) pipert.Quantiles {
	return pipert.Quantiles{N: q.N, P10: q.P10 / 1e9, Median: q.Median / 1e9, P90: q.P90 / 1e9}
}

// typical returns the record whose iteration took the time nearest to the median.
func (r *outcome) typical() *pipert.Record {
	median := r.run.Makespans().Median
	var best *pipert.Record
	for _, record := range r.run.Records {
		if best == nil || math.Abs(record.Makespan.Seconds()-median) < math.Abs(best.Makespan.Seconds()-median) {
			best = record
		}
	}
	return best
}

// measuredLane and predictedLane are the timelines that pictures show.
func (r *outcome) measuredLane() view.TraceLane {
	record := r.typical()
	return view.TraceLane{Name: "measured", Problem: r.prediction.Problem, Plan: r.plan, Start: record.Start, End: record.End}
}

func (r *outcome) predictedLane() view.TraceLane {
	return view.LaneOf("predicted", r.prediction.Problem, r.plan, r.prediction.Timeline, r.prediction.PerTick)
}

// lanes returns the timelines to compare: of actors that share cores only what was measured.
func (r *outcome) lanes() []view.TraceLane {
	if r.functional() {
		return []view.TraceLane{r.measuredLane()}
	}
	return []view.TraceLane{r.predictedLane(), r.measuredLane()}
}

func (r *outcome) writeTrace(w io.Writer) error {
	return view.Trace(w, []view.TraceLane{r.predictedLane(), r.measuredLane()}, view.TraceOptions{Provenance: r.label()})
}
