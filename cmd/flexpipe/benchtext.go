package main

import (
	"fmt"
	"io"

	"github.com/flexpipe/flexpipe/model"
)

// text prints the comparison for people.
func (b *comparison) text(w io.Writer, o *benchOptions) error {
	first := b.rows[0]
	if !o.quiet {
		fmt.Fprintln(w, outline(first.problem, nil))
		list := [][2]string{{"backend", first.label()}}
		if first.trains() {
			list = append(list, [2]string{"network", networkText(first.blueprint)})
		}
		list = append(list, [2]string{"measured", b.counts(o.warmup)})
		if !first.functional() {
			list = append(list, [2]string{"predicted", first.basis})
		}
		fields(w, list...)
		fmt.Fprintln(w)
	}
	b.table(w)
	switch remarks := b.remarks(); {
	case o.quiet && first.functional():
		fmt.Fprintln(w, first.label())
	case !o.quiet && remarks != nil:
		fmt.Fprintln(w)
		fields(w, remarks...)
	}
	return nil
}

// counts says how many iterations there were.
func (b *comparison) counts(warmup int) string {
	first := b.rows[0]
	text := fmt.Sprintf("%s of each schedule in turn, after %d to warm up", model.Plural(len(first.run.Records), "iteration"), warmup)
	if first.interrupted {
		text += ", then interrupted"
	}
	return text
}

// table prints a row for each schedule.
func (b *comparison) table(w io.Writer) {
	unit := b.unit()
	name := column{name: "schedule", left: true}
	measured, low, high := unit.column("measured"), unit.column("p10"), unit.column("p90")
	predicted, off := unit.column("predicted"), column{name: "error"}
	ratio, want := column{name: reference + " / it"}, column{name: "predicted"}
	samples, tokens, peak := column{name: "samples/s"}, column{name: "tokens/s"}, column{name: "peak memory"}
	for _, r := range b.rows {
		q := r.run.Makespans()
		name.add(r.name)
		measured.add(unit.text(q.Median))
		low.add(unit.text(q.P10))
		high.add(unit.text(q.P90))
		if t, deviation := r.predicted(); !r.functional() {
			predicted.add(unit.text(t))
			off.add(signed(deviation))
		}
		if m, p, ok := b.ratios(r); ok {
			ratio.add(fmt.Sprintf("%.3f", m))
			want.add(fmt.Sprintf("%.3f", p))
		}
		if s, t, ok := r.throughput(); ok {
			samples.add(figure(s))
			tokens.add(figure(t))
		}
		if r.counted() {
			peak.add(r.bytes(r.highestPeak()))
		}
	}
	columns := []column{name}
	for _, c := range []column{measured, low, high, predicted, off, ratio, want, samples, tokens, peak} {
		if len(c.cells) == len(b.rows) {
			columns = append(columns, c)
		}
	}
	printTable(w, columns...)
}

// unit is that of the times in the table.
func (b *comparison) unit() scale {
	longest := 0.0
	for _, r := range b.rows {
		longest = max(longest, r.run.Makespans().P90)
	}
	return scaleOf(longest)
}

// remarks says how far predictions can be trusted, and the times.
func (b *comparison) remarks() (list [][2]string) {
	if !b.rows[0].functional() {
		f := b.fidelity()
		text := fmt.Sprintf("median error %.1f%%", 100*f.deviation)
		if len(b.rows) > 1 {
			text += fmt.Sprintf(", Kendall's tau %.2f, regret of the predicted best %.1f%%", f.tau, 100*f.regret)
		}
		list = append(list, [2]string{"fidelity", text})
	}
	if noise := b.rows[0].noise(); noise != "" {
		list = append(list, [2]string{"machine", noise})
	}
	return list
}
