package proof

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// TestKnownBounds proves the optimum of small problems.
func TestKnownBounds(t *testing.T) {
	for _, test := range []struct {
		name string
		spec modelgen.Spec
		want model.Time
	}{
		{"one device", modelgen.Spec{Devices: 1, MicroBatches: 2}, 6},
		{"two devices", modelgen.Spec{Devices: 2, MicroBatches: 2}, 7},
		{"three devices", modelgen.Spec{Devices: 3, MicroBatches: 4}, 14},
		{"latency", modelgen.Spec{Devices: 2, MicroBatches: 1, Latency: 3}, 11},
		{"blocking", modelgen.Spec{Devices: 2, MicroBatches: 1, Latency: 3, Blocking: true}, 11},
		{"choice", modelgen.Spec{Devices: 2, MicroBatches: 1, Backward: model.Auto, B: []model.Time{3}}, 4}, // see TestCases
		{"factors", modelgen.Spec{Devices: 1, MicroBatches: 3, Factors: []int64{1, 2, 1}}, 12},
		{"span", modelgen.Spec{Devices: 2, MicroBatches: 2, Objective: model.Span}, 6},
	} {
		p := modelgen.Problem(test.spec)
		c := newChecker(t, p)
		if c.Lower() != model.Absent {
			t.Errorf("%s: lower bound %d of nothing", test.name, c.Lower())
		}
		bound := prove(c.tables, c)
		if c.Err() != nil || c.Lower() != test.want || bound != test.want {
			t.Errorf("%s: proved %d, told %d, want %d, error %v", test.name, c.Lower(), bound, test.want, c.Err())
		}
	}
}

// TestCases proves an optimum by the two cases of a choice.
func TestCases(t *testing.T) {
	b := newTable(t, modelgen.Spec{Devices: 2, MicroBatches: 1, Backward: model.Auto, B: []model.Time{3}})
	i, w := b.start(rowI, 0), b.start(rowW, 0)
	choice := b.v.Choice(b.op(rowI, 0))
	prove(b.c.tables, b.c)
	first := b.c.Verified()
	b.c.Learn([]solve.Fact{most(0, 4), most(choice, 0)}, []solve.Step{
		edgeStep(i, w, least(i, 3), most(w, 3), most(choice, 0)),
		edgeStep(w, 0, least(w, 4), most(0, 4), most(choice, 0)),
	})
	b.c.Learn([]solve.Fact{most(0, 4)}, []solve.Step{
		{Rule: solve.LearnedRule, Nogood: first},
		edgeStep(i, 0, least(i, 3), most(0, 4), least(choice, 1)),
	})
	if b.c.Err() != nil || b.c.Lower() != 5 {
		t.Errorf("lower bound %d, %v", b.c.Lower(), b.c.Err())
	}
}

// TestSimpleProofs: the bound of a simple proof is verified, and no plan is below.
func TestSimpleProofs(t *testing.T) {
	for seed := range uint64(500) {
		a := randomAssignment(t, seed)
		c := newChecker(t, a.p)
		bound := prove(c.tables, c)
		if c.Err() != nil || bound != 0 && c.Lower() != bound || c.Lower() > a.values[0] {
			t.Fatalf("seed %d: proved %d, told %d, a plan has %d, error %v", seed, c.Lower(), bound, a.values[0], c.Err())
		}
	}
}

// table is a small problem with names for its parts.
type table struct {
	*testing.T
	p *model.Problem
	v *constraints.Variables
	c *Checker
}

func newTable(t *testing.T, s modelgen.Spec) table {
	p := modelgen.Problem(s)
	c := newChecker(t, p)
	return table{t, p, c.vars, c}
}

// op returns an operation of a row.
func (b table) op(row, index int) model.OpID { return b.p.Base(row) + model.OpID(index) }

func (b table) start(row, index int) constraints.Variable { return b.v.Start(b.op(row, index)) }

// position returns the position of an operation of a row among another, higher one.
func (b table) position(row, index, among int) constraints.Variable {
	a, i := b.v.SequenceOf(b.op(row, index))
	q, _ := b.v.SequenceOf(b.op(among, 0))
	return b.v.Pairs[b.v.PairOf(a, q)].First + constraints.Variable(i)
}

// Rows of a device in the problems below.
const (
	rowF = iota
	rowI
	rowW
)

