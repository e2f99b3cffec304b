package benchmarks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/proof"
)

// alterations of each kind that TestAltered verifies, spread over the file.
const alterations = 40

// TestAltered changes the proof file of a search, one line at a time, so that it
// claims more. Where the claim is false, because a plan contradicts it, the file must
// be refused; so must one with a step that is not there or not of its rule. Most other
// changes are refused, too; a file that is not must not claim more than the optimum.
func TestAltered(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a proof is verified hundreds of times")
	}
	p, err := byName(t)["V-unit-half-P4-M8"].Problem()
	if err != nil {
		t.Fatal(err)
	}
	r, file := solveToFile(t, p)
	if r.Status != solve.Optimal {
		t.Fatalf("status %v", r.Status)
	}
	a := &altered{t: t, p: p, plan: values(p, r), optimum: r.Value, lines: strings.SplitAfter(string(file), "\n")}
	a.claims()
	for _, kind := range []struct {
		name  string
		alter func(line int) []string
		must  func(line int, text string) bool
		least int // alterations that must be refused
	}{
		{"a nogood without a fact", a.withoutFact, a.contradicted, 20},
		{"a nogood with a weaker fact", a.weaker("nogood"), a.contradicted, 20},
		{"a reference to a nogood not yet told", a.reference(1 << 20), always, alterations},
		{"a reference to another nogood", a.reference(-1), never, 0},
		{"an edge that is called monotone", a.renamed("edge ", "monotone "), a.first, 5},
		{"a memory that is called order", a.renamed("memory ", "order "), always, 0},
		{"an edge with a weaker fact", a.weaker("edge"), never, 0},
		{"a memory with a weaker fact", a.weaker("memory"), never, 0},
		{"a window with a weaker fact", a.weaker("window"), never, 0},
		{"a missing step", a.missing, never, 0},
	} {
		t.Run(kind.name, func(t *testing.T) { a.try(t, kind.alter, kind.must, kind.least) })
	}
}

// altered is a proof file and what is known of its problem.
type altered struct {
	t       *testing.T
	p       *model.Problem
	plan    []model.Time // the variables of an optimal plan
	optimum model.Time
	lines   []string
}

// verify verifies the file with one line changed.
func (a *altered) verify(line int, text string) (proof.Result, error) {
	file := strings.Join(a.lines[:line], "") + text + strings.Join(a.lines[line+1:], "")
	return proof.Verify(a.t.Context(), a.p, bytes.NewReader([]byte(file)))
}

// claims tests files that end in a claim that is too high, with and without a nogood
// that says so.
func (a *altered) claims() {
	a.t.Helper()
	last := len(a.lines) - 2 // behind the last line feed is nothing
	text := a.lines[last]
	old := fmt.Sprintf("end %d ", a.optimum)
	if !strings.HasPrefix(text, old) {
		a.t.Fatalf("the last line is %q", text)
	}
	for _, claim := range []string{fmt.Sprintf("end %d ", a.optimum+1), fmt.Sprintf("end %d ", a.optimum-1), "end excluded "} {
		if _, err := a.verify(last, claim+text[len(old):]); err == nil {
			a.t.Errorf("a file that ends in %q is accepted", claim)
		}
	}
	bound := fmt.Sprintf("nogood 0<=%d\n", a.optimum-1)
	for i, text := range a.lines {
		if text != bound {
			continue
		}
		for _, claim := range []string{fmt.Sprintf("nogood 0<=%d\n", a.optimum), "nogood\n"} {
			if _, err := a.verify(i, claim); err == nil {
				a.t.Errorf("the claim %q is accepted", claim)
			}
		}
		return
	}
	a.t.Errorf("no line %q", bound)
}

// try changes lines in all the ways that alter returns. A change for which must is
// true must be refused.
func (a *altered) try(t *testing.T, alter func(line int) []string, must func(line int, text string) bool, least int) {
	type change struct {
		line int
		text string
	}
	var sure, open []change
	for i := range a.lines {
		for _, text := range alter(i) {
			if must(i, text) {
				sure = append(sure, change{i, text})
			} else {
				open = append(open, change{i, text})
			}
		}
	}
	if len(sure) < least {
		t.Errorf("%d changes must be refused, want %d", len(sure), least)
	}
	refused, tried := 0, 0
	for k, list := range [][]change{sure, open} {
		step := max(1, len(list)/alterations)
		for i := 0; i < len(list); i += step {
			tried++
			c := list[i]
			proved, err := a.verify(c.line, c.text)
			switch {
			case err != nil:
				refused++
			case k == 0:
				t.Errorf("line %d, %q instead of %q, is accepted", c.line+1, c.text, a.lines[c.line])
			case proved.Bound > a.optimum:
				t.Errorf("line %d, %q instead of %q, proves %d, the optimum is %d", c.line+1, c.text, a.lines[c.line], proved.Bound, a.optimum)
			}
		}
	}
	t.Logf("%d of %d refused, of %d that must be and %d others", refused, tried, len(sure), len(open))
}

