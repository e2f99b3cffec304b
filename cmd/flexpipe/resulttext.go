package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/view"
	"github.com/flexpipe/flexpipe/solve"
)

// mostLanes is the number of devices up to which solve draws the plan unasked.
const mostLanes = 32

// text prints the result for people.
func (a *answer) text(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", outline(a.problem))
	fields(w, a.summary()...)
	if a.result.Plan == nil {
		return nil
	}
	o := &a.options
	if !o.quiet {
		fmt.Fprintln(w)
		deviceTable(w, a.problem, a.result.Metrics)
	}
	if o.gantt || (!o.quiet && a.problem.NumDevices() <= mostLanes) {
		fmt.Fprintln(w)
		return view.ASCII(w, a.problem, a.result.Plan, a.result.Timeline, view.ASCIIOptions{Color: o.color, Bound: a.result.Bound})
	}
	return nil
}

// outline says in one line what a problem is about.
func outline(p *model.Problem) string {
	pl := p.Pipeline
	name := pl.Name
	if name != "" {
		name += ": "
	}
	return fmt.Sprintf("%s%s, %s, %s, %s", name, plural(p.NumDevices(), "device"),
		plural(len(pl.Stages), "stage"), plural(p.MicroBatches(), "micro-batch"), plural(p.NumOps(), "operation"))
}

// summary returns the figures of the result.
func (a *answer) summary() [][2]string {
	r, p := a.result, a.problem
	list := [][2]string{{"status", a.status()}}
	if r.Status == solve.Infeasible {
		return append(list, [2]string{"because", r.Reason})
	}
	if r.Plan != nil {
		list = append(list, a.figures()...)
	}
	list = append(list, [2]string{"bound", duration(p, r.Bound) + a.gap()})
	if s := a.options.schedule; s != nil {
		list = append(list, [2]string{"", fmt.Sprintf("of any plan with backward: %s, which the schedule asks for", s.Backward)})
	}
	if r.BoundReason != "" {
		list = append(list, [2]string{"", r.BoundReason})
	}
	if r.Plan != nil {
		list = append(list, bubble(p, r.Metrics), bottleneck(p, r.Metrics), [2]string{"found by", a.origin()})
	}
	return list
}

func (a *answer) status() string {
	r, on := a.result, a.options.color
	switch r.Status {
	case solve.Optimal:
		return paint(on, green, "optimal") + " (proved: the bound is met)"
	case solve.Infeasible:
		return paint(on, red, "infeasible") + " (proved)"
	}
	text := paint(on, yellow, r.Status.String())
	if r.Status == solve.Feasible {
		text += " (not proved best)"
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// figures returns both objectives, the one to minimise first.
func (a *answer) figures() [][2]string {
	p, m := a.problem, a.result.Metrics
	makespan := [2]string{"makespan", duration(p, m.Makespan)}
	span := [2]string{"span", duration(p, m.Span)}
	list := [][2]string{makespan, span}
	if p.Pipeline.Objective == model.Span {
		slices.Reverse(list)
	}
	list[0][1] += " (the objective)"
	return list
}

func (a *answer) gap() string {
	if a.result.Plan == nil {
		return ""
	}
	return ", gap " + percent(a.result.Gap())
}

func bubble(p *model.Problem, m *model.Metrics) [2]string {
	o := p.Pipeline.Objective
	return [2]string{"bubble", fmt.Sprintf("%s of the %s, %s over the ideal %s",
		percent(m.BubbleRatio(o)), o, percent(m.BubbleOverIdeal(o)), duration(p, m.Ideal))}
}

// bottleneck names the busiest devices.
func bottleneck(p *model.Problem, m *model.Metrics) [2]string {
	first, alike := -1, 0
	for d, dm := range m.Devices {
		if dm.Busy == m.Ideal {
			if alike++; first < 0 {
				first = d
			}
		}
	}
	text := p.DeviceName(first)
	switch {
	case alike == len(m.Devices) && alike > 1:
		text = "none, all devices are"
	case alike > 1:
		text += fmt.Sprintf(" and %s are", plural(alike-1, "other"))
	default:
		text += " is"
	}
	return [2]string{"bottleneck", text + " busy for " + duration(p, m.Ideal)}
}

// origin says what found the plan, and how fast.
func (a *answer) origin() string {
	o, r := &a.options, a.result
	took := rounded(a.wall)
	if o.schedule != nil {
		return fmt.Sprintf("schedule %s (%s), in %v", o.schedule.Name, o.schedule.Title, took)
	}
	text := r.Engine
	if r.Rule != "" {
		text = "heuristic " + r.Rule
	}
	return fmt.Sprintf("%s, in %v (seed %d)", text, took, o.seed)
}

// rounded leaves three digits or so of a measured time.
func rounded(t time.Duration) time.Duration {
	step := time.Microsecond
	for t >= 1000*step {
		step *= 10
	}
	return t.Round(step)
}
