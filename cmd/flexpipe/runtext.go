package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/model/view"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// text prints the report of run for people.
func (r *outcome) text(w io.Writer, o *runOptions) error {
	if o.quiet {
		fmt.Fprintln(w, r.essence())
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
		return view.Compare(w, r.lanes(), view.CompareOptions{Color: o.color})
	}
	return nil
}

// essence is the report in a line.
func (r *outcome) essence() string {
	q := r.run.Makespans()
	measured := fmt.Sprintf("measured %s (p10 %s, p90 %s)", seconds(q.Median), seconds(q.P10), seconds(q.P90))
	if r.functional() {
		return measured + "; " + r.label()
	}
	predicted, deviation := r.predicted()
	return fmt.Sprintf("%s, predicted %s (%s); %s", measured, seconds(predicted), signed(deviation), r.label())
}

// summary returns the figures for people.
func (r *outcome) summary() [][2]string {
	list := [][2]string{{"backend", r.label()}}
	if r.trains() {
		list = append(list, [2]string{"network", networkText(r.blueprint)})
	}
	list = append(list, [2]string{"measured", r.measuredText()}, [2]string{"predicted", r.predictedText()})
	if samples, tokens, ok := r.throughput(); ok {
		list = append(list,
			[2]string{"step", seconds(r.run.StepSeconds().Median) + " with data and optimizer"},
			[2]string{"throughput", fmt.Sprintf("%s samples/s, %s tokens/s", figure(samples), figure(tokens))})
	}
	if losses := r.run.Losses; r.trains() {
		list = append(list, [2]string{"loss", fmt.Sprintf("%.4f in the first iteration, %.4f in the last of %d",
			losses[0], losses[len(losses)-1], len(losses))})
	}
	if r.counted() {
		list = append(list, [2]string{"memory", r.memoryText()})
	}
	if text := r.noise(); text != "" {
		list = append(list, [2]string{"machine", text})
	}
	return list
}

func (r *outcome) measuredText() string {
	q := r.run.Makespans()
	text := fmt.Sprintf("%s (p10 %s, p90 %s) over %s", seconds(q.Median), seconds(q.P10), seconds(q.P90), model.Plural(q.N, "iteration"))
	if r.interrupted {
		text += ", then interrupted"
	}
	return text
}

func (r *outcome) predictedText() string {
	if r.functional() {
		return "not compared: what operations take while actors share cores says nothing about devices"
	}
	predicted, deviation := r.predicted()
	return fmt.Sprintf("%s, %s, %s", seconds(predicted), against(deviation), r.basis)
}

// memoryText compares the peaks with the prediction.
func (r *outcome) memoryText() string {
	if r.run.Memory == nil {
		return r.plannedMemoryText()
	}
	var off []string
	for _, m := range r.prediction.MemoryDeviations(r.run.Memory) {
		text := fmt.Sprintf("%s %s, predicted %s", r.problem.DeviceName(m.Device), bytesText(m.Measured), bytesText(m.Predicted))
		if m.Live != 0 {
			text += fmt.Sprintf(", %s left after the iteration", bytesText(m.Live))
		}
		off = append(off, text)
	}
	if off != nil {
		return "not as predicted, which is a fault: " + strings.Join(off, "; ")
	}
	return "peaks to the byte as predicted, nothing left after the iteration"
}

// plannedMemoryText compares what the engine counts by the plan with the prediction.
func (r *outcome) plannedMemoryText() string {
	for d := range r.problem.NumDevices() {
		if got, want := r.peak(d), r.predictedPeak(d); got != want {
			return fmt.Sprintf("not as predicted, which is a fault: %s %s, predicted %s", r.problem.DeviceName(d), r.bytes(got), r.bytes(want))
		}
	}
	return "peaks as predicted, as the plan counts it"
}

// noise says how often the machine was busy with something else; "" if not known.
func (r *outcome) noise() string {
	share := r.preempted()
	if share < 0 {
		return ""
	}
	text := fmt.Sprintf("%.1f%% of the operations were interrupted by other work", 100*share)
	switch {
	case r.functional():
		return text + ", that of other actors as well"
	case share > 0.05:
		return text + ": a noisy machine, be careful with these times"
	}
	return text
}