// TestRules has a right use of each rule. With any fact one weaker, or left out, or any
// parameter changed by one, it must not be allowed.
func TestRules(t *testing.T) {
	one := newTable(t, modelgen.Spec{
		Devices: 1, MicroBatches: 4, F: []model.Time{3}, I: []model.Time{5}, W: []model.Time{2},
		Activation: []model.Bytes{4}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{10},
	})
	span := newTable(t, modelgen.Spec{Devices: 2, MicroBatches: 2, F: []model.Time{3}, Objective: model.Span})
	auto := newTable(t, modelgen.Spec{
		Devices: 1, MicroBatches: 3, Backward: model.Auto, F: []model.Time{3}, I: []model.Time{5}, W: []model.Time{2}, B: []model.Time{9},
		Activation: []model.Bytes{4}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{6},
	})
	f, i, w := one.start(rowF, 1), one.start(rowI, 1), one.start(rowW, 1)
	fi, iw := one.position(rowF, 1, rowI), one.position(rowI, 1, rowW)
	choice := auto.v.Choice(auto.op(rowI, 0))
	for _, test := range []struct {
		name string
		b    table
		step solve.Step
	}{
		{"waits", one, edgeStep(f, i, least(f, 7), most(i, 9))},
		{"sequence", one, edgeStep(f, one.start(rowF, 3), least(f, 7), most(one.start(rowF, 3), 9))},
		{"position below", one, edgeStep(one.start(rowF, 1), one.start(rowI, 0), least(f, 7), most(one.start(rowI, 0), 9), most(fi, 0))},
		{"position above", one, edgeStep(one.start(rowW, 0), i, least(one.start(rowW, 0), 7), most(i, 8), least(iw, 1))},
		{"objective", one, edgeStep(w, 0, least(w, 9), most(0, 10))},
		{"first", span, edgeStep(span.v.First(1), span.start(3+rowF, 1), least(span.v.First(1), 8), most(span.start(3+rowF, 1), 7))},
		{"last", span, edgeStep(span.start(3+rowF, 0), span.v.Last(1), least(span.start(3+rowF, 0), 8), most(span.v.Last(1), 10))},
		{"monotone", one, solve.Step{Rule: solve.MonotoneRule, From: fi, To: fi + 1, Facts: []solve.Fact{least(fi, 3), most(fi+1, 2)}}},
		{"order above", one, solve.Step{Rule: solve.OrderRule, From: fi, Facts: []solve.Fact{least(fi, 2)}}},
		{"cycle", one, solve.Step{Rule: solve.CycleRule, Ops: []model.OpID{one.op(rowF, 0), one.op(rowF, 2), one.op(rowI, 2)},
			Facts: []solve.Fact{least(one.position(rowF, 0, rowI), 3)}}},
		{"window", one, solve.Step{Rule: solve.WindowRule, Device: 0, Begin: 10, End: 25, Facts: []solve.Fact{
			least(one.start(rowF, 2), 10), most(one.start(rowF, 3), 22), least(one.start(rowI, 2), 10), most(one.start(rowI, 3), 20)}}},
		{"window by positions", one, solve.Step{Rule: solve.WindowRule, Device: 0, Begin: 10, End: 25, Facts: []solve.Fact{
			least(one.start(rowF, 2), 10), most(one.start(rowI, 3), 20), most(one.position(rowF, 3, rowI), 2)}}},
		{"memory below", one, solve.Step{Rule: solve.MemoryRule, Device: 0, Op: one.op(rowF, 3), Facts: []solve.Fact{
			most(one.position(rowF, 3, rowI), 2), most(one.position(rowF, 3, rowW), 1)}}},
		{"memory above", one, solve.Step{Rule: solve.MemoryRule, Device: 0, Op: one.op(rowI, 0), Facts: []solve.Fact{
			most(one.position(rowF, 2, rowI), 0), most(one.position(rowI, 0, rowW), 0)}}},
		{"span", span, solve.Step{Rule: solve.SpanRule, Device: 1, Facts: []solve.Fact{
			least(span.v.Last(1), 9), most(span.v.First(1), 3), most(0, 5)}}},
		{"choice", auto, edgeStep(auto.start(rowI, 0), auto.start(rowI, 1), least(auto.start(rowI, 0), 3), most(auto.start(rowI, 1), 11), least(choice, 1))},
		{"memory with choice", auto, solve.Step{Rule: solve.MemoryRule, Device: 0, Op: auto.op(rowF, 1), Facts: []solve.Fact{
			most(auto.position(rowF, 1, rowI), 1), most(auto.position(rowF, 1, rowW), 0), most(choice, 0)}}},
		{"memory of a fused weight", auto, solve.Step{Rule: solve.MemoryRule, Device: 0, Op: auto.op(rowF, 2), Facts: []solve.Fact{
			most(auto.position(rowF, 2, rowI), 1), most(auto.position(rowF, 2, rowW), 1), least(choice, 1)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := test.b.c.excluded(&test.step); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range weaker(test.step) {
				if _, err := test.b.c.excluded(&wrong); err == nil {
					t.Errorf("allowed: %+v", wrong)
				}
			}
		})
	}
}

// TestTurnedWindow: a window that ends before it begins has room for nothing, not even
// for what has no length; but without operations it says nothing.
func TestTurnedWindow(t *testing.T) {
	b := newTable(t, modelgen.Spec{Devices: 1, MicroBatches: 2, F: []model.Time{0}})
	x := b.start(rowF, 0)
	window := func(begin, end model.Time) error {
		_, err := b.c.excluded(&solve.Step{
			Rule: solve.WindowRule, Begin: begin, End: end, Facts: []solve.Fact{least(x, 3), most(x, 2)},
		})
		return err
	}
	if err := window(3, 2); err != nil {
		t.Error(err)
	}
	if window(4, 2) == nil || window(3, 1) == nil {
		t.Error("a window of nothing was allowed")
	}
}

// weaker lists steps with a fact that is one weaker or left out, or a window that is
// one longer.
func weaker(s solve.Step) []solve.Step {
	var list []solve.Step
	for k, f := range s.Facts {
		without := s
		without.Facts = slices.Delete(slices.Clone(s.Facts), k, k+1)
		list = append(list, without)
		slack := s
		slack.Facts = slices.Clone(s.Facts)
		slack.Facts[k].Value++
		if f.AtLeast {
			slack.Facts[k].Value -= 2
		}
		list = append(list, slack)
	}
	if s.Rule == solve.WindowRule {
		longer, later := s, s
		longer.End++
		later.Begin++
		list = append(list, longer, later)
	}
	return list
}

// TestRefusals: nothing that is told may be allowed by mistake, or panic.
func TestRefusals(t *testing.T) {
	b := newTable(t, modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Auto})
	x, fullOp := b.start(rowF, 1), b.op(3, 0)
	none := constraints.Variable(b.v.Count())
	unused := constraints.Variable(1 + fullOp)
	good := []solve.Fact{least(x, 0)}
	for _, test := range []struct {
		name   string
		step   solve.Step
		reason string
	}{
		{"rule", solve.Step{Rule: 200, Facts: good}, "no such rule"},
		{"learned", solve.Step{Rule: solve.LearnedRule, Nogood: 0}, "not known"},
		{"learned below", solve.Step{Rule: solve.LearnedRule, Nogood: -1}, "not known"},
		{"empty edge", solve.Step{Rule: solve.EdgeRule}, "nothing puts"},
		{"edge to another index", edgeStep(b.start(rowF, 0), b.start(rowI, 1)), "nothing puts"},
		{"edge to itself", edgeStep(x, x), "nothing puts"},
		{"no variable", edgeStep(none, x), "does not exist"},
		{"negative variable", edgeStep(x, -1), "does not exist"},
		{"unused", edgeStep(unused, x), "none of its own"},
		{"fact of none", edgeStep(x, 0, least(none, 1)), "does not exist"},
		{"fact of unused", edgeStep(x, 0, least(unused, 1)), "none of its own"},
		{"huge", edgeStep(x, 0, least(x, 1<<62)), "out of range"},
		{"largest", edgeStep(x, 0, most(x, 1<<63-1)), "out of range"},
		{"smallest", edgeStep(x, 0, least(x, -1<<63)), "out of range"},
		{"position", edgeStep(x, 0, least(b.position(rowF, 0, rowI), 4)), "out of range"},
		{"choice", edgeStep(x, 0, least(b.v.Choice(fullOp), 3)), "out of range"},
		{"empty monotone", solve.Step{Rule: solve.MonotoneRule}, "not positions of one pair"},
		{"order", solve.Step{Rule: solve.OrderRule, From: x}, "not a position"},
		{"order of none", solve.Step{Rule: solve.OrderRule, From: none}, "does not exist"},
		{"window", solve.Step{Rule: solve.WindowRule, Device: 2, End: 1}, "device 2 does not exist"},
		{"window turned", solve.Step{Rule: solve.WindowRule, Begin: 1}, "nothing must run"},
		{"window from the smallest", solve.Step{Rule: solve.WindowRule, Begin: -1 << 63, End: 1<<63 - 1}, "out of range"},
		{"window to the smallest", solve.Step{Rule: solve.WindowRule, Begin: 1<<63 - 1, End: -1 << 63}, "out of range"},
		{"window of nothing", solve.Step{Rule: solve.WindowRule, Begin: 0, End: 0}, "nothing must run"},
		{"memory", solve.Step{Rule: solve.MemoryRule, Device: -1}, "device -1 does not exist"},
		{"memory of none", solve.Step{Rule: solve.MemoryRule, Op: model.OpID(b.p.NumOps())}, "in no sequence"},
		{"memory of fused", solve.Step{Rule: solve.MemoryRule, Op: fullOp}, "in no sequence"},
		{"memory elsewhere", solve.Step{Rule: solve.MemoryRule, Device: 1, Op: 0}, "does not run on"},
		{"memory without limit", solve.Step{Rule: solve.MemoryRule, Device: 0, Op: 0}, "within its limit"},
		{"empty cycle", solve.Step{Rule: solve.CycleRule}, "no circle"},
		{"cycle of one", solve.Step{Rule: solve.CycleRule, Ops: []model.OpID{0}}, "no circle"},
		{"cycle of none", solve.Step{Rule: solve.CycleRule, Ops: []model.OpID{0, -1}}, "in no sequence"},
		{"cycle twice", solve.Step{Rule: solve.CycleRule, Ops: []model.OpID{0, 0}}, "need not come after"},
		{"span", solve.Step{Rule: solve.SpanRule}, "not the span"},
	} {
		b.c.restart()
		b.c.Learn(nil, []solve.Step{test.step})
		var fault *StepError
		if !errors.As(b.c.Err(), &fault) || fault.Nogood != 0 || fault.Step != 0 || !strings.Contains(fault.Reason, test.reason) {
			t.Errorf("%s: %v, want %q", test.name, b.c.Err(), test.reason)
		}
	}
}

