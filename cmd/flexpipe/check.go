package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

func (p *program) checkCommand() *cli.Command {
	proofFlag := &cli.StringFlag{Name: "proof", TakesFile: true, Usage: "verify the search proof in this `FILE`, and take its bound"}
	return &cli.Command{
		Name:      "check",
		Usage:     "judge a plan: rules, memory, deadlock under the channel models",
		ArgsUsage: "PLAN",
		Flags:     append([]cli.Flag{proofFlag}, commonFlags("write the verdict to this `FILE`", reports)...),
		Action:    p.check,
	}
}

func (p *program) check(c *cli.Context) error {
	name, err := argument(c, "plan")
	if err != nil {
		return err
	}
	proofName, err := fileOf(c, "proof")
	if err != nil {
		return err
	}
	if name == standard && proofName == standard {
		return errors.New("the plan and --proof - both want standard input; name a file for one of them")
	}
	file, err := p.loadPlan(name)
	if err != nil {
		return err
	}
	v := judge(file)
	v.runPrograms()
	if proofName != "" {
		if err := p.verify(c.Context, v, proofName); err != nil {
			return err
		}
	}
	v.compareBound()
	err = p.output(c.String("output"), func(w io.Writer) error {
		if c.Bool("json") {
			return writeJSON(w, v.json())
		}
		v.text(w, c.Bool("quiet"), p.color(c, toStandard(c)))
		return nil
	})
	if err == nil && !v.ok() {
		err = exitWith(exitRule)
	}
	return err
}

// text prints the verdict for people.
func (v *verdict) text(w io.Writer, quiet, color bool) {
	p := v.file.Problem
	if !quiet {
		fmt.Fprintln(w, outline(p, v.timeline))
		if list := v.summary(); list != nil {
			fields(w, list...)
		}
		fmt.Fprintln(w)
		v.table(w, color)
		if v.metrics != nil {
			fmt.Fprintln(w)
			deviceTable(w, p, v.metrics)
		}
		fmt.Fprintln(w)
	}
	for _, b := range v.breaches() {
		fmt.Fprintf(w, "%s: %s\n", paint(color, red, b.Rule), b.Message)
	}
	if more := v.total() - len(v.breaches()); more > 0 {
		fmt.Fprintf(w, "and %s\n", model.Plural(more, "more violation"))
	}
	if !quiet {
		v.warn(w, color)
	}
	if v.ok() {
		fmt.Fprintf(w, "%s: the plan keeps every rule\n", paint(color, green, "pass"))
	} else {
		fmt.Fprintf(w, "%s: %s\n", paint(color, red, "fail"), model.Plural(v.total(), "violation"))
	}
	if v.proof != nil {
		fmt.Fprintf(w, "proof: %s\n", v.proofText())
	}
}

// warn prints what the plan may well do, but not everybody can run.
func (v *verdict) warn(w io.Writer, color bool) {
	const word = "warning"
	indent := strings.Repeat(" ", len(word)+2)
	for _, b := range v.channelBreaches(false) {
		for i, line := range wrapped(b.Rule+": "+b.Message, lineWidth-len(indent)) {
			if i == 0 {
				fmt.Fprintf(w, "%s: %s\n", paint(color, yellow, word), line)
			} else {
				fmt.Fprintf(w, "%s%s\n", indent, line)
			}
		}
	}
}

// summary returns the figures of the plan, nil if it has no timeline.
func (v *verdict) summary() [][2]string {
	p, m := v.file.Problem, v.metrics
	if m == nil {
		return nil
	}
	o := p.Pipeline.Objective
	quality := gap(m.Value(o), v.bound.Value)
	switch {
	case v.brokenRules():
		quality = "of plans that keep the rules"
	case m.Value(o) == v.bound.Value:
		quality = "met: no plan is better"
	}
	return [][2]string{
		{"makespan", p.FormatTime(m.Makespan)},
		{"span", p.FormatTime(m.Span)},
		{"objective", o.String()},
		{"bound", p.FormatTime(v.bound.Value) + ", " + quality},
		{"", v.bound.Reason + v.hint()},
		bubble(p, m),
		bottleneck(p, m),
	}
}

// hint says where more may be proved than check can prove by itself.
func (v *verdict) hint() string {
	m := v.metrics
	searched := slices.Contains(engineNames(), v.file.Provenance.Engine)
	if v.proof != nil || !searched || v.brokenRules() || v.bound.Value == m.Value(v.file.Problem.Pipeline.Objective) {
		return ""
	}
	return "; a search may have proved more, which --proof FILE verifies"
}

// table prints a line for each rule.
func (v *verdict) table(w io.Writer, color bool) {
	rule, verdict := column{name: "rule", left: true}, column{name: "verdict", left: true}
	for _, r := range v.rules() {
		word := paint(color, green, "pass")
		switch {
		case !r.Tested:
			word = "not tested"
		case r.Violations > 0:
			word = paint(color, red, model.Plural(r.Violations, "violation"))
		case r.Warnings > 0:
			word = paint(color, yellow, model.Plural(r.Warnings, "warning"))
		}
		rule.add(r.Rule)
		verdict.add(word)
	}
	printTable(w, rule, verdict)
}

// verdictJSON is the verdict of check, version 1.
type verdictJSON struct {
	Format     string       `json:"format"`
	Version    int          `json:"version"`
	OK         bool         `json:"ok"`
	Unit       string       `json:"unit"`
	Objective  string       `json:"objective"`
	Figures    *figuresJSON `json:"figures"` // null: the orders have no timeline
	Rules      []ruleResult `json:"rules"`
	Violations []breach     `json:"violations"` // the first ones of each rule
	Warnings   []breach     `json:"warnings"`   // they do not fail the plan
	Devices    []deviceJSON `json:"devices"`
	Proof      *proofJSON   `json:"proof,omitempty"` // absent: no --proof
}

type figuresJSON struct {
	Makespan any `json:"makespan"`
	Span     any `json:"span"`
	Ideal    any `json:"ideal"`
	Bound    any `json:"bound"`
}

func (v *verdict) json() verdictJSON {
	pl := v.file.Problem.Pipeline
	j := verdictJSON{
		Format: "flexpipe/check", Version: 1, OK: v.ok(),
		Unit: v.file.Problem.TimeUnit().Name, Objective: pl.Objective.String(),
		Rules: v.rules(), Violations: v.breaches(), Warnings: v.channelBreaches(false), Devices: []deviceJSON{}, Proof: v.proofJSON(),
	}
	if m := v.metrics; m != nil {
		u := pl.TimeUnit
		j.Figures = &figuresJSON{number(u, m.Makespan), number(u, m.Span), number(u, m.Ideal), number(u, v.bound.Value)}
		j.Devices = devicesJSON(v.file.Problem, m)
	}
	return j
}

// opNames writes the operations of a violation.
func opNames(p *model.Problem, v *constraints.Violation) []string {
	names := make([]string, len(v.Ops))
	for i, op := range v.Ops {
		names[i] = p.Name(op)
	}
	return names
}
