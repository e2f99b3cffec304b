package view

import (
	"bufio"
	"fmt"
	"io"
)

// CompareOptions say how Compare draws. The zero value is a good choice.
type CompareOptions struct {
	Width   int  // columns of the whole picture; 0: 100
	Color   bool // ANSI colours, as in ASCII
	Devices int  // devices at most, the middle ones are left out; 0: 64
}

// Compare draws lanes as text, those of each device under each other, on one time axis
// in a physical unit, in the style of ASCII's scaled form: a summary with the length of
// each lane and how far the first is from it, (first - lane) / lane, the axis, a line for
// each device and lane with its busy share, and a legend. Lanes may be of different plans
// and problems, as long as they have as many devices; devices are named as in the first.
// It returns an error if there is no lane, *LaneError for what cannot have run, and those
// of w. Cost O(operations).
func Compare(w io.Writer, lanes []TraceLane, o CompareOptions) error {
	c, err := newComparison(lanes)
	if err != nil {
		return err
	}
	if o.Width == 0 {
		o.Width = 100
	}
	if o.Devices == 0 {
		o.Devices = 64
	}
	t := newTextComparison(c, o)
	t.w = bufio.NewWriter(w)
	t.draw()
	return t.w.Flush()
}

type textComparison struct {
	*comparison
	options CompareOptions
	w       *bufio.Writer
	drawn   []*scaledLanes // by lane
	devices []int          // to show; -1 stands for those left out
	busy    [][]string     // by lane and device
	labels  int            // widths of the columns at the left
	names   int
	busyW   int
}

// longestLaneName is the width beyond which names of lanes are cut.
const longestLaneName = 12

func newTextComparison(c *comparison, o CompareOptions) *textComparison {
	t := &textComparison{comparison: c, options: o, devices: shown(len(c.tracks[0].orders), o.Devices), busyW: len("88.9%")}
	t.labels = textColumns(t.axisTitle())
	for i, tr := range c.tracks {
		t.names = max(t.names, min(longestLaneName, textColumns(c.lanes[i].Name)))
		shares, length := make([]string, len(tr.orders)), tr.length()
		for _, d := range t.devices {
			if d >= 0 {
				shares[d] = tr.busyShare(d, length)
				t.busyW = max(t.busyW, len(shares[d]))
				t.labels = max(t.labels, min(longestLabel, textColumns(c.tracks[0].label(d))))
			}
		}
		t.busy = append(t.busy, shares)
	}
	room := max(o.Width-t.labels-t.names-t.busyW-len("  |")-len("| "), 20)
	for _, tr := range c.tracks {
		t.drawn = append(t.drawn, &scaledLanes{track: tr, color: o.Color, drawer: newLaneDrawer(tr, c.end, room)})
	}
	return t
}

func (t *textComparison) axisTitle() string { return "time (" + t.unit.Name + ")" }

func (t *textComparison) draw() {
	summary := append(t.facts(), t.tracks[0].counts()...)
	if name := t.tracks[0].p.Pipeline.Name; name != "" {
		summary[0] = name + ": " + summary[0]
	}
	wrap(t.w, t.options.Width, "", summary, ",")
	columns := t.drawn[0].columns()
	fmt.Fprintf(t.w, "%s  %-*s  %*s\n", pad(t.axisTitle(), t.labels+1+t.names), columns, axisLine(t.unit, t.end, columns), t.busyW, "busy")
	for _, d := range t.devices {
		if d < 0 {
			fmt.Fprintf(t.w, "... %d more devices ...\n", len(t.tracks[0].orders)-len(t.devices)+1)
			continue
		}
		t.device(d)
	}
	var letters, looks []string
	for _, lanes := range t.drawn {
		letters, looks = union(letters, lanes.letterLegend()), union(looks, lanes.lookLegend())
	}
	wrap(t.w, t.options.Width, "", append(letters, looks...), ";")
}

// device writes the lanes of a device, the first with its label.
func (t *textComparison) device(d int) {
	label := cut(t.tracks[0].label(d), longestLabel)
	for i, lanes := range t.drawn {
		fmt.Fprintf(t.w, "%s %s |", pad(label, t.labels), pad(cut(t.lanes[i].Name, longestLaneName), t.names))
		line := styledLine{w: t.w, color: t.options.Color}
		lanes.lane(&line, d)
		line.end()
		fmt.Fprintf(t.w, "| %*s\n", t.busyW, t.busy[i][d])
		label = ""
	}
}
