package constraints

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// MaxViolations is the number of violations that a report describes. The others
// are counted.
const MaxViolations = 20

// Violation is one place where a plan or its timeline breaks a rule.
type Violation struct {
	Rule   Rule
	Device int          // where, -1 if at no single device
	Ops    []model.OpID // the operations concerned, the one at fault first; may be empty

	// Need is the bound that the rule demands, and Have what there is: ticks
	// for the rules of time, memory units for RuleMemory, and numbers of
	// operations or of array elements else. Both are 0 where no number says it.
	Need, Have int64

	Message string // one sentence with names, numbers and, if that is clear, how to mend it
}

// String returns the name of the rule and the message.
func (v *Violation) String() string { return v.Rule.String() + ": " + v.Message }

// Report is the verdict of the judge.
type Report struct {
	Violations []Violation   // the first MaxViolations that were found
	Counts     [numRules]int // by rule: how many were found
}

// Total returns the number of violations that were found.
func (r *Report) Total() int {
	n := 0
	for _, c := range r.Counts {
		n += c
	}
	return n
}

// OK reports whether no rule is broken.
func (r *Report) OK() bool { return r.Total() == 0 }

// Err returns nil if no rule is broken, else a *RuleError.
func (r *Report) Err() error {
	if r.OK() {
		return nil
	}
	return &RuleError{r}
}

// RuleError is the error form of a report with violations.
type RuleError struct{ Report *Report }

// Error lists the violations that the report describes, one a line, and says
// how many there are beside them.
func (e *RuleError) Error() string {
	var b strings.Builder
	for i := range e.Report.Violations {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Report.Violations[i].String())
	}
	if more := e.Report.Total() - len(e.Report.Violations); more > 0 {
		fmt.Fprintf(&b, "\nand %s", model.Plural(more, "more violation"))
	}
	return b.String()
}

// add counts a violation of the rule, and makes the full text of it if the
// report has room.
func (r *Report) add(rule Rule, describe func() Violation) {
	r.Counts[rule]++
	if len(r.Violations) >= MaxViolations {
		return
	}
	v := describe()
	v.Rule = rule
	r.Violations = append(r.Violations, v)
}
