package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/view"
	"github.com/flexpipe/flexpipe/solve"
)

// mostLanes is the number of devices up to which solve draws the plan unasked.
const mostLanes = 32

// text prints the result for people.
func (a *answer) text(w io.Writer) error {
	if a.options.quiet {
		fmt.Fprintln(w, a.essence())
	} else {
		fmt.Fprintln(w, outline(a.problem, a.result.Timeline))
		fields(w, a.summary()...)
	}
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

// essence returns the result in one line.
func (a *answer) essence() string {
	r, p := a.result, a.problem
	doubt := ""
	if r.Proof == solve.SearchProof {
		doubt = " (the search is not verified)"
	}
	if r.Status == solve.Infeasible {
		return a.verdict() + doubt + ": " + r.Reason
	}
	var parts []string
	if r.Plan != nil {
		parts = append(parts, fmt.Sprintf("%s %s", p.Pipeline.Objective, p.FormatTime(r.Value)))
	}
	text := strings.Join(append(parts, "bound "+p.FormatTime(r.Bound)+a.gap(), a.verdict()), ", ") + doubt
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// outline says in one line what a problem is about. With a timeline it counts the
// operations of the plan: where a backward may be split or fused, a problem has more.
func outline(p *model.Problem, tl *model.Timeline) string {
	pl := p.Pipeline
	name := pl.Name
	if name != "" {
		name += ": "
	}
	ops := p.NumOps()
	if tl != nil {
		ops -= countOf(tl.Start, model.Absent)
	}
	return fmt.Sprintf("%s%s, %s, %s, %s", name, pl.DeviceCounts(),
		model.Plural(len(pl.Stages), "stage"), model.Plural(p.MicroBatches(), "micro-batch"), model.Plural(ops, "operation"))
}

// countOf returns how many of the times are t.
func countOf(times []model.Time, t model.Time) (n int) {
	for _, other := range times {
		if other == t {
			n++
		}
	}
	return n
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
	list = append(list, [2]string{"bound", p.FormatTime(r.Bound) + a.gap()})
	if a.scope != "" {
		list = append(list, [2]string{"", "of " + a.scope + ", which the schedule asks for"})
	}
	if r.BoundReason != "" {
		list = append(list, [2]string{"", r.BoundReason + a.trust()})
	}
	if r.Plan != nil {
		list = append(list, bubble(p, r.Metrics), bottleneck(p, r.Metrics),
			[2]string{"found by", a.origin()}, [2]string{"found in", a.effort()})
	}
	if work := a.work(); work != "" {
		list = append(list, [2]string{"search", work})
	}
	return list
}

// trust says how far the search behind a bound is to be trusted, as the end of a
// sentence.
func (a *answer) trust() string {
	switch a.result.Proof {
	case solve.CheckedProof:
		return "; every step is verified"
	case solve.SearchProof:
		return "; this search is not verified"
	}
	return ""
}

// work says how much work an exact search was; "" if there was none.
func (a *answer) work() string {
	s := &a.result.Stats
	if s.Conflicts == 0 && s.Learned == 0 {
		return ""
	}
	text := model.Plural(int(s.Conflicts), "conflict")
	if s.Learned > 0 {
		text += ", " + model.Plural(int(s.Learned), "nogood")
	}
	return text
}

// verdict returns the status, and among which plans that is so.
func (a *answer) verdict() string {
	status, color := a.result.Status, yellow
	switch status {
	case solve.Optimal:
		color = green
	case solve.Infeasible:
		color = red
	}
	text := paint(a.options.color, color, status.String())
	if a.scope != "" && (status == solve.Optimal || status == solve.Infeasible) {
		text += " among " + a.scope
	}
	return text
}

func (a *answer) status() string {
	r, text := a.result, a.verdict()
	switch r.Status {
	case solve.Optimal, solve.Infeasible:
		return text + " (" + a.proved() + ")"
	case solve.Feasible:
		text += " (not proved best)"
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// proved says what optimality or infeasibility rests on.
func (a *answer) proved() string {
	r := a.result
	switch {
	case r.Proof == solve.CheckedProof:
		return "proved by a search, every step verified"
	case r.Proof == solve.SearchProof:
		return "by a search that is not verified"
	case r.Status == solve.Infeasible:
		return "proved"
	}
	return "proved: the bound is met"
}

// figures returns both objectives, the one to minimise first.
func (a *answer) figures() [][2]string {
	p, m := a.problem, a.result.Metrics
	makespan := [2]string{"makespan", p.FormatTime(m.Makespan)}
	span := [2]string{"span", p.FormatTime(m.Span)}
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
	return ", " + gap(a.result.Value, a.result.Bound)
}

// gap writes how far a value is from a bound.
func gap(value, bound model.Time) string { return "gap " + percent(value-bound, value) }

func percent(part, whole model.Time) string { return model.Percent(int64(part), int64(whole)) }

func bubble(p *model.Problem, m *model.Metrics) [2]string {
	o := p.Pipeline.Objective
	idle := m.Value(o) - m.Ideal
	return [2]string{"bubble", fmt.Sprintf("%s of the %s, %s over the ideal %s",
		percent(idle, m.Value(o)), o, percent(idle, m.Ideal), p.FormatTime(m.Ideal))}
}

// bottleneck names the busiest devices.
func bottleneck(p *model.Problem, m *model.Metrics) [2]string {
	const mostNamed = 3
	var names []string
	for d, dm := range m.Devices {
		if dm.Busy == m.Ideal {
			names = append(names, p.DeviceName(d))
		}
	}
	text := ""
	switch alike := len(names); {
	case alike == 1:
		text = names[0] + " is"
	case alike == len(m.Devices):
		text = "none, all devices are"
	case alike > mostNamed:
		text = fmt.Sprintf("%s and %s are", names[0], model.Plural(alike-1, "other"))
	default:
		text = joined(names, "and") + " are"
	}
	return [2]string{"bottleneck", text + " busy for " + p.FormatTime(m.Ideal)}
}

// origin says what found the plan.
func (a *answer) origin() string {
	rule := a.rule()
	switch a.result.Engine {
	case orderEngine:
		return "the order of the script"
	case pointEngine:
		return "the decoder, from the point " + rule
	}
	name, more, further := strings.Cut(rule, ", ")
	s, err := heuristics.Lookup(name) // the search tries the named schedules, too
	switch {
	case err == nil && further:
		return fmt.Sprintf("schedule %s, %s", s.Name, more)
	case err == nil:
		return strings.TrimSpace(fmt.Sprintf("schedule %s (%s) %s", s.Name, s.Title, s.Remark(a.problem)))
	case strings.HasPrefix(rule, periodWord):
		return "a steady pattern repeated, " + rule
	case rule != "":
		return "priority rules: " + rule
	case slices.Contains(engineNames(), a.result.Engine):
		return "exact search, engine " + a.result.Engine
	}
	return a.result.Engine
}

// periodWord begins the rule of a plan that repeats a pattern; its period follows.
const periodWord = "period "

// rule returns what found the plan among the heuristics, with times as users write them.
func (a *answer) rule() string {
	rule := a.result.Rule
	if period, found := strings.CutPrefix(rule, periodWord); found {
		if ticks, err := strconv.ParseInt(period, 10, 64); err == nil {
			return periodWord + a.problem.FormatTime(model.Time(ticks))
		}
	}
	return rule
}

// effort says how long it took, and where the search began.
func (a *answer) effort() string {
	text := rounded(a.wall).String()
	if a.searched() {
		text += fmt.Sprintf(" (seed %d)", a.options.seed)
	}
	return text
}

// searched reports whether the seed had a part in the result.
func (a *answer) searched() bool {
	return a.options.schedule == nil && a.result.Engine != pointEngine && a.result.Engine != orderEngine
}

// rounded leaves three digits or so of a measured time.
func rounded(t time.Duration) time.Duration {
	step := time.Microsecond
	if t < step {
		step = time.Nanosecond // what takes time is not 0
	}
	for t >= 1000*step {
		step *= 10
	}
	return t.Round(step)
}