// deviceTable prints where the time of each device went, and what it held.
func (r *outcome) deviceTable(w io.Writer) {
	shares := pipert.DeviceShares(r.run.Records)
	unit := scaleOf(longestShare(shares))
	device, stages := column{name: "device", left: true}, column{name: "stages", left: true}
	busy, want, wait, overhead := unit.column("busy"), unit.column("predicted"), unit.column("waiting"), unit.column("overhead")
	peak, planned, scratch := column{name: "peak memory"}, column{name: "predicted"}, column{name: "scratch"}
	for d, s := range shares[:min(len(shares), mostRows)] {
		device.add(deviceName(r.problem, d))
		stages.add(stagesOf(r.problem, d, r.problem.StagesOn(d)))
		busy.add(unit.text(s.Busy.Seconds()))
		wait.add(unit.text(s.Wait.Seconds()))
		overhead.add(unit.text(s.Overhead.Seconds()))
		want.add(unit.text(r.predictedBusy(d)))
		peak.add(r.bytes(r.peak(d)))
		planned.add(r.bytes(r.predictedPeak(d)))
		if r.run.Memory != nil {
			scratch.add(bytesText(r.run.Memory[d].Work))
		}
	}
	columns := []column{device, stages, busy}
	if !r.functional() {
		columns = append(columns, want)
	}
	columns = append(columns, wait, overhead)
	if r.counted() {
		columns = append(columns, peak, planned)
	}
	if r.run.Memory != nil {
		columns = append(columns, scratch)
	}
	printTable(w, columns...)
	if more := len(shares) - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more device"))
	}
}

// predictedBusy returns the seconds that a device should work.
func (r *outcome) predictedBusy(d int) float64 {
	return float64(r.prediction.Metrics.Devices[d].Busy) * r.prediction.PerTick / 1e9
}

// longestShare returns the longest of the times that devices spent, in seconds.
func longestShare(shares []pipert.Shares) float64 {
	longest := 0.0
	for _, s := range shares {
		longest = max(longest, s.Busy.Seconds(), s.Wait.Seconds(), s.Overhead.Seconds())
	}
	return longest
}

// operationTable prints what the operations of each stage took.
func (r *outcome) operationTable(w io.Writer) {
	rows := r.operations()
	longest := 0.0
	for i := range rows {
		longest = max(longest, rows[i].measured.P90)
	}
	unit := scaleOf(longest)
	stage, kind, count := column{name: "stage", left: true}, column{name: "operation", left: true}, column{name: "samples"}
	measured, low, high := unit.column("median"), unit.column("p10"), unit.column("p90")
	predicted, off := unit.column("predicted"), column{name: "error"}
	for _, o := range rows[:min(len(rows), mostRows)] {
		name := "-"
		if o.stage >= 0 {
			name = strconv.Itoa(o.stage)
		}
		stage.add(name)
		kind.add(o.kind)
		count.add(strconv.Itoa(o.measured.N))
		measured.add(unit.text(o.measured.Median))
		low.add(unit.text(o.measured.P10))
		high.add(unit.text(o.measured.P90))
		predicted.add(unit.text(o.predicted))
		off.add(signed(pipert.PredictionError(o.predicted, o.measured.Median)))
	}
	columns := []column{stage, kind, count, measured, low, high}
	if !r.functional() {
		columns = append(columns, predicted, off)
	}
	printTable(w, columns...)
	if more := len(rows) - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more row"))
	}
}

// networkText describes a network in a line.
func networkText(b *network.Blueprint) string {
	net, err := b.Network()
	if err != nil {
		return b.Kind
	}
	sum, err := network.Summarize(net)
	if err != nil {
		return b.Kind
	}
	return fmt.Sprintf("%s, %s, %s parameters, micro-batches of %s", b.Kind, model.Plural(sum.Layers, "layer"),
		figure(float64(sum.Parameters)), model.Plural(sum.Samples, "sample"))
}
