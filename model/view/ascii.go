package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// Form is how a text picture draws time.
type Form uint8

// The forms.
const (
	// Fitting is Exact where that fits into the width, else Scaled.
	Fitting Form = iota
	// Exact draws every operation in its ticks, whatever the width: its name, then
	// dashes up to its end. Columns are a whole number per tick, or per greatest
	// common divisor of all times. An idle tick is a dot. Operations of length zero
	// are listed below the lane. The picture determines the timeline, which makes it
	// the golden form of plans.
	Exact
	// Scaled draws the plan into the width. A column shows the letter of the kind
	// that fills it, where operations are narrower than a column in the proportion
	// in which they fill the time.
	Scaled
)

// ASCIIOptions say how ASCII draws. The zero value is a good choice.
type ASCIIOptions struct {
	Form    Form
	Width   int        // columns of the whole picture; 0: 100
	Color   bool       // ANSI colours: blue forward, green backward, yellow weight
	Devices int        // lanes at most, the middle ones are left out; 0: 64
	Bound   model.Time // proven lower bound of the objective in ticks; 0: unknown
	Broken  bool       // the plan breaks rules: the picture says so, and shows no gap
}

// ASCII draws a plan and its timeline as text: a summary, a time axis in the
// user's unit, a lane for each device with its busy share and, if memory is
// modelled, its peak and limit, and a legend. Without Color it is ASCII but for
// names that are not. It returns an error if plan, times and problem do not fit
// each other, and those of w. Cost O(operations).
func ASCII(w io.Writer, p *model.Problem, plan *model.Plan, tl *model.Timeline, o ASCIIOptions) error {
	pic, err := newPicture(p, plan, tl)
	if err != nil {
		return err
	}
	if o.Width == 0 {
		o.Width = 100
	}
	if o.Devices == 0 {
		o.Devices = 64
	}
	t := newTextPicture(pic, o)
	if n := t.lanes.columns(); n > mostColumns {
		return fmt.Errorf("view: the exact form needs %d columns, more than %d; use the scaled form", n, mostColumns)
	}
	t.w = bufio.NewWriter(w)
	t.draw()
	return t.w.Flush()
}

// lanes draws what stands between the bars of a text picture.
type lanes interface {
	// columns is the width of all lanes.
	columns() int
	// lane appends the columns of a device.
	lane(line *styledLine, d int)
	// note returns what to print below the lane of a device, in parts.
	note(d int) []string
	// legend explains the lanes, in parts.
	legend() []string
}

type textPicture struct {
	*picture
	options ASCIIOptions
	w       *bufio.Writer
	lanes   lanes
	devices []int // to show; -1 stands for those left out
	labels  int   // width of the device names
	busyW   int   // widths of the columns at the right
	memoryW int
}

const (
	longestLabel = 16
	mostColumns  = 1 << 20
	memoryTitle  = "memory"
)

// axisTitle names what the axis counts: ticks, or time in a unit.
func (t *textPicture) axisTitle() string {
	if name := t.p.Pipeline.TimeUnit.Name; name != "" && t.p.TimeUnit().Plural() == name {
		return "time (" + name + ")"
	}
	return t.p.TimeUnit().Plural()
}

func newTextPicture(pic *picture, o ASCIIOptions) *textPicture {
	t := &textPicture{picture: pic, options: o, devices: shown(pic.p.NumDevices(), o.Devices)}
	t.labels = textColumns(t.axisTitle())
	t.busyW, t.memoryW = len("88.9%"), len(memoryTitle)
	for _, d := range t.devices {
		if d >= 0 {
			t.labels = max(t.labels, min(longestLabel, textColumns(pic.label(d))))
			t.busyW = max(t.busyW, len(pic.busy(d)))
			t.memoryW = max(t.memoryW, len(pic.peak(d)))
		}
	}
	frame := t.labels + len(" |") + len("| ") + t.busyW
	if pic.memory {
		frame += len("  ") + t.memoryW
	}
	room := max(o.Width-frame, 20)
	if o.Form != Scaled {
		exact := newExactLanes(pic.track, t.devices, o.Form == Exact, room)
		if o.Form == Exact || (exact != nil && exact.columns() <= room) {
			t.lanes = exact
			return t
		}
	}
	t.lanes = newScaledLanes(pic.track, room, o.Color)
	return t
}

// shown returns the devices to draw, -1 for a gap.
func shown(devices, most int) []int {
	var all []int
	most = max(most, 2)
	for d := range devices {
		switch {
		case devices <= most || d < (most+1)/2 || d >= devices-most/2:
			all = append(all, d)
		case d == (most+1)/2:
			all = append(all, -1)
		}
	}
	return all
}

func (t *textPicture) draw() {
	summary := append(t.figures(t.options.Bound, t.options.Broken), t.counts()...)
	if name := t.p.Pipeline.Name; name != "" {
		summary[0] = name + ": " + summary[0]
	}
	wrap(t.w, t.options.Width, "", summary, ",")
	t.axis()
	for _, d := range t.devices {
		if d < 0 {
			fmt.Fprintf(t.w, "... %d more devices ...\n", t.p.NumDevices()-len(t.devices)+1)
			continue
		}
		t.device(d)
	}
	wrap(t.w, t.options.Width, "", t.lanes.legend(), ";")
}

// axis writes the line of times above the lanes.
func (t *textPicture) axis() {
	columns := t.lanes.columns()
	line := axisLine(t.p.Pipeline.TimeUnit, t.end, columns)
	text := fmt.Sprintf("%s  %-*s  %*s", pad(t.axisTitle(), t.labels), columns, line, t.busyW, "busy")
	if t.memory {
		text += fmt.Sprintf("  %*s", t.memoryW, memoryTitle)
	}
	fmt.Fprintln(t.w, text)
}

func (t *textPicture) device(d int) {
	fmt.Fprintf(t.w, "%s |", pad(cut(t.label(d), longestLabel), t.labels))
	line := styledLine{w: t.w, color: t.options.Color}
	t.lanes.lane(&line, d)
	line.end()
	fmt.Fprintf(t.w, "| %*s", t.busyW, t.busy(d))
	if t.memory {
		fmt.Fprintf(t.w, "  %*s", t.memoryW, t.peak(d))
	}
	fmt.Fprintln(t.w)
	if note := t.lanes.note(d); note != nil {
		wrap(t.w, t.options.Width, strings.Repeat(" ", t.labels+2), note, ",")
	}
}
