package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/model"
)

// baseline is the engine with which the others are compared.
const baseline = "portfolio"

// shortest is what counts as the time of a faster cell: below it the clock says
// little, and a mean of ratios would be made of noise.
const shortest = 0.01

// unbounded stands for the value where there is no plan.
const unbounded = model.Time(math.MaxInt64)

// board is a results file, ready for comparison: the last cell of each engine for
// each instance.
type board struct {
	instances []suite.Instance
	engines   []string
	cells     map[string]map[string]cell // by engine and instance
	stale     int                        // cells of instances that have changed since
}

func newBoard(cells []cell, instances []suite.Instance) *board {
	b := &board{instances: instances, cells: map[string]map[string]cell{}}
	sums := map[string]string{}
	for i := range instances {
		sums[instances[i].Name] = instances[i].Sum()
	}
	for _, c := range cells {
		if sums[c.Instance] != c.Sum {
			b.stale++
			continue
		}
		if b.cells[c.Engine] == nil {
			b.cells[c.Engine] = map[string]cell{}
		}
		b.cells[c.Engine][c.Instance] = c
	}
	b.engines = slices.Sorted(maps.Keys(b.cells))
	if i := slices.Index(b.engines, baseline); i > 0 {
		b.engines = slices.Insert(slices.Delete(b.engines, i, i+1), 0, baseline)
	}
	return b
}

// has reports whether a cell holds a plan.
func (c *cell) has() bool { return c.Status == "optimal" || c.Status == "feasible" }

func (c *cell) proved() bool { return c.Status == "optimal" }

// printTable prints the comparison of the cells in a file.
func printTable(w io.Writer, file string, instances []suite.Instance) error {
	cells, err := readCells(file)
	if err != nil {
		return err
	}
	b := newBoard(cells, instances)
	if len(b.engines) == 0 {
		return fmt.Errorf("%s has no cell for the instances of the suite", file)
	}
	fmt.Fprintf(w, "%d instances of the suite, %s\n\n", len(instances), b.conditions())
	b.printEngines(w)
	printList(w, "Contradictions, of which there must be none", b.contradictions())
	printList(w, "Faults and refusals", b.faults())
	printList(w, "Better than the best known", b.news())
	printList(w, "Not proved by any engine here", b.gaps())
	if b.stale > 0 {
		fmt.Fprintf(w, "\n%s for instances that have changed since: left out\n", model.Plural(b.stale, "cell"))
	}
	return nil
}

// conditions says under which limits the cells were measured.
func (b *board) conditions() string {
	seen := map[string]bool{}
	for _, cells := range b.cells {
		for _, c := range cells {
			seen[fmt.Sprintf("%g s and %s a cell", c.Limit, model.Plural(c.Workers, "worker"))] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), " or ")
}

func (b *board) printEngines(w io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row{"engine", "cells", "proved", "at best value", "both prove", "mean s", baseline + " s", "ratio"})
	var columns []table.ColumnConfig
	for n := 2; n <= 8; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, name := range b.engines {
		t.AppendRow(b.row(name))
	}
	t.Render()
	fmt.Fprintf(w, "mean s and %[1]s s are the geometric mean times to proof, on the instances that the engine and %[1]s both prove.\n", baseline)
}

func (b *board) row(name string) table.Row {
	proved, best := 0, 0
	for i := range b.instances {
		c := b.cells[name][b.instances[i].Name]
		if c.proved() {
			proved++
		}
		if c.has() && c.Value <= b.instances[i].BestValue {
			best++
		}
	}
	row := table.Row{name, len(b.cells[name]), proved, best}
	both, mine, theirs := b.meanTimes(name)
	if both == 0 {
		return append(row, 0, "", "", "")
	}
	return append(row, both, seconds(mine), seconds(theirs), fmt.Sprintf("%.2f", mine/theirs))
}

