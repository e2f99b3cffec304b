package runtime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/model"
)

// Cause says why a run ended early.
type Cause uint8

// The causes.
const (
	Failed     Cause = iota // a device returned an error
	Panicked                // a device panicked, or left its goroutine
	Deadlocked              // every device waits or has finished, and nothing is under way
	Lost                    // the same, and what one of them waits for had been sent
	Duplicate               // a message was sent twice
	Stalled                 // no operation started or ended for [Options.Stall]
	Cancelled               // the context of the run ended
)

var causeNames = [...]string{
	"operation failed", "panic", "deadlock", "lost message", "duplicate message", "stalled", "cancelled",
}

func (c Cause) String() string { return causeNames[c] }

// Activity is what a device is about.
type Activity uint8

// The activities.
const (
	Working  Activity = iota // carries messages, counts memory
	Running                  // runs an operation
	Waits                    // waits for a message or for the other devices of a gang
	Finished                 // has run its last instruction
)

// Waiting is a row of the waits-for table: where a device was when a run ended.
type Waiting struct {
	Device, Step int // Step counts the instructions of the device's program from 0
	Activity     Activity
	Op           string        // the operation that the instruction belongs to; "" after the last one
	Since        time.Duration // how long it had been running or waiting
	For          string        // the operation whose end, or start if it is Op, it waits for; "" if none
	Of           []int         // the devices that it waits for, ascending
	SentAt       int           // step at which Of[0] had sent the awaited message; -1 if it had not
	Taken        bool          // the device had received that message before
}

// Fault reports how a run ended before its last instruction. It is an error of the plan, of
// the device or of the engine; [errors.Is] sees Err and what it wraps.
type Fault struct {
	Cause        Cause
	Device, Step int    // where it was noticed; -1 if everywhere
	Op           string // the operation there, "" if none
	Err          error  // of a device, or of the context; nil if none
	Stack        []byte // of a panic

	// Waiting has a row for each device after Deadlocked, Lost and Stalled. Cycle lists
	// devices each of which waits for the next, the last for the first; nil if there are none.
	Waiting []Waiting
	Cycle   []int

	// Left has a row for each device that was still in an operation, or in a message, when the
	// engine gave up waiting for it: what does not look at its context cannot be ended.
	Left []Waiting

	problem *model.Problem
	doing   string        // what failed, in words
	stall   time.Duration // of a Stalled run
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// Error says on the first line what happened and where, and after that, one line for each,
// what the devices waited for.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.headline())
	for i := range f.Waiting {
		b.WriteString("\n  " + f.row(&f.Waiting[i]))
	}
	if f.Cycle != nil {
		names := make([]string, 0, len(f.Cycle)+1)
		for _, d := range append(slices.Clone(f.Cycle), f.Cycle[0]) {
			names = append(names, f.problem.DeviceName(d))
		}
		b.WriteString("\n  cycle: " + strings.Join(names, ", "))
	}
	for i := range f.Left {
		w, name := &f.Left[i], f.problem.DeviceName(f.Left[i].Device)
		if w.Activity == Running {
			fmt.Fprintf(&b, "\n  %s does not end %s, which has run for %v: it must look at its context", name, w.Op, rounded(w.Since))
		} else {
			fmt.Fprintf(&b, "\n  %s does not get through with messages of %s at step %d", name, w.Op, w.Step)
		}
	}
	return b.String()
}

// headline is the first line of the text.
func (f *Fault) headline() string {
	switch f.Cause {
	case Failed, Panicked, Duplicate:
		text := fmt.Sprintf("%v: %s at step %d, %s", f.Cause, f.problem.DeviceName(f.Device), f.Step, f.doing)
		if f.Err != nil {
			text += ": " + f.Err.Error()
		}
		return text
	case Deadlocked:
		return "deadlock: no device can go on"
	case Lost:
		w := &f.Waiting[f.Device]
		return fmt.Sprintf("lost message: %s at step %d waits for %s, sent by %s at step %d, never arrived",
			f.problem.DeviceName(w.Device), w.Step, w.For, f.problem.DeviceName(w.Of[0]), w.SentAt)
	case Stalled:
		return fmt.Sprintf("stalled: no operation started or ended for %v", rounded(f.stall))
	default:
		return "cancelled: " + f.Err.Error()
	}
}

// row words a row of the waits-for table.
func (f *Fault) row(w *Waiting) string {
	name := f.problem.DeviceName(w.Device)
	switch w.Activity {
	case Finished:
		return name + " has finished"
	case Running:
		return fmt.Sprintf("%s at step %d runs %s for %v", name, w.Step, w.Op, rounded(w.Since))
	case Working:
		return fmt.Sprintf("%s at step %d is about %s", name, w.Step, w.Op)
	}
	text := fmt.Sprintf("%s at step %d, %s, waits for ", name, w.Step, w.Op)
	switch {
	case w.Taken:
		return text + fmt.Sprintf("%s of %s, which it has received before", w.For, f.problem.DeviceName(w.Of[0]))
	case w.SentAt >= 0:
		return text + fmt.Sprintf("%s, which %s sent at step %d", w.For, f.problem.DeviceName(w.Of[0]), w.SentAt)
	case w.For != w.Op:
		text += w.For + " of "
	}
	parts := make([]string, len(w.Of))
	for i, d := range w.Of {
		parts[i] = f.position(d)
	}
	return text + strings.Join(parts, " and ")
}

// position says where an awaited device is.
func (f *Fault) position(d int) string {
	w, name := &f.Waiting[d], f.problem.DeviceName(d)
	switch w.Activity {
	case Finished:
		return name + ", which has finished"
	case Running:
		return fmt.Sprintf("%s, which runs %s at step %d", name, w.Op, w.Step)
	}
	return fmt.Sprintf("%s, which is at step %d, %s", name, w.Step, w.Op)
}

// rounded keeps three digits of a duration.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// cycle finds devices that wait for each other in a circle, from the lowest device that leads
// to one. Devices that wait for several are followed in ascending order. Cost O(table).
func cycle(table []Waiting) []int {
	const done = -1
	var path []int
	depth := make([]int, len(table)) // by device: 1 + its place on the path, 0 unseen, or done
	var visit func(d int) []int
	visit = func(d int) []int {
		switch {
		case depth[d] == done:
			return nil
		case depth[d] > 0:
			return slices.Clone(path[depth[d]-1:])
		}
		path = append(path, d)
		depth[d] = len(path)
		for _, next := range table[d].Of {
			if c := visit(next); c != nil {
				return c
			}
		}
		path, depth[d] = path[:len(path)-1], done
		return nil
	}
	for d := range table {
		if c := visit(d); c != nil {
			return c
		}
	}
	return nil
}