// TestFaults: after a fault everything is refused, and nothing is proved.
func TestFaults(t *testing.T) {
	b := newTable(t, modelgen.Spec{Devices: 1, MicroBatches: 1})
	f, i := b.start(rowF, 0), b.start(rowI, 0)
	step := edgeStep(f, i, most(i, 0))
	two := edgeStep(f, i, least(f, 2), most(i, 2))
	for _, test := range []struct {
		name string
		tell func(c *Checker)
		want string
	}{
		{"no steps", func(c *Checker) { c.Learn([]solve.Fact{most(i, 1)}, nil) }, "nogood 1: its 0 steps exclude nothing"},
		{"two facts", func(c *Checker) { c.Learn(nil, []solve.Step{two}) }, "two of its facts do not follow: start of 0F0 ≥ 2; start of 0I0 ≤ 2"},
		{"too little", func(c *Checker) { c.Learn(nil, []solve.Step{edgeStep(f, i, most(i, 2))}) }, "nogood 1, step 0 (edge): start of 0F0 ≥ 0, and 1 more are not above start of 0I0 ≤ 2"},
		{"fact", func(c *Checker) { c.Learn([]solve.Fact{most(-1, 0)}, nil) }, "nogood 1: variable -1 does not exist: there are"},
		{"forget", func(c *Checker) { c.Forget(1) }, "nogood 1: forgotten without being known: 1 were told"},
		{"forget twice", func(c *Checker) { c.Forget(0); c.Forget(0) }, "nogood 0: forgotten"},
		{"forgotten", func(c *Checker) {
			c.Forget(0)
			c.Learn([]solve.Fact{most(i, 0)}, []solve.Step{{Rule: solve.LearnedRule, Nogood: 0}})
		}, ""},
	} {
		c := newChecker(t, b.p)
		c.Learn([]solve.Fact{most(i, 0)}, []solve.Step{step})
		if c.Err() != nil || c.Verified() != 1 {
			t.Fatal(c.Err())
		}
		test.tell(c)
		if test.want == "" { // what is known does not depend on the nogood
			if c.Err() != nil {
				t.Errorf("%s: %v", test.name, c.Err())
			}
			continue
		}
		if c.Err() == nil || !strings.Contains(c.Err().Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, c.Err(), test.want)
		}
		first := c.Err()
		c.Learn([]solve.Fact{most(0, 0)}, []solve.Step{edgeStep(i, 0, most(0, 0))})
		c.Forget(0)
		if c.Lower() != model.Absent || c.Err() != first {
			t.Errorf("%s: something was allowed after %v", test.name, first)
		}
	}
}

