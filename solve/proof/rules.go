package proof

import (
	"errors"
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// The rules, each straight from docs/proof.md. They return nil if the facts of the
// step exclude each other, else why they need not.

// meaningOf returns the meaning of a parameter of a step.
func (c *Checker) meaningOf(x constraints.Variable) (*meaning, error) {
	if x < 0 || int(x) >= len(c.meanings) {
		return nil, fmt.Errorf("variable %d does not exist: there are %d", x, len(c.meanings))
	}
	if c.meanings[x].unused {
		return nil, fmt.Errorf("variable %d is the start of a fused operation, which has none of its own", x)
	}
	return &c.meanings[x], nil
}

// length returns the smallest length that the choice of an operation leaves.
func (c *Checker) length(o place) model.Time {
	s := &c.sequences[o.sequence]
	if s.choices == nil {
		return s.length[split]
	}
	switch choice := c.local.at[s.choices[o.index]]; {
	case choice.lo >= fused:
		return s.length[fused]
	case choice.hi <= split:
		return s.length[split]
	}
	return min(s.length[split], s.length[fused])
}

// edge: lo(x) + w > hi(y) for a w with y ≥ x + w.
func (c *Checker) edge(x, y constraints.Variable) error {
	from, err := c.meaningOf(x)
	if err != nil {
		return err
	}
	to, err := c.meaningOf(y)
	if err != nil {
		return err
	}
	w, ok := c.distance(from, to)
	if !ok {
		return fmt.Errorf("nothing puts %s before %s", c.vars.Name(x), c.vars.Name(y))
	}
	if c.lo(x)+w <= c.hi(y) {
		return fmt.Errorf("%s ≥ %d, and %d more are not above %s ≤ %d", c.vars.Name(x), c.lo(x), w, c.vars.Name(y), c.hi(y))
	}
	return nil
}

// distance returns the largest w with y ≥ x + w for certain.
func (c *Checker) distance(x, y *meaning) (model.Time, bool) {
	start := x.kind == constraints.StartVariable
	switch {
	case start && y.kind == constraints.StartVariable:
		return c.between(x.place, y.place)
	case start && y.kind == constraints.ObjectiveVariable && c.p.Pipeline.Objective == model.Makespan:
		return c.length(x.place), true
	case start && y.kind == constraints.LastVariable && c.occupies(x.place, y.device):
		return c.length(x.place), true
	case x.kind == constraints.FirstVariable && y.kind == constraints.StartVariable && c.occupies(y.place, x.device):
		return 0, true
	}
	return 0, false
}

// between returns the least time from the start of o to that of b, false if b need not
// come after o.
func (c *Checker) between(o, b place) (model.Time, bool) {
	lag, ok := c.lag(o, b)
	if !ok && !c.before(o, b) {
		return 0, false
	}
	return c.length(o) + lag, true
}

// lag returns the lag with which b waits for o, false if it does not.
func (c *Checker) lag(o, b place) (lag model.Time, ok bool) {
	for _, w := range c.sequences[b.sequence].waits {
		if w.sequence == o.sequence && (w.all || o.index == b.index) {
			lag, ok = max(lag, w.lag), true
		}
	}
	return lag, ok
}

// before reports whether o stands before b for certain: in their sequence, or by the
// positions.
func (c *Checker) before(o, b place) bool {
	if o.sequence == b.sequence {
		return o.index < b.index
	}
	first, ok := c.positions(o.sequence, b.sequence)
	switch {
	case !ok:
		return false
	case o.sequence < b.sequence: // the position of o counts those of b's sequence before o: b is not one
		return c.hi(first+constraints.Variable(o.index)) <= model.Time(b.index)
	default: // the position of b counts those of o's sequence before b: o is one
		return c.lo(first+constraints.Variable(b.index)) >= model.Time(o.index)+1
	}
}

func (c *Checker) occupies(o place, device int32) bool {
	for _, d := range c.sequences[o.sequence].devices {
		if d == device {
			return true
		}
	}
	return false
}

// monotone: lo(x) > hi(y), where y is the position of a later operation.
func (c *Checker) monotone(x, y constraints.Variable) error {
	a, err := c.meaningOf(x)
	if err != nil {
		return err
	}
	b, err := c.meaningOf(y)
	if err != nil {
		return err
	}
	switch {
	case a.kind != constraints.PositionVariable || b.kind != constraints.PositionVariable ||
		a.sequence != b.sequence || a.among != b.among || a.index >= b.index:
		return fmt.Errorf("%s and %s are not positions of one pair, the earlier first", c.vars.Name(x), c.vars.Name(y))
	case c.lo(x) <= c.hi(y):
		return fmt.Errorf("%s ≥ %d is not above %s ≤ %d", c.vars.Name(x), c.lo(x), c.vars.Name(y), c.hi(y))
	}
	return nil
}

// order: the position of an operation is above the number of operations of Q that do
// not have to wait for it, or below the number of those that it has to wait for.
func (c *Checker) order(x constraints.Variable) error {
	m, err := c.meaningOf(x)
	if err != nil {
		return err
	}
	if m.kind != constraints.PositionVariable {
		return fmt.Errorf("%s is not a position", c.vars.Name(x))
	}
	count := model.Time(len(c.sequences[m.among].ops))
	least, most := model.Time(0), count
	switch c.hasToWait(m.among, m.sequence) {
	case forSame: // for those of Q up to its own index
		least = min(model.Time(m.index)+1, count)
	case forAll:
		least = count
	}
	switch c.hasToWait(m.sequence, m.among) {
	case forSame: // those of Q from its own index on
		most = min(model.Time(m.index), count)
	case forAll:
		most = 0
	}
	if c.lo(x) <= most && c.hi(x) >= least {
		return fmt.Errorf("%s is allowed from %d to %d, and may be from %d to %d", c.vars.Name(x), least, most, c.lo(x), c.hi(x))
	}
	return nil
}

// waiting says for which operations of one sequence those of another have to wait.
type waiting uint8

const (
	forNone waiting = iota
	forSame         // each for the one with its index, and so for all before that
	forAll          // each for all
)

// hasToWait returns for which operations of sequence a those of b have to wait,
// directly or not: for all if any on the way does. It remembers what it found. Cost
// O(sequences + waits) the first time.
func (c *Checker) hasToWait(a, b int32) waiting {
	key := [2]int32{a, b}
	if known, ok := c.reach[key]; ok {
		return known
	}
	c.search++
	found := forNone
	c.sequenceTop = append(c.sequenceTop[:0], reached{b, forSame})
	for len(c.sequenceTop) > 0 && found < forAll {
		at := c.sequenceTop[len(c.sequenceTop)-1]
		c.sequenceTop = c.sequenceTop[:len(c.sequenceTop)-1]
		for _, w := range c.sequences[at.sequence].waits {
			how := at.how
			if w.all {
				how = forAll
			}
			if w.sequence == a {
				found = max(found, how)
			}
			if v := &c.visited[w.sequence]; v.search != c.search || v.how < how {
				*v = visit{c.search, how}
				c.sequenceTop = append(c.sequenceTop, reached{w.sequence, how})
			}
		}
	}
	c.reach[key] = found
	return found
}

// reached is a sequence for which another one has to wait.
type reached struct {
	sequence int32
	how      waiting
}

// visit is the last search that met a sequence, and what it found there.
type visit struct {
	search int32
	how    waiting
}

// cycle: each operation comes after the one before it, the first after the last.
func (c *Checker) cycle(ops []model.OpID) error {
	if len(ops) < 2 {
		return fmt.Errorf("%d operations form no circle", len(ops))
	}
	before, ok := c.placeOf(ops[len(ops)-1])
	if !ok {
		return fmt.Errorf("operation %d is in no sequence", ops[len(ops)-1])
	}
	for _, op := range ops {
		now, ok := c.placeOf(op)
		if !ok {
			return fmt.Errorf("operation %d is in no sequence", op)
		}
		if _, after := c.between(before, now); !after {
			return fmt.Errorf("%s need not come after %s", c.opText(now), c.opText(before))
		}
		before = now
	}
	return nil
}

// span: lo(last) - hi(first) > hi(objective).
func (c *Checker) span(device int32) error {
	if c.p.Pipeline.Objective != model.Span {
		return errors.New("the objective is not the span")
	}
	if device < 0 || int(device) >= c.p.NumDevices() {
		return c.noDevice(device)
	}
	last, first, value := c.lo(c.vars.Last(int(device))), c.hi(c.vars.First(int(device))), c.hi(c.vars.Objective())
	if last-first <= value {
		return fmt.Errorf("%s: last end ≥ %d less first start ≤ %d is not above the span ≤ %d", c.p.DeviceName(int(device)), last, first, value)
	}
	return nil
}

func (c *Checker) noDevice(device int32) error {
	return fmt.Errorf("device %d does not exist: there are %d", device, c.p.NumDevices())
}
