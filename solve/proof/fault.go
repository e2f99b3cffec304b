package proof

import (
	"fmt"

	"github.com/flexpipe/flexpipe/solve"
)

// StepError is the first fault of a proof.
type StepError struct {
	Nogood int64           // its number
	Step   int             // its index; -1 if the fault is not in a step
	Rule   solve.ProofRule // of the step
	Reason string          // one phrase, with variables by name
}

func (e *StepError) Error() string {
	if e.Step < 0 {
		return fmt.Sprintf("nogood %d: %s", e.Nogood, e.Reason)
	}
	return fmt.Sprintf("nogood %d, step %d (%s): %s", e.Nogood, e.Step, ruleName(e.Rule), e.Reason)
}

// ruleName returns the name of a rule, also of one that does not exist.
func ruleName(r solve.ProofRule) string {
	if r > solve.SpanRule {
		return fmt.Sprintf("rule %d", uint8(r))
	}
	return r.String()
}

// fail records the first fault; step is -1 if it is not in a step.
func (c *Checker) fail(nogood int64, step int, rule solve.ProofRule, format string, args ...any) {
	if c.err == nil {
		c.err = &StepError{nogood, step, rule, fmt.Sprintf(format, args...)}
	}
}

// factText names a fact for messages.
func (c *Checker) factText(f solve.Fact) string {
	sign := "≤"
	if f.AtLeast {
		sign = "≥"
	}
	return fmt.Sprintf("%s %s %d", c.vars.Name(f.Variable), sign, f.Value)
}

// opText names a place for messages.
func (c *Checker) opText(o place) string { return c.p.Name(c.sequences[o.sequence].ops[o.index]) }

// checkFact refuses facts about what is not a variable, or far outside its domain: a
// count or choice may be 1 outside, a time must be within ±(2^61 + 1).
func (c *Checker) checkFact(f solve.Fact) error {
	if f.Variable < 0 || int(f.Variable) >= len(c.meanings) {
		return fmt.Errorf("variable %d does not exist: there are %d", f.Variable, len(c.meanings))
	}
	m := &c.meanings[f.Variable]
	if m.unused {
		return fmt.Errorf("variable %d is the start of a fused operation, which has none of its own", f.Variable)
	}
	if f.Value < m.allowed.lo-1 || f.Value > m.allowed.hi+1 {
		return fmt.Errorf("%d is out of range for %s", f.Value, c.vars.Name(f.Variable))
	}
	return nil
}
