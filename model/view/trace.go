package view

import (
	"bufio"
	"io"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// TraceOptions say what a trace tells beside its lanes.
type TraceOptions struct {
	// Provenance says in words where the times are from; "" says nothing.
	Provenance string
}

// Trace writes lanes in the JSON form of the Trace Event Format (Google, "Trace Event
// Format", 2016), which chrome://tracing and ui.perfetto.dev open. Each lane is a
// process, and each device a thread of it, in order. An operation is a complete event
// on each of its devices, with its stage, micro-batch, kind and duration. Lanes after
// the first that are of the same *model.Problem also say how each operation differs
// from the first lane, so the prediction comes first. Arrows are the precedences
// between operations that share no device. Counters show the memory of each device,
// static and live, by the memory model of the problem.
//
// Times are microseconds with three decimals, exact to the nanosecond; a fourth one, where
// there is one, is for viewers that round down. An arrow leaves
// in the last nanosecond of its producer, because viewers bind its ends to the event
// that covers their times; where the producer has no such nanosecond before the consumer
// starts, the arrow is left out, and the metadata count it.
//
// The same lanes give the same bytes. It holds one event at a time. Cost O(operations +
// precedences). Errors are *LaneError, before anything is written, and those of w.
func Trace(w io.Writer, lanes []TraceLane, o TraceOptions) error {
	tracks := make([]*track, len(lanes))
	for i := range lanes {
		var err error
		if tracks[i], err = lanes[i].track(); err != nil {
			return err
		}
	}
	t := &tracer{w: bufio.NewWriterSize(w, 1<<16)}
	t.begin()
	for i, tr := range tracks {
		l := newLaneTracer(t, i, &lanes[i], tr)
		if i > 0 && lanes[i].Problem == lanes[0].Problem {
			l.predicted = &lanes[0]
		}
		if err := l.write(); err != nil {
			return err
		}
	}
	t.end(metadata(lanes, t.lost, o))
	return t.w.Flush()
}

// metadata lists what a reader should know of a trace.
func metadata(lanes []TraceLane, lost []int, o TraceOptions) []note {
	notes := []note{{"times", "ts and dur in microseconds, exact to the nanosecond"}}
	for i, l := range lanes {
		if name := l.Problem.Pipeline.Name; name != "" && i == 0 {
			notes = append(notes, note{"title", name})
		}
		if lost[i] > 0 {
			notes = append(notes, note{"arrows left out of " + l.Name, model.Plural(lost[i], "precedence") +
				" whose producer has no length, or ends after its consumer starts"})
		}
	}
	if slices.ContainsFunc(lanes, func(l TraceLane) bool { return l.Problem.ModelsMemory() }) {
		notes = append(notes, note{"memory", "static and live memory by the memory model of the problem, not measured"})
	}
	if len(lanes) > 1 {
		notes = append(notes, note{"comparison", "predicted_us, error_percent and late_us (how much later it starts) compare with " + lanes[0].Name})
	}
	if o.Provenance != "" {
		notes = append(notes, note{"provenance", o.Provenance})
	}
	return notes
}
