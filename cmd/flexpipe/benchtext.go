package main

import (
	"fmt"
	"io"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// text prints the comparison for people.
func (b *comparison) text(w io.Writer, o *benchOptions) error {
	first := b.rows[0]
	if !o.quiet {
		fmt.Fprintln(w, b.outline())
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
		t, deviation := r.predicted()
		if !r.functional() {
			predicted.add(unit.text(t))
		}
		if r.compared() {
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
	if f, ok := b.fidelity(); ok {
		text := fmt.Sprintf("median error %.1f%%", 100*f.Median)
		if len(b.rows) > 1 {
			text += fmt.Sprintf(", Kendall's tau %.2f, regret of the predicted best %.1f%%", f.Tau, 100*f.Regret)
		}
		list = append(list, [2]string{"fidelity", text})
	}
	if noise := b.noise(); noise != "" {
		list = append(list, [2]string{"machine", noise})
	}
	return list
}

// noise says how often the machine was busy with something else, over the iterations of all rows;
// "" if not known.
func (b *comparison) noise() string {
	all := outcome{execution: b.rows[0].execution, run: &pipert.Run{}}
	for _, r := range b.rows {
		all.run.Records = append(all.run.Records, r.run.Records...)
	}
	return all.noise()
}

// outline says what all rows have in common: the numbers of stages and operations are those of a
// plan, and so are engines.
func (b *comparison) outline() string {
	p := b.rows[0].problem
	text := fmt.Sprintf("%s, %s", model.Plural(p.Pipeline.RealDevices(), "device"), model.Plural(p.MicroBatches(), "micro-batch"))
	if name := p.Pipeline.Name; name != "" {
		text = name + ": " + text
	}
	return text
}
