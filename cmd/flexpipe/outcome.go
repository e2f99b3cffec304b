package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/model/view"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// outcome is what an execution was like.
type outcome struct {
	*execution
	run         *pipert.Run
	prediction  *pipert.Prediction
	interrupted bool
}

// predicted returns the predicted seconds of an iteration, and the error relative to what
// was measured.
func (r *outcome) predicted() (seconds, deviation float64) {
	seconds = r.prediction.Seconds()
	return seconds, pipert.PredictionError(seconds, r.run.Makespans().Median)
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

// typical returns the record whose iteration took the median time, or the one above.
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

func (r *outcome) writeTrace(w io.Writer) error {
	return view.Trace(w, []view.TraceLane{r.predictedLane(), r.measuredLane()}, view.TraceOptions{Provenance: r.label()})
}

// label says what the times are those of.
func (r *outcome) label() string {
	cores := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	text := r.backend.Name()
	if labelled, ok := r.backend.(interface{ Label() string }); ok {
		text = labelled.Label()
	}
	actors := r.problem.NumDevices()
	switch {
	case r.functional():
		return fmt.Sprintf("%s, functional: %s share %s, so times say nothing about speed", text,
			model.Plural(actors, "actor"), model.Plural(cores, "core"))
	case r.perTick == 0:
		return fmt.Sprintf("%s, %s on %s", text, model.Plural(actors, "actor"), model.Plural(cores, "core"))
	}
	return text
}

// summary returns the figures for people.
func (r *outcome) summary() [][2]string {
	list := [][2]string{{"backend", r.label()}}
	if r.blueprint != nil && r.trains() {
		list = append(list, [2]string{"network", networkText(r.blueprint)})
	}
	q := r.run.Makespans()
	count := model.Plural(q.N, "iteration")
	if r.interrupted {
		count += ", then interrupted"
	}
	list = append(list, [2]string{"measured", fmt.Sprintf("%s (p10 %s, p90 %s) over %s", seconds(q.Median), seconds(q.P10), seconds(q.P90), count)})
	predicted, deviation := r.predicted()
	text := fmt.Sprintf("%s, %s%s", seconds(predicted), signed(deviation), r.basis())
	if r.functional() {
		text = seconds(predicted) + " on devices of their own, not to be compared"
	}
	list = append(list, [2]string{"predicted", text})
	if samples, tokens, ok := r.throughput(); ok {
		list = append(list,
			[2]string{"step", seconds(r.run.StepSeconds().Median) + " with data and optimizer"},
			[2]string{"throughput", fmt.Sprintf("%s samples/s, %s tokens/s", figure(samples), figure(tokens))})
	}
	if r.trains() {
		losses := r.run.Losses
		list = append(list, [2]string{"loss", fmt.Sprintf("%.4f in the first iteration, %.4f in the last of %d", losses[0], losses[len(losses)-1], len(losses))})
	}
	if text := r.memoryText(); text != "" {
		list = append(list, [2]string{"memory", text})
	}
	if text := r.noise(); text != "" {
		list = append(list, [2]string{"machine", text})
	}
	return list
}

// basis says what the prediction rests on.
func (r *outcome) basis() string {
	if r.perTick > 0 {
		return ", by the plan's own costs"
	}
	return ", by costs measured on this machine"
}

// preempted returns the share of operations during which the machine did something else, -1
// where that is not known: devices that only wait give their core away.
func (r *outcome) preempted() float64 {
	if r.perTick > 0 {
		return -1
	}
	return pipert.PreemptedShare(r.run.Records)
}

// noise says how often the machine was busy with something else; "" if not known.
func (r *outcome) noise() string {
	share := r.preempted()
	if share < 0 {
		return ""
	}
	text := fmt.Sprintf("%.1f %% of the operations were interrupted by other work", 100*share)
	if share > 0.05 {
		text += ": a noisy machine, be careful with these times"
	}
	return text
}

// memoryText compares the peaks with the prediction; "" if nothing was counted.
func (r *outcome) memoryText() string {
	if r.run.Memory == nil {
		return ""
	}
	var off []string
	var live int64
	for d, m := range r.run.Memory {
		if want := r.predictedPeak(d); m.Peak != want {
			off = append(off, fmt.Sprintf("%s %s, predicted %s", r.problem.DeviceName(d), bytesText(m.Peak), bytesText(want)))
		}
		live += m.Live
	}
	text := "peaks to the byte as predicted"
	if off != nil {
		text = "peaks not as predicted: " + strings.Join(off, "; ")
	}
	if live != 0 {
		return text + fmt.Sprintf("; %s left after the iteration, which is a fault", bytesText(live))
	}
	return text + ", nothing left after the iteration"
}

// predictedPeak returns the bytes that a device should hold at most.
func (r *outcome) predictedPeak(d int) int64 { return int64(r.prediction.Metrics.Devices[d].Peak) }

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

// seconds writes a measured time.
func seconds(t float64) string {
	return rounded(time.Duration(t * float64(time.Second))).String()
}

// signed writes a relative deviation.
func signed(share float64) string {
	if math.Abs(share) < 0.0005 {
		return "0.0 %"
	}
	return fmt.Sprintf("%+.1f %%", 100*share)
}

// figure writes a number with three digits or so.
func figure(x float64) string {
	switch {
	case x >= 1e9:
		return fmt.Sprintf("%.3gG", x/1e9)
	case x >= 1e6:
		return fmt.Sprintf("%.3gM", x/1e6)
	case x >= 1e4:
		return fmt.Sprintf("%.3gk", x/1e3)
	}
	return fmt.Sprintf("%.4g", x)
}

// bytesText writes an amount of memory.
func bytesText(n int64) string { return model.Unit{Name: "B"}.Size(n) }
