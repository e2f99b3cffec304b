package sat

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/flexpipe/flexpipe/model"
)

// WriteDIMACS writes, in the DIMACS format of clauses, the formula that says that
// a schedule exists whose objective is at most value, in ticks. That it has no
// solution proves that the objective of every plan is larger. Comment lines say
// so, and what each range of variables means. The text depends on nothing but
// problem and value.
//
// For the objective span the formula is about timelines with every operation as
// early as the orders allow, which is how plans are measured; only operations of no length may
// hold each other up, so that a solution can stand for a plan with a larger span.
// Without solution the proof holds all the same.
//
// Cost O(clauses) time and memory. Errors: *solve.FeatureError, an error if the
// formula would be too large, and those of w.
func WriteDIMACS(w io.Writer, p *model.Problem, value model.Time) error {
	if err := New().Refuses(p); err != nil {
		return err
	}
	s := newSystem(p)
	e := s.formulaFor(value)
	if e.tooLarge {
		return fmt.Errorf("the formula for a value of %s would have more than %d clauses", p.FormatTime(value), maxClauses)
	}
	out := bufio.NewWriter(w)
	e.comment(out, value)
	fmt.Fprintf(out, "p cnf %d %d\n", e.variables, e.clauses)
	var line []byte
	for _, l := range e.literals {
		line = strconv.AppendInt(line, int64(l), 10)
		if l != 0 {
			line = append(line, ' ')
			continue
		}
		out.Write(append(line, '\n'))
		line = line[:0]
	}
	return out.Flush()
}

// formulaFor returns the formula for values up to one in ticks.
func (s *system) formulaFor(value model.Time) *encoding {
	ctx := context.Background()
	if value < 0 || !s.relate(ctx) {
		e := &encoding{system: s, formula: newFormula(ctx)}
		e.mean(yes, 1, "true")
		e.add(no)
		return e
	}
	v := min(value/s.unit, s.horizon)
	if s.p.Pipeline.Objective == model.Span {
		e := s.encode(ctx, s.horizon, v, v+1)
		e.add(e.atMost(v))
		return e
	}
	return s.encode(ctx, v, v, v)
}

func (e *encoding) comment(w io.Writer, value model.Time) {
	fmt.Fprintf(w, "c FlexPipe: is there a schedule with a %v of at most %s?\n", e.p.Pipeline.Objective, e.p.FormatTime(value))
	if n := e.p.Pipeline.Name; n != "" {
		fmt.Fprintf(w, "c Problem: %q.\n", n)
	}
	fmt.Fprintf(w, "c Unsatisfiable: no, every plan has a larger %v. Satisfiable: yes", e.p.Pipeline.Objective)
	if e.p.Pipeline.Objective == model.Span {
		fmt.Fprint(w, ",\nc or one in which operations start later than their orders demand, which plans do not say")
	}
	fmt.Fprintf(w, ".\nc Times below are in units of %d ticks. Variables:\n", e.unit)
	for _, m := range e.ranges {
		fmt.Fprintf(w, "c %d", m.first)
		if m.count > 1 {
			fmt.Fprintf(w, " to %d", int(m.first)+m.count-1)
		}
		fmt.Fprintf(w, ": %s\n", m.text)
	}
}
