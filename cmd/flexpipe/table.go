package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/flexpipe/flexpipe/model"
)

// mostRows is the number of devices that a table lists; JSON lists all.
const mostRows = 64

// newTable returns a table without lines. Columns named in right are aligned
// there.
func newTable(header []string, right ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(row(header))
	var columns []table.ColumnConfig
	for _, name := range right {
		columns = append(columns, table.ColumnConfig{Name: name, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = c
	}
	return r
}

// fields prints lines of a name and a value, aligned.
func fields(w io.Writer, pairs ...[2]string) {
	width := 0
	for _, f := range pairs {
		width = max(width, len(f[0]))
	}
	for _, f := range pairs {
		fmt.Fprintf(w, "%-*s  %s\n", width, f[0], f[1])
	}
}

// deviceTable prints a row for each device: time, and memory if it is modelled.
func deviceTable(w io.Writer, p *model.Problem, m *model.Metrics) {
	unit := unitName(p.Pipeline.TimeUnit)
	header := []string{"device", "stages", "busy " + unit, "idle " + unit, "idle share", "span " + unit}
	memory := modelsMemory(p)
	if memory {
		header = append(header, "peak memory", "limit")
	}
	header = append(header, "chunk switches")
	t := newTable(header, header[2:]...)
	stages := stagesByDevice(p)
	for d := range min(len(m.Devices), mostRows) {
		dm := m.Devices[d]
		cells := []string{
			deviceName(p, d), stageList(stages[d]),
			amount(p.Pipeline.TimeUnit, dm.Busy), amount(p.Pipeline.TimeUnit, m.Makespan-dm.Busy),
			percent(m.IdleRatio(d)), amount(p.Pipeline.TimeUnit, dm.Span()),
		}
		if memory {
			cells = append(cells, size(p, dm.Peak), limit(p, d))
		}
		t.AppendRow(row(append(cells, strconv.Itoa(dm.ChunkSwitches))))
	}
	fmt.Fprintln(w, t.Render())
	if more := len(m.Devices) - mostRows; more > 0 {
		fmt.Fprintf(w, "... and %s; --json lists all\n", plural(more, "more device"))
	}
}

// modelsMemory reports whether a problem says anything about memory.
func modelsMemory(p *model.Problem) bool {
	for d := range p.Limits {
		if p.Limits[d] != model.Unlimited || p.Statics[d] != 0 {
			return true
		}
	}
	for r := range p.Rows {
		if p.Rows[r].Memory != nil {
			return true
		}
	}
	return false
}

func deviceName(p *model.Problem, d int) string {
	if name := p.Pipeline.Devices[d].Name; name != "" {
		return fmt.Sprintf("%d %s", d, name)
	}
	return strconv.Itoa(d)
}

// stagesByDevice lists the stages that each device holds, ascending.
func stagesByDevice(p *model.Problem) [][]int {
	held := make([][]int, p.NumDevices())
	for s := range p.Pipeline.Stages {
		for _, r := range p.Pipeline.Stages[s].Replicas {
			for _, d := range r.Devices {
				if n := len(held[d]); n == 0 || held[d][n-1] != s {
					held[d] = append(held[d], s)
				}
			}
		}
	}
	return held
}

// stageList writes a few stages, or the ends of a long list.
func stageList(stages []int) string {
	const most = 8
	var words []string
	for i, s := range stages {
		if len(stages) > most && i >= most-2 && i < len(stages)-1 {
			if i == most-2 {
				words = append(words, "...")
			}
			continue
		}
		words = append(words, strconv.Itoa(s))
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, " ")
}
