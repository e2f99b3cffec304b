package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/flexpipe/flexpipe/model"
)

const (
	// lineWidth is the number of columns that text for people takes at most.
	lineWidth = 100
	// mostRows is the number of devices that a table lists; JSON lists all.
	mostRows = 64
	// longestName is the number of columns of a device's name in a table.
	longestName = 24
)

// newTable returns a table without lines.
func newTable(columns ...column) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var header table.Row
	var configs []table.ColumnConfig
	for i, c := range columns {
		header = append(header, c.name)
		align := text.AlignRight
		if c.left {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for i := range columns[0].cells {
		var row table.Row
		for _, c := range columns {
			row = append(row, c.cells[i])
		}
		t.AppendRow(row)
	}
	return t
}

// column is a column of a table, aligned at the right unless left is set.
type column struct {
	name  string
	left  bool
	cells []string
}

func (c *column) add(cell string) { c.cells = append(c.cells, cell) }

// width is the number of columns of a terminal that c takes, with the gap.
func (c *column) width() int {
	width := text.StringWidthWithoutEscSequences(c.name)
	for _, cell := range c.cells {
		width = max(width, text.StringWidthWithoutEscSequences(cell))
	}
	return width + 2
}

// printTable prints columns side by side as far as they fit on a line, and the
// others below, behind the first column again.
func printTable(w io.Writer, columns ...column) {
	for rest := columns[1:]; len(rest) > 0; {
		width, n := columns[0].width(), 0
		for n < len(rest) && (n == 0 || width+rest[n].width() <= lineWidth) {
			width += rest[n].width()
			n++
		}
		fmt.Fprintln(w, newTable(append([]column{columns[0]}, rest[:n]...)...).Render())
		if rest = rest[n:]; len(rest) > 0 {
			fmt.Fprintln(w)
		}
	}
}

// fields prints lines of a name and a value, aligned; long values take several.
func fields(w io.Writer, pairs ...[2]string) {
	width := 0
	for _, f := range pairs {
		width = max(width, len(f[0]))
	}
	indent := strings.Repeat(" ", width+2)
	for _, f := range pairs {
		for i, line := range wrapped(f[1], lineWidth-len(indent)) {
			if i == 0 {
				fmt.Fprintf(w, "%-*s  %s\n", width, f[0], line)
			} else {
				fmt.Fprintf(w, "%s%s\n", indent, line)
			}
		}
	}
}

// wrapped breaks a text at spaces into lines of a width; longer words stay whole.
func wrapped(content string, width int) []string {
	var lines []string
	for word := range strings.SplitSeq(content, " ") {
		last := len(lines) - 1
		if last >= 0 && text.StringWidthWithoutEscSequences(lines[last])+1+text.StringWidthWithoutEscSequences(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// deviceTable prints a row for each device: time, memory if it is modelled, and
// how often the chunk changes if there are several.
func deviceTable(w io.Writer, p *model.Problem, m *model.Metrics) {
	unit := p.TimeUnit()
	device, stages := column{name: "device", left: true}, column{name: "stages", left: true}
	busy, idle := column{name: "busy " + unit.Plural()}, column{name: "idle " + unit.Plural()}
	share, span := column{name: "idle share"}, column{name: "span " + unit.Plural()}
	peak, most, switches := column{name: "peak memory"}, column{name: "limit"}, column{name: "chunk switches"}
	several := false
	for d := range min(len(m.Devices), mostRows) {
		dm, held := m.Devices[d], p.StagesOn(d)
		several = several || len(held) > 1
		device.add(deviceName(p, d))
		stages.add(stagesOf(p, d, held))
		busy.add(unit.Rounded(int64(dm.Busy)))
		idle.add(unit.Rounded(int64(m.Makespan - dm.Busy)))
		share.add(percent(m.Makespan-dm.Busy, m.Makespan))
		span.add(unit.Rounded(int64(dm.Span())))
		peak.add(peakOf(p, d, &dm))
		most.add(limit(p, d))
		switches.add(strconv.Itoa(dm.ChunkSwitches))
	}
	columns := []column{device, stages, busy, idle, share, span}
	if p.ModelsMemory() {
		columns = append(columns, peak, most)
	}
	if several {
		columns = append(columns, switches)
	}
	printTable(w, columns...)
	if more := len(m.Devices) - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", model.Plural(more, "more device"))
	}
}

// stagesOf lists the stages of a device, or says that it is an engine.
func stagesOf(p *model.Problem, d int, held []int) string {
	if p.Pipeline.Devices[d].Engine {
		return "engine"
	}
	return stageList(held)
}

// peakOf writes the peak memory of a device; an engine has none.
func peakOf(p *model.Problem, d int, m *model.DeviceMetrics) string {
	if p.Pipeline.Devices[d].Engine {
		return "-"
	}
	return p.FormatMemory(m.Peak)
}

// limit writes the memory limit of a device; an engine has none.
func limit(p *model.Problem, d int) string {
	if p.Pipeline.Devices[d].Engine {
		return "-"
	}
	if p.Limits[d] == model.Unlimited {
		return "none"
	}
	return p.FormatMemory(p.Limits[d])
}

func deviceName(p *model.Problem, d int) string {
	name := p.Pipeline.Devices[d].Name
	if name == "" {
		return strconv.Itoa(d)
	}
	return fmt.Sprintf("%d %s", d, text.Snip(name, longestName, "~"))
}

// stageList writes a few stages, or the ends of a long list.
func stageList(stages []int) string {
	const most, first = 8, 6
	if len(stages) == 0 {
		return "none"
	}
	var words []string
	for _, s := range stages {
		words = append(words, strconv.Itoa(s))
	}
	if len(words) > most {
		words = slices.Replace(words, first, len(words)-1, "...")
	}
	return strings.Join(words, " ")
}
