package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// What the FlexPipe paper measured at most (arXiv:2510.05112, abstract): over
// Megatron-LM, and over the best automated framework of its comparison.
const (
	paperMegatron  = 2.28
	paperAutomated = 1.49
)

// printReports prints the tables of all instances, and what they rest on.
func printReports(w io.Writer, list []*report) {
	for _, r := range list {
		fmt.Fprintf(w, "%s: %s\n", r.Instance, r.What)
		fmt.Fprintf(w, "%d micro-batches; load in layers, of which one takes %.2f ms for a micro-batch\n\n", r.Main, 1000*r.Layer)
		r.printPlanners(w)
		fmt.Fprintln(w)
		r.printCounts(w)
		fmt.Fprintln(w)
		r.printSummary(w)
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, notes)
}

const notes = `time s   predicted time of an iteration; ratio: time / time of FlexPipe under the same limit
load     work of the busiest device for a micro-batch; peak: the device that holds most
no plan  proved for each of its cuts of the layers; -: none that fits was found, or it needs a chain
All times are predicted from counted operations at an assumed rate of the devices, none is measured.
The paper is arXiv:2510.05112. Its figures are the largest ratios that it measured, on networks and
machines of its own. They stand here for comparison; nothing here reproduces them.
`

// keys lists the rows in their order.
func (r *report) keys() []string {
	var list []string
	for i := range r.Cells {
		if !slices.Contains(list, r.Cells[i].Row) {
			list = append(list, r.Cells[i].Row)
		}
	}
	return list
}

// printPlanners prints the planners in the main setting, under each limit.
func (r *report) printPlanners(w io.Writer) {
	header := table.Row{"planner", "time s", "ratio", "load", "peak GiB"}
	for _, m := range []memory{equal, configured} {
		limit := ""
		if c := r.at(ours, r.Main, m); c != nil {
			limit = c.Limit
		}
		header = append(header, limit, "ratio")
	}
	t := newTable(w, header)
	for _, key := range r.keys() {
		c := r.at(key, r.Main, unlimited)
		if c == nil {
			continue
		}
		line := table.Row{c.Title, c.time(), c.ratio(), c.load(), c.peak()}
		for _, m := range []memory{equal, configured} {
			limited := r.at(key, r.Main, m)
			line = append(line, limited.time(), limited.ratio())
		}
		t.AppendRow(line)
	}
	t.Render()
}

// Rows of the second table, with the columns that stand for them.
var compared = []struct{ key, title string }{
	{megatronEven, "1F1B equal"},
	{interleavedEven, "interleaved equal"},
	{wholeLayers, "whole layers"},
	{tessel, "Tessel"},
}

// printCounts prints how times and ratios depend on the number of micro-batches.
func (r *report) printCounts(w io.Writer) {
	header := table.Row{"micro-batches", "FlexPipe s", "gap"}
	for _, c := range compared {
		header = append(header, c.title)
	}
	t := newTable(w, header)
	for _, count := range r.counts() {
		mine := r.at(ours, count, unlimited)
		line := table.Row{count, mine.time(), mine.gap()}
		for _, c := range compared {
			line = append(line, r.at(c.key, count, unlimited).ratio())
		}
		t.AppendRow(line)
	}
	t.Render()
}

// counts lists the numbers of micro-batches in ascending order.
func (r *report) counts() []int {
	var list []int
	for i := range r.Cells {
		list = append(list, r.Cells[i].MicroBatches)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// printSummary says how far ahead FlexPipe is, and what the loads alone allow.
func (r *report) printSummary(w io.Writer) {
	for _, line := range []struct {
		key, over string
		paper     float64
	}{
		{megatronEven, "1F1B with equal layers, the default of Megatron-LM", paperMegatron},
		{wholeLayers, "the best planner here that balances whole layers", paperAutomated},
	} {
		theirs, mine := r.at(line.key, r.Main, unlimited), r.at(ours, r.Main, unlimited)
		if theirs.Seconds == 0 || mine.Seconds == 0 {
			continue
		}
		fmt.Fprintf(w, "%.2f times as fast as %s\n  by load alone %.1f / %.1f = %.2f; the paper has up to %.2f\n",
			theirs.Ratio, line.over, theirs.Load, mine.Load, theirs.Load/mine.Load, line.paper)
	}
}

// newTable returns a table without lines, of numbers behind a first column of text.
func newTable(w io.Writer, header table.Row) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for n := 2; n <= len(header); n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

// number formats a figure of a cell that has a plan.
func (c *cell) number(format string, n float64) string {
	if c.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

func (c *cell) time() string {
	switch {
	case c == nil:
		return ""
	case c.Seconds > 0:
		return fmt.Sprintf("%.3f", c.Seconds)
	case c.Reason == nothingFits:
		return "no plan"
	}
	return "-"
}

func (c *cell) ratio() string {
	if c == nil || c.Ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", c.Ratio)
}

func (c *cell) load() string { return c.number("%.1f", c.Load) }
func (c *cell) peak() string { return c.number("%.1f", float64(c.Peak)/gibibyte) }
func (c *cell) gap() string {
	return c.number("%.1f %%", 100*(c.Seconds-c.BoundSeconds)/c.Seconds)
}