// TestExcluded: a limit that no plan keeps.
func TestExcluded(t *testing.T) {
	b := newTable(t, modelgen.Spec{Devices: 1, MicroBatches: 1, Activation: []model.Bytes{3}, Limit: []model.Bytes{2}})
	input, weight := b.position(rowF, 0, rowI), b.position(rowF, 0, rowW)
	memory := solve.Step{Rule: solve.MemoryRule, Device: 0, Op: 0}
	b.c.Learn(nil, []solve.Step{memory})
	if b.c.Err() == nil {
		t.Error("the operations behind the first one give memory back, if positions do not say where they stand")
	}
	behind := func() {
		b.c.restart()
		for _, x := range []constraints.Variable{input, weight} {
			b.c.Learn([]solve.Fact{least(x, 1)}, []solve.Step{{Rule: solve.OrderRule, From: x, Facts: []solve.Fact{least(x, 1)}}})
		}
	}
	behind()
	b.c.Learn(nil, []solve.Step{memory})
	if b.c.Err() != nil || b.c.Lower() != solve.Excluded {
		t.Errorf("lower bound %d, %v", b.c.Lower(), b.c.Err())
	}
	// Two facts that are known exclude each other.
	behind()
	memory.Facts = []solve.Fact{most(weight, 0)}
	b.c.Learn(memory.Facts, []solve.Step{memory})
	if b.c.Err() != nil || b.c.Lower() != model.Absent {
		t.Errorf("lower bound %d, %v", b.c.Lower(), b.c.Err())
	}
	b.c.Learn(nil, nil)
	if b.c.Err() != nil || b.c.Lower() != solve.Excluded {
		t.Errorf("lower bound %d, %v", b.c.Lower(), b.c.Err())
	}
}

