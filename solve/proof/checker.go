package proof

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Checker is a solve.Trace that verifies every nogood at once. After the first fault
// it refuses everything, and what it had verified counts for nothing. It is for one
// goroutine.
type Checker struct {
	*tables
	assumed box // what is known, and the facts and conclusions of the nogood at hand
	local   box // what is known, and the facts of the step at hand

	nogoods     map[int64][]solve.Fact // those not forgotten
	verified    int64                  // nogoods
	steps       int64
	bound       model.Time
	impossible  bool // what is known excludes everything
	err         error
	facts       []solve.Fact // of the nogood at hand
	index       int          // of the next step
	proved      bool
	scratch     windowScratch
	reach       map[[2]int32]waiting // sequences: the second has to wait for the first
	visited     []visit              // by sequence
	search      int32
	sequenceTop []reached
}

var _ solve.Trace = (*Checker)(nil)

// New returns a checker for proofs about a problem. Errors: a problem that is not
// what its pipeline says, or one of which constraints.Entangled names a row: for that,
// proofs have no rules. Cost O(operations × precedences of a row + variables ×
// log variables).
func New(p *model.Problem) (*Checker, error) {
	t, err := newTables(p)
	if err != nil {
		return nil, err
	}
	c := &Checker{tables: t}
	c.reach, c.visited = map[[2]int32]waiting{}, make([]visit, len(t.sequences))
	c.restart()
	return c, nil
}

// restart forgets all that was told.
func (c *Checker) restart() {
	c.assumed = box{at: c.domains()}
	c.local = box{at: c.domains()}
	c.nogoods = map[int64][]solve.Fact{}
	c.verified, c.steps, c.bound = 0, 0, model.Absent
	c.impossible, c.proved, c.err = false, false, nil
}

// Err returns nil or the first fault, a *StepError.
func (c *Checker) Err() error { return c.err }

// Verified returns the number of nogoods that were verified.
func (c *Checker) Verified() int64 { return c.verified }

// Steps returns the number of steps that were verified. Those behind the one that
// completes a nogood are not looked at.
func (c *Checker) Steps() int64 { return c.steps }

// Lower implements solve.Trace.
func (c *Checker) Lower() model.Time {
	if c.err != nil {
		return model.Absent
	}
	return c.bound
}

// Learn implements solve.Trace. Cost O(facts) for most steps; a window, memory or
// cycle costs O(operations of the device + facts), a window with positions times
// their number at worst.
func (c *Checker) Learn(facts []solve.Fact, steps []solve.Step) {
	c.begin(facts)
	for k := range steps {
		if c.proved || c.err != nil {
			break
		}
		c.step(&steps[k])
	}
	c.conclude()
}

// begin assumes the facts of a nogood.
func (c *Checker) begin(facts []solve.Fact) {
	if c.err != nil {
		return
	}
	c.facts, c.index, c.proved = append(c.facts[:0], facts...), 0, c.impossible
	for _, f := range c.facts {
		if err := c.checkFact(f); err != nil {
			c.fail(c.verified, -1, 0, "%v", err)
			return
		}
		if c.assumed.assume(f) {
			c.proved = true
		}
	}
}

// step verifies a step of the nogood at hand and draws its conclusion.
func (c *Checker) step(s *solve.Step) {
	if c.err != nil || c.proved {
		return
	}
	facts, err := c.excluded(s)
	if err != nil {
		c.fail(c.verified, c.index, s.Rule, "%v", err)
		return
	}
	c.index++
	c.steps++
	open := -1
	for k, f := range facts {
		if c.assumed.at[f.Variable].implies(f) || open >= 0 && facts[open] == f {
			continue
		}
		if open >= 0 {
			c.fail(c.verified, c.index-1, s.Rule, "two of its facts do not follow: %s; %s", c.factText(facts[open]), c.factText(f))
			return
		}
		open = k
	}
	c.proved = open < 0 || c.assumed.assume(facts[open].Not())
}

// conclude ends the nogood at hand.
func (c *Checker) conclude() {
	c.assumed.undo()
	if c.err != nil {
		return
	}
	if !c.proved {
		c.fail(c.verified, -1, 0, "its %d steps exclude nothing", c.index)
		return
	}
	facts := slices.Clone(c.facts)
	c.nogoods[c.verified] = facts
	c.verified++
	switch len(facts) {
	case 0:
		c.impossible, c.bound = true, solve.Excluded
	case 1:
		c.know(facts[0].Not())
	}
}

// know makes a fact known.
func (c *Checker) know(f solve.Fact) {
	empty := c.assumed.know(f)
	c.local.know(f)
	c.impossible = c.impossible || empty
	if f.Variable == c.vars.Objective() && f.AtLeast {
		c.bound = max(c.bound, f.Value)
	}
}

// Forget implements solve.Trace.
func (c *Checker) Forget(nogood int64) {
	if c.err != nil {
		return
	}
	if _, ok := c.nogoods[nogood]; !ok {
		c.fail(nogood, -1, 0, "forgotten without being known: %d were told", c.verified)
		return
	}
	delete(c.nogoods, nogood)
}

// excluded returns the facts of a step, if its rule says that they exclude each
// other.
func (c *Checker) excluded(s *solve.Step) ([]solve.Fact, error) {
	if s.Rule == solve.LearnedRule {
		facts, ok := c.nogoods[s.Nogood]
		if !ok {
			return nil, fmt.Errorf("nogood %d is not known or was forgotten: %d were told", s.Nogood, c.verified)
		}
		return facts, nil
	}
	defer c.local.undo()
	for _, f := range s.Facts {
		if err := c.checkFact(f); err != nil {
			return nil, err
		}
		c.local.assume(f)
	}
	return s.Facts, c.apply(s)
}

// apply returns nil if a rule other than learned excludes the facts of a step.
func (c *Checker) apply(s *solve.Step) error {
	switch s.Rule {
	case solve.EdgeRule:
		return c.edge(s.From, s.To)
	case solve.MonotoneRule:
		return c.monotone(s.From, s.To)
	case solve.OrderRule:
		return c.order(s.From)
	case solve.WindowRule:
		return c.window(s)
	case solve.MemoryRule:
		return c.memory(s.Device, s.Op)
	case solve.CycleRule:
		return c.cycle(s.Ops)
	case solve.SpanRule:
		return c.span(s.Device)
	}
	return fmt.Errorf("there is no such rule")
}

// lo and hi are the ends of an interval by what is known and the step's facts.
func (c *Checker) lo(x constraints.Variable) model.Time { return c.local.at[x].lo }
func (c *Checker) hi(x constraints.Variable) model.Time { return c.local.at[x].hi }
