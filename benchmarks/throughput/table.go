package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	pipert "github.com/flexpipe/flexpipe/runtime"
)

// print prints a trial: a row for each plan, compared with base.
func (t *trial) print(w io.Writer, base string) error {
	header := table.Row{"plan", "measured", "p10", "p90", "predicted", "error", base + " / it", "p10", "p90", "predicted"}
	trains := t.costs != nil
	if trains {
		header = append(header, "tokens/s", "peak MiB", "preempted")
	}
	rows := []table.Row{}
	for _, o := range t.rows {
		q := o.run.Makespans()
		ratio, want := ratios(t.row(base), o)
		row := table.Row{
			o.name, length(q.Median), length(q.P10), length(q.P90), length(o.prediction.Seconds()), signed(o.error()),
			fmt.Sprintf("%.3f", ratio.Median), fmt.Sprintf("%.3f", ratio.P10), fmt.Sprintf("%.3f", ratio.P90), fmt.Sprintf("%.3f", want),
		}
		if trains {
			tokens, err := o.tokens()
			if err != nil {
				return err
			}
			row = append(row, fmt.Sprintf("%.0f", tokens), fmt.Sprintf("%.1f", float64(o.peak())/(1<<20)), o.preempted())
		}
		rows = append(rows, row)
	}
	render(w, header, rows)
	return nil
}

// printFidelity prints how far predictions can be trusted, and what they miss.
func (t *trial) printFidelity(w io.Writer) {
	f := t.fidelity()
	fmt.Fprintf(w, "fidelity: median error %.1f %%, largest %.1f %%, Kendall's tau %.2f, regret of the predicted best %.1f %%\n",
		100*f.Median, 100*f.Worst, f.Tau, 100*f.Regret)
	var kinds []string
	for _, e := range t.kindErrors() {
		kinds = append(kinds, fmt.Sprintf("%s %s", e.kind, signed(e.bias)))
	}
	fmt.Fprintf(w, "operations: %s\n", strings.Join(kinds, ", "))
}

// printMemory says whether devices held what was predicted.
func (t *trial) printMemory(w io.Writer) {
	same := true
	for _, o := range t.rows {
		for _, m := range o.prediction.MemoryDeviations(o.run.Memory) {
			same = false
			fmt.Fprintf(w, "memory: %s: device %d held %d B, predicted %d B; %d B left\n", o.name, m.Device, m.Measured, m.Predicted, m.Live)
		}
	}
	if same {
		fmt.Fprintln(w, "memory: all peaks as predicted to the byte, nothing left after an iteration")
	}
}

// report prints the trial: its table, how far predictions can be trusted and, of devices that
// compute, whether their memory was that of the prediction.
func (t *trial) report(w io.Writer, base string) error {
	if err := t.print(w, base); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t.printFidelity(w)
	if t.costs != nil {
		t.printMemory(w)
	}
	return nil
}

// peak returns the bytes of the device that held most.
func (o *outcome) peak() (most int64) {
	for _, m := range o.run.Memory {
		most = max(most, m.Peak)
	}
	return most
}

// preempted words the share of operations from which the machine took the core away.
func (o *outcome) preempted() string {
	share := pipert.PreemptedShare(o.run.Records)
	if share < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// render prints a table: the first column to the left, figures to the right.
func render(w io.Writer, header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header, style.Box.PaddingLeft, style.Box.PaddingRight = text.FormatDefault, "", "  "
	t.SetStyle(style)
	var columns []table.ColumnConfig
	for i := range header {
		align := text.AlignRight
		if i == 0 {
			align = text.AlignLeft
		}
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.Render()
}

// length writes a number of seconds with four digits or so.
func length(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
}

func signed(share float64) string { return fmt.Sprintf("%+.1f %%", 100*share) }

// cores says how many devices can compute at once.
func cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }
