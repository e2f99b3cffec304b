package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/view"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// text prints the report of run for people.
func (r *outcome) text(w io.Writer, o *runOptions) error {
	if o.quiet {
		predicted, deviation := r.predicted()
		q := r.run.Makespans()
		fmt.Fprintf(w, "measured %s (p10 %s, p90 %s), predicted %s (%s), %s\n",
			seconds(q.Median), seconds(q.P10), seconds(q.P90), seconds(predicted), signed(deviation), r.label())
	} else {
		fmt.Fprintln(w, outline(r.problem, r.prediction.Timeline))
		fields(w, r.summary()...)
		fmt.Fprintln(w)
		r.deviceTable(w)
		fmt.Fprintln(w)
		r.operationTable(w)
	}
	if o.gantt || (!o.quiet && r.problem.NumDevices() <= mostLanes) {
		fmt.Fprintln(w)
		return view.Compare(w, []view.TraceLane{r.predictedLane(), r.measuredLane()}, view.CompareOptions{Color: o.color})
	}
	return nil
}

// deviceTable prints where the time of each device went, and what it held.
func (r *outcome) deviceTable(w io.Writer) {
	device, stages := column{name: "device", left: true}, column{name: "stages", left: true}
	busy, wait, overhead, idle := column{name: "busy"}, column{name: "waiting"}, column{name: "overhead"}, column{name: "idle predicted"}
	peak, want, static := column{name: "peak memory"}, column{name: "predicted"}, column{name: "static"}
	for d, s := range pipert.DeviceShares(r.run.Records) {
		if d == mostRows {
			break
		}
		m := &r.prediction.Metrics.Devices[d]
		device.add(deviceName(r.problem, d))
		stages.add(stagesOf(r.problem, d, r.problem.StagesOn(d)))
		busy.add(seconds(s.Busy.Seconds()))
		wait.add(seconds(s.Wait.Seconds()))
		overhead.add(seconds(s.Overhead.Seconds()))
		idle.add(seconds(float64(r.prediction.Metrics.Makespan-m.Busy) * r.prediction.PerTick / 1e9))
		if r.run.Memory != nil {
			peak.add(bytesText(r.run.Memory[d].Peak))
			want.add(bytesText(r.predictedPeak(d)))
			static.add(bytesText(r.run.Memory[d].Static + r.run.Memory[d].Work))
		}
	}
	columns := []column{device, stages, busy, wait, overhead, idle}
	if r.run.Memory != nil {
		columns = append(columns, peak, want, static)
	}
	printTable(w, columns...)
	if more := r.problem.NumDevices() - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more device"))
	}
}

// operationTable prints what the operations of each stage took.
func (r *outcome) operationTable(w io.Writer) {
	stage, kind, count := column{name: "stage", left: true}, column{name: "operation", left: true}, column{name: "samples"}
	predicted, measured, low, high, off := column{name: "predicted"}, column{name: "measured"}, column{name: "p10"}, column{name: "p90"}, column{name: "error"}
	rows, listed := r.operations(), 0
	for _, o := range rows {
		if listed++; listed > mostRows {
			break
		}
		name := "-"
		if o.stage >= 0 {
			name = strconv.Itoa(o.stage)
		}
		stage.add(name)
		kind.add(o.kind)
		count.add(strconv.Itoa(o.measured.N))
		predicted.add(seconds(o.predicted))
		measured.add(seconds(o.measured.Median))
		low.add(seconds(o.measured.P10))
		high.add(seconds(o.measured.P90))
		off.add(signed(pipert.PredictionError(o.predicted, o.measured.Median)))
	}
	printTable(w, stage, kind, count, predicted, measured, low, high, off)
	if more := len(rows) - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more row"))
	}
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
			predicted: r.prediction.RowNanoseconds(row) / 1e9,
			measured:  pipert.Quantiles{N: q.N, P10: q.P10 / 1e9, Median: q.Median / 1e9, P90: q.P90 / 1e9},
		})
	}
	return list
}