func TestLearned(t *testing.T) {
	b := newTable(t, modelgen.Spec{Devices: 1, MicroBatches: 1})
	f, i, w := b.start(rowF, 0), b.start(rowI, 0), b.start(rowW, 0)
	first := []solve.Fact{least(f, 2), most(w, 3)}
	b.c.Learn(first, []solve.Step{
		edgeStep(f, i, least(f, 2), most(i, 2)),
		edgeStep(i, w, least(i, 3), most(w, 3)),
	})
	b.c.Learn([]solve.Fact{least(f, 2), most(w, 1)}, []solve.Step{{Rule: solve.LearnedRule, Nogood: 0}})
	if b.c.Err() != nil || b.c.Verified() != 2 || b.c.Steps() != 3 {
		t.Fatalf("%v after %d nogoods and %d steps", b.c.Err(), b.c.Verified(), b.c.Steps())
	}
	b.c.Forget(0)
	b.c.Learn([]solve.Fact{least(f, 2), most(w, 1)}, []solve.Step{{Rule: solve.LearnedRule, Nogood: 0}})
	if b.c.Err() == nil {
		t.Error("a nogood that was forgotten was used")
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(nil); err == nil {
		t.Error("no problem was accepted")
	}
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 2, Backward: model.Auto})
	pl.Operations = []model.Operation{{Name: "reduce", Letter: "R", Duration: 1, After: []model.Ref{{Kind: model.Backward}}}}
	if _, err := New(compile(t, pl)); err == nil || !strings.Contains(err.Error(), "proof: row 4 depends on the choice between split and fused") {
		t.Error(err)
	}
	pl.Operations[0].Single = true
	if _, err := New(compile(t, pl)); err != nil {
		t.Error(err)
	}
	p := modelgen.Unit(1, 1)
	p.Rows[0].Duration++
	if _, err := New(p); err == nil {
		t.Error("a problem that is not what its pipeline says was accepted")
	}
}