// meanTimes returns on how many instances an engine and the baseline both have a
// proof, and the geometric mean times of the two there.
func (b *board) meanTimes(name string) (both int, mine, theirs float64) {
	for instance, c := range b.cells[name] {
		base := b.cells[baseline][instance]
		if c.proved() && base.proved() {
			both++
			mine += math.Log(max(c.Seconds, shortest))
			theirs += math.Log(max(base.Seconds, shortest))
		}
	}
	return both, math.Exp(mine / float64(max(both, 1))), math.Exp(theirs / float64(max(both, 1)))
}

func seconds(s float64) string { return fmt.Sprintf("%.3g", s) }

// contradictions lists what cannot both be true: a value below a bound, of the
// same engine, another one, or what is known; and an infeasibility beside a plan.
func (b *board) contradictions() []string {
	var lines []string
	for i := range b.instances {
		in := &b.instances[i]
		claims := []claim{{"best known", in.BestBound, in.BestValue}}
		for _, name := range b.engines {
			c, ok := b.cells[name][in.Name]
			switch {
			case !ok || c.Status == "error":
			case c.Status == "infeasible":
				lines = append(lines, fmt.Sprintf("%s: %s says infeasible, the best known plan has %d", in.Name, name, in.BestValue))
			case c.has():
				claims = append(claims, claim{name, c.Bound, c.Value})
			default:
				claims = append(claims, claim{name, c.Bound, unbounded})
			}
		}
		lines = append(lines, conflicts(in.Name, claims)...)
	}
	return lines
}

// claim says that the optimum lies between bound and value.
type claim struct {
	by           string
	bound, value model.Time
}

func conflicts(instance string, claims []claim) []string {
	var lines []string
	for _, low := range claims {
		for _, high := range claims {
			if low.bound > high.value {
				lines = append(lines, fmt.Sprintf("%s: bound %d by %s is above value %d by %s", instance, low.bound, low.by, high.value, high.by))
			}
		}
	}
	return lines
}

func (b *board) faults() []string {
	var lines []string
	for i := range b.instances {
		for _, name := range b.engines {
			c := b.cells[name][b.instances[i].Name]
			if c.Status == "error" || c.Status == "refused" {
				lines = append(lines, fmt.Sprintf("%s: %s: %s", c.Instance, name, c.Note))
			}
		}
	}
	return lines
}

// enclosure returns the largest bound and the smallest value of all engines.
func (b *board) enclosure(instance string) (low, high model.Time) {
	high = unbounded
	for _, name := range b.engines {
		c, ok := b.cells[name][instance]
		if ok && c.Status != "error" {
			low = max(low, c.Bound)
			if c.has() {
				high = min(high, c.Value)
			}
		}
	}
	return low, high
}

func (b *board) news() []string {
	var lines []string
	for i := range b.instances {
		in := &b.instances[i]
		low, high := b.enclosure(in.Name)
		if low > in.BestBound || high < in.BestValue {
			lines = append(lines, fmt.Sprintf("%s: [%d, %d], known was [%d, %d]",
				in.Name, max(low, in.BestBound), min(high, in.BestValue), in.BestBound, in.BestValue))
		}
	}
	return lines
}

// gaps lists the instances that engines were measured on and none proved.
func (b *board) gaps() []string {
	var lines []string
	for i := range b.instances {
		in := &b.instances[i]
		line, proved := fmt.Sprintf("%-24s known %s", in.Name, span(in.BestBound, in.BestValue)), false
		measured := false
		for _, name := range b.engines {
			c, ok := b.cells[name][in.Name]
			if !ok {
				continue
			}
			measured, proved = true, proved || c.proved()
			value := c.Value
			if !c.has() {
				value = unbounded
			}
			line += fmt.Sprintf("  %s %s", name, span(c.Bound, value))
		}
		if measured && !proved {
			lines = append(lines, line)
		}
	}
	return lines
}

func span(low, high model.Time) string {
	if high == unbounded {
		return fmt.Sprintf("[%d, -]", low)
	}
	return fmt.Sprintf("[%d, %d]", low, high)
}

func printList(w io.Writer, title string, lines []string) {
	fmt.Fprintf(w, "\n%s: %d\n", title, len(lines))
	for _, l := range lines {
		fmt.Fprintln(w, "  "+l)
	}
}
