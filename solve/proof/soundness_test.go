package proof

import (
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// drawer draws steps whose facts all hold in a schedule, most of them just so.
type drawer struct {
	*rand.Rand
	*assignment
	facts []solve.Fact
}

func (d *drawer) most() bool { return d.IntN(10) > 0 }

// say adds a fact that holds.
func (d *drawer) say(x constraints.Variable, atLeast bool) {
	v := d.values[x]
	if !d.most() {
		if slack := model.Time(d.IntN(3)); atLeast {
			v -= slack
		} else {
			v += slack
		}
	}
	d.facts = append(d.facts, solve.Fact{Variable: x, AtLeast: atLeast, Value: v})
}

// fix adds both facts of a variable, most of the time.
func (d *drawer) fix(x constraints.Variable) {
	for _, atLeast := range []bool{true, false} {
		if d.most() {
			d.say(x, atLeast)
		}
	}
}

func (d *drawer) start(s spot) constraints.Variable { return d.vars.Start(d.op(s)) }

// choose adds the facts of the choice of an operation.
func (d *drawer) choose(s spot) {
	if x := d.vars.Choice(d.op(s)); x >= 0 {
		d.fix(x)
	}
}

// relate adds the facts of the position that orders two operations.
func (d *drawer) relate(a, b spot) {
	if a.s > b.s {
		a, b = b, a
	}
	if pair := d.vars.PairOf(a.s, b.s); pair >= 0 && a.s != b.s {
		d.fix(d.vars.Pairs[pair].First + constraints.Variable(a.i))
	}
}

func (d *drawer) spot() spot {
	s := d.IntN(len(d.items))
	return spot{s, d.IntN(len(d.items[s]))}
}

// device draws one that runs something.
func (d *drawer) device() int {
	for {
		if device := d.IntN(len(d.byTime)); len(d.byTime[device]) > 0 {
			return device
		}
	}
}

// after draws an operation that may come after another one.
func (d *drawer) after(s spot) spot {
	row := d.vars.Sequences[s.s].Row
	switch d.IntN(4) {
	case 0:
		if succs := d.p.Succs[row]; len(succs) > 0 {
			to := int(succs[d.IntN(len(succs))].Row)
			next := d.p.Base(to) + model.OpID(d.p.Index(d.op(s)))
			if n := d.p.Count(to); n > 0 && (d.p.Rows[row].Single || d.p.Rows[to].Single) {
				next = d.p.Base(to) + model.OpID(d.IntN(n))
			}
			if q, i := d.vars.SequenceOf(next); q >= 0 {
				return spot{q, i}
			}
		}
	case 1:
		if s.i+1 < len(d.items[s.s]) {
			return spot{s.s, s.i + 1}
		}
	case 2:
		on := d.byTime[d.p.Rows[row].Devices[0]]
		for k := range on[1:] {
			if on[k] == s {
				return on[k+1]
			}
		}
	}
	return d.spot()
}

// step draws a step of a rule.
func (d *drawer) step(rule solve.ProofRule) solve.Step {
	d.facts = nil
	s := solve.Step{Rule: rule}
	switch rule {
	case solve.EdgeRule:
		d.edge(&s)
	case solve.MonotoneRule, solve.OrderRule:
		d.position(&s)
	case solve.WindowRule:
		d.window(&s)
	case solve.MemoryRule:
		d.memory(&s)
	case solve.CycleRule:
		d.cycle(&s)
	case solve.SpanRule:
		s.Device = int32(d.device())
		if d.p.Pipeline.Objective == model.Span {
			d.say(d.vars.Last(int(s.Device)), true)
			d.say(d.vars.First(int(s.Device)), false)
			d.say(0, false)
		}
	}
	s.Facts = d.facts
	return s
}

func (d *drawer) edge(s *solve.Step) {
	a := d.spot()
	b := d.after(a)
	s.From, s.To = d.start(a), d.start(b)
	device := int(d.p.Rows[d.vars.Sequences[a.s].Row].Devices[0])
	switch d.IntN(8) {
	case 0:
		s.To = 0
	case 1:
		if d.p.Pipeline.Objective == model.Span {
			s.To = d.vars.Last(device)
		}
	case 2:
		if d.p.Pipeline.Objective == model.Span {
			s.From, s.To = d.vars.First(device), s.From
		}
	}
	d.choose(a)
	d.relate(a, b)
	d.say(s.From, true)
	d.say(s.To, false)
}

func (d *drawer) position(s *solve.Step) {
	if len(d.vars.Pairs) == 0 {
		return
	}
	pair := d.vars.Pairs[d.IntN(len(d.vars.Pairs))]
	i := d.IntN(len(d.items[pair.A]))
	s.From = pair.First + constraints.Variable(i)
	s.To = s.From
	if i+1 < len(d.items[pair.A]) {
		s.To++
	}
	if d.IntN(4) == 0 {
		s.From, s.To = s.To, s.From
	}
	d.fix(s.From)
	d.fix(s.To)
}

func (d *drawer) window(s *solve.Step) {
	device := d.device()
	on := d.byTime[device]
	a := d.IntN(len(on))
	b := a + d.IntN(len(on)-a)
	s.Device = int32(device)
	s.Begin = d.items[on[a].s][on[a].i].start + model.Time(d.IntN(3)/2)
	s.End = d.items[on[b].s][on[b].i].end - model.Time(d.IntN(3)/2)
	many := d.IntN(3) > 0 // else few starts, and positions between neighbours
	for k, spot := range on {
		d.choose(spot)
		if many || k == a || k == b || d.IntN(3) == 0 {
			d.fix(d.start(spot))
		}
		if k > 0 && d.IntN(3) > 0 {
			d.relate(on[k-1], spot)
		}
	}
	d.Shuffle(len(d.facts), func(i, j int) { d.facts[i], d.facts[j] = d.facts[j], d.facts[i] })
}

func (d *drawer) memory(s *solve.Step) {
	device := d.device()
	on := d.byTime[device]
	own := on[d.IntN(len(on))]
	s.Device, s.Op = int32(device), d.op(own)
	for _, other := range on {
		d.choose(other)
		d.relate(own, other)
	}
}

func (d *drawer) cycle(s *solve.Step) {
	first := d.spot()
	at := first
	s.Ops = append(s.Ops, d.op(first))
	for range 1 + d.IntN(3) {
		next := d.after(at)
		d.relate(at, next)
		s.Ops = append(s.Ops, d.op(next))
		at = next
	}
	d.relate(at, first)
}

func (a *assignment) holds(f solve.Fact) bool {
	return interval{a.values[f.Variable], a.values[f.Variable]}.implies(f)
}

// TestNoScheduleIsExcluded: the facts of a real schedule never exclude each other.
func TestNoScheduleIsExcluded(t *testing.T) {
	seeds, each := 4000, 150
	if testing.Short() {
		seeds = 400
	}
	for seed := range uint64(seeds) {
		a := randomAssignment(t, seed)
		c := newChecker(t, a.p)
		for x, at := range c.local.at {
			if v := a.values[x]; !c.meanings[x].unused && (v < at.lo || v > at.hi) {
				t.Fatalf("seed %d: %s is %d in a schedule, known are %d to %d", seed, a.vars.Name(constraints.Variable(x)), v, at.lo, at.hi)
			}
		}
		d := drawer{Rand: rand.New(rand.NewPCG(seed, 1)), assignment: a}
		for range each {
			s := d.step(solve.EdgeRule + solve.ProofRule(d.IntN(int(solve.SpanRule))))
			for _, f := range s.Facts {
				if !a.holds(f) {
					t.Fatalf("seed %d: the test draws %s, but the value is %d", seed, c.factText(f), a.values[f.Variable])
				}
			}
			if _, err := c.excluded(&s); err == nil {
				t.Fatalf("seed %d: %s excludes a schedule: %+v", seed, s.Rule, s)
			}
		}
	}
}

// TestRandomProofsExcludeNoSchedule: nogoods that hold in a schedule are never proved,
// whatever the steps.
func TestRandomProofsExcludeNoSchedule(t *testing.T) {
	seeds := 1500
	if testing.Short() {
		seeds = 150
	}
	accepted, unit, told := 0, 0, 0
	for seed := range uint64(seeds) {
		a := randomAssignment(t, seed)
		c := newChecker(t, a.p)
		d := drawer{Rand: rand.New(rand.NewPCG(seed, 2)), assignment: a}
		for range 40 {
			var steps []solve.Step
			for range 12 {
				if s, ok := d.wrong(c); ok {
					accepted++
					steps = append(steps, s)
				}
			}
			d.facts = nil
			for _, s := range steps {
				for _, f := range s.Facts {
					if a.holds(f) && d.IntN(20) > 0 {
						d.facts = append(d.facts, f)
					}
				}
			}
			c.Learn(d.facts, steps)
			unit += int(c.Steps())
			told++
			if c.Err() == nil {
				t.Fatalf("seed %d: a schedule is excluded: %v by %+v", seed, d.facts, steps)
			}
			c.restart()
		}
	}
	if accepted < told || unit < told/2 {
		t.Errorf("of %d nogoods with %d steps that a rule allows, %d were verified: the test is weak", told, accepted, unit)
	}
}

// wrong draws a step with facts that hold but for one or two, so that a rule may allow
// it.
func (d *drawer) wrong(c *Checker) (solve.Step, bool) {
	s := d.step(solve.EdgeRule + solve.ProofRule(d.IntN(int(solve.SpanRule))))
	for range 1 + d.IntN(2) {
		if len(s.Facts) == 0 {
			return s, false
		}
		f := &s.Facts[d.IntN(len(s.Facts))]
		f.Value = d.values[f.Variable] + 1
		if !f.AtLeast {
			f.Value -= 2
		}
	}
	_, err := c.excluded(&s)
	return s, err == nil
}

func newChecker(t testing.TB, p *model.Problem) *Checker {
	t.Helper()
	c, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