func always(int, string) bool { return true }
func never(int, string) bool  { return false }

// first is true for the first step of a nogood: it is looked at in any case.
func (a *altered) first(line int, _ string) bool { return strings.HasPrefix(a.lines[line-1], "nogood") }

// facts splits a line into what is before its facts, and them.
func facts(line string) (string, []string) {
	words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	k := 0
	for k < len(words) && !strings.Contains(words[k], "=") {
		k++
	}
	return strings.Join(words[:k], " "), words[k:]
}

// withoutFact leaves out one fact of a nogood, each in turn.
func (a *altered) withoutFact(line int) []string {
	head, list := facts(a.lines[line])
	if head != "nogood" {
		return nil
	}
	var all []string
	for k := range list {
		text := head
		for i, fact := range list {
			if i != k {
				text += " " + fact
			}
		}
		all = append(all, text+"\n")
	}
	return all
}

// weaker makes one fact of a line with a first word easier to meet, each in turn.
func (a *altered) weaker(word string) func(line int) []string {
	return func(line int) []string {
		head, list := facts(a.lines[line])
		if strings.Fields(head + " -")[0] != word {
			return nil
		}
		var all []string
		for k, fact := range list {
			changed := append(append(append([]string{head}, list[:k]...), relaxed(fact)), list[k+1:]...)
			all = append(all, strings.Join(changed, " ")+"\n")
		}
		return all
	}
}

// relaxed returns a fact with one value more that meets it.
func relaxed(text string) string {
	f := parseFact(text)
	if f.AtLeast {
		return fmt.Sprintf("%d>=%d", f.Variable, f.Value-1)
	}
	return fmt.Sprintf("%d<=%d", f.Variable, f.Value+1)
}

func parseFact(text string) solve.Fact {
	var f solve.Fact
	var sign byte
	if _, err := fmt.Sscanf(text, "%d%c=%d", &f.Variable, &sign, &f.Value); err != nil {
		panic(err)
	}
	f.AtLeast = sign == '>'
	return f
}

// reference makes a step refer to a nogood some numbers further on.
func (a *altered) reference(offset int) func(line int) []string {
	return func(line int) []string {
		var nogood int
		if _, err := fmt.Sscanf(a.lines[line], "learned %d\n", &nogood); err != nil || nogood+offset < 0 {
			return nil
		}
		return []string{fmt.Sprintf("learned %d\n", nogood+offset)}
	}
}

// renamed gives a step another rule.
func (a *altered) renamed(old, rule string) func(line int) []string {
	return func(line int) []string {
		if rest, ok := strings.CutPrefix(a.lines[line], old); ok {
			return []string{rule + rest}
		}
		return nil
	}
}

// missing drops a step.
func (a *altered) missing(line int) []string {
	switch word, _, _ := strings.Cut(a.lines[line], " "); word {
	case "learned", "edge", "monotone", "order", "window", "memory", "cycle":
		return []string{""}
	}
	return nil
}

// contradicted reports whether an optimal plan is an example of what a nogood excludes.
func (a *altered) contradicted(_ int, text string) bool {
	_, list := facts(text)
	for _, fact := range list {
		f := parseFact(fact)
		if v := a.plan[f.Variable]; f.AtLeast && v < f.Value || !f.AtLeast && v > f.Value {
			return false
		}
	}
	return true
}

// values returns the variables of a plan for a problem without choices, gangs and
// factors, whose operations start in the order of their numbers or are renamed to.
func values(p *model.Problem, r *solve.Result) []model.Time {
	vars := constraints.NewVariables(p)
	list := make([]model.Time, vars.Count())
	list[vars.Objective()] = r.Value
	for _, order := range r.Plan.Order {
		placed := map[int][]int{} // by sequence: the places of its operations in the order
		for at, op := range order {
			s, _ := vars.SequenceOf(op)
			list[vars.Start(vars.Sequences[s].Ops[len(placed[s])])] = r.Timeline.Start[op]
			placed[s] = append(placed[s], at)
		}
		for _, pair := range vars.Pairs {
			for i, at := range placed[int(pair.A)] {
				for _, other := range placed[int(pair.Q)] {
					if other < at {
						list[pair.First+constraints.Variable(i)]++
					}
				}
			}
		}
	}
	return list
}
