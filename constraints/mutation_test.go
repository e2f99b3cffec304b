package constraints_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// mutant is a schedule that one mutation is to break.
type mutant struct {
	schedule
	*rand.Rand
}

// mutations break one rule each. They return false where the schedule offers no
// place for that. Memory is unlimited, so that moving operations breaks no limit;
// the rule of memory has tests of its own.
var mutations = []struct {
	rule   constraints.Rule
	name   string
	mutate func(*mutant) bool
}{
	{constraints.RuleCompleteness, "drop an operation", (*mutant).drop},
	{constraints.RuleCompleteness, "drop an operation of a gang on one device", (*mutant).dropFromGang},
	{constraints.RuleCompleteness, "duplicate an operation", (*mutant).duplicate},
	{constraints.RuleCompleteness, "name an operation that does not exist", (*mutant).unknown},
	{constraints.RuleCompleteness, "drop an order", (*mutant).dropOrder},
	{constraints.RulePlacement, "move to another device", (*mutant).move},
	{constraints.RulePlacement, "copy to another device", (*mutant).copy},
	{constraints.RuleChoice, "add the fused operation", (*mutant).addFused},
	{constraints.RuleChoice, "add one half", (*mutant).addHalf},
	{constraints.RuleChoice, "drop both cases", (*mutant).dropCase},
	{constraints.RuleTimeline, "forget a start", (*mutant).forgetStart},
	{constraints.RuleTimeline, "start an operation that is not held", (*mutant).stray},
	{constraints.RuleTimeline, "shorten the timeline", (*mutant).shorten},
	{constraints.RuleStart, "start before 0", (*mutant).negative},
	{constraints.RuleStart, "start too late", (*mutant).late},
	{constraints.RuleOrder, "swap neighbours", (*mutant).swap},
	{constraints.RuleExclusive, "overlap the one ahead", (*mutant).overlap},
	{constraints.RulePrecedence, "start before a predecessor ends", (*mutant).early},
	{constraints.RulePrecedence, "start before or after what runs once, too early", (*mutant).earlyOnce},
	{constraints.RuleLink, "start before a transfer is over", (*mutant).impatient},
	{constraints.RuleWait, "wait for what comes later", (*mutant).backwardWait},
	{constraints.RuleWait, "wait for an operation that does not exist", (*mutant).unknownWait},
	{constraints.RuleWait, "wait for an operation that is not held", (*mutant).waitForNothing},
}

func TestMutations(t *testing.T) {
	for _, m := range mutations {
		t.Run(fmt.Sprintf("%s/%s", m.rule, m.name), func(t *testing.T) {
			found := 0
			for seed := uint64(0); found < 40; seed++ {
				if seed == 4000 {
					t.Fatalf("only %d schedules could be mutated", found)
				}
				s := unlimited(t, seed)
				x := &mutant{s, rand.New(rand.NewPCG(seed, 0xbad))}
				if !m.mutate(x) {
					continue
				}
				found++
				demandOnly(t, x.schedule, m.rule, fmt.Sprintf("seed %d", seed))
			}
		})
	}
}

// unlimited returns a valid random schedule without memory limits or wait edges.
func unlimited(t *testing.T, seed uint64) schedule {
	pl := modelgen.RandomPipeline(seed, 4)
	for d := range pl.Devices {
		pl.Devices[d].Limit = model.Unlimited
	}
	p := compile(t, pl)
	s := randomSchedule(p, seed, 1)
	s.plan.Waits = nil
	return s
}

// demandOnly fails unless the judge finds violations of the rule, and of no other.
func demandOnly(t *testing.T, s schedule, rule constraints.Rule, what string) {
	t.Helper()
	report := s.check()
	if report.Counts[rule] == 0 {
		t.Fatalf("%s: rule %s is broken, the judge does not see it", what, rule)
	}
	if n := report.Total(); n != report.Counts[rule] {
		t.Fatalf("%s: more than rule %s is broken:\n%v", what, rule, report.Err())
	}
	want := 0
	if !rule.NeedsTimes() {
		want = report.Counts[rule]
	}
	if orders := constraints.CheckOrders(s.p, s.plan); orders.Counts[rule] != want || orders.Total() != want {
		t.Fatalf("%s: without times there should be %d violations of %s:\n%v", what, want, rule, orders.Err())
	}
	for _, v := range report.Violations {
		if v.Rule != rule || v.Message == "" {
			t.Fatalf("%s: violation %+v", what, v)
		}
	}
}

// entry draws a place in the orders.
func (x *mutant) entry() (d, i int, op model.OpID) {
	for {
		d = x.IntN(len(x.plan.Order))
		if n := len(x.plan.Order[d]); n > 0 {
			i = x.IntN(n)
			return d, i, x.plan.Order[d][i]
		}
	}
}

// remove takes an operation out of all orders.
func (x *mutant) remove(op model.OpID) {
	for d, order := range x.plan.Order {
		x.plan.Order[d] = slices.DeleteFunc(order, func(o model.OpID) bool { return o == op })
	}
}

func (x *mutant) drop() bool {
	_, _, op := x.entry()
	if x.p.Row(op).Choice == model.WhenFused {
		return false // breaks the rule of choice
	}
	x.remove(op)
	return true
}

func (x *mutant) dropFromGang() bool {
	d, i, op := x.entry()
	if len(x.p.Row(op).Devices) == 1 {
		return false
	}
	x.plan.Order[d] = slices.Delete(x.plan.Order[d], i, i+1)
	return true
}

func (x *mutant) duplicate() bool {
	d, i, op := x.entry()
	at := i + x.IntN(len(x.plan.Order[d])-i+1)
	x.plan.Order[d] = slices.Insert(x.plan.Order[d], at, op)
	return true
}

func (x *mutant) unknown() bool {
	d, i, _ := x.entry()
	unknown := []model.OpID{-1, model.OpID(x.p.NumOps()), 1<<31 - 1, -1 << 31}
	x.plan.Order[d] = slices.Insert(x.plan.Order[d], i, unknown[x.IntN(4)])
	return true
}

func (x *mutant) dropOrder() bool {
	x.plan.Order = x.plan.Order[1:]
	return true
}

func (x *mutant) move() bool {
	_, _, op := x.entry()
	x.remove(op)
	return x.insertElsewhere(op)
}

func (x *mutant) copy() bool {
	_, _, op := x.entry()
	return x.insertElsewhere(op)
}

func (x *mutant) insertElsewhere(op model.OpID) bool {
	to := x.IntN(x.p.NumDevices())
	if slices.Contains(x.p.Row(op).Devices, int32(to)) {
		return false
	}
	x.plan.Order[to] = slices.Insert(x.plan.Order[to], x.IntN(len(x.plan.Order[to])+1), op)
	return true
}

// chosen draws an operation that the plan holds and that is of the given case.
func (x *mutant) chosen(choice model.Choice) (op model.OpID, ok bool) {
	_, _, op = x.entry()
	return op, x.p.Row(op).Choice == choice
}

// sibling returns the operation of the same stage and micro-batch and another kind.
func (x *mutant) sibling(op model.OpID, kind model.Kind) model.OpID {
	for r := range x.p.Rows {
		row, own := &x.p.Rows[r], x.p.Row(op)
		if row.Kind == kind && row.Stage == own.Stage && row.Route == own.Route {
			return x.p.Op(r, x.p.MicroBatch(op))
		}
	}
	return -1
}

// appendLast lets an operation run after all others.
func (x *mutant) appendLast(op model.OpID) {
	end := model.Time(0)
	for o, s := range x.tl.Start {
		if s != model.Absent {
			end = max(end, x.tl.End(x.p, model.OpID(o)))
		}
	}
	x.tl.Start[op] = end + 10
	for _, d := range x.p.Row(op).Devices {
		x.plan.Order[d] = append(x.plan.Order[d], op)
	}
}

// awaited reports whether an operation of the pipeline's own waits for one of the
// other case than op: it would break the rule of precedence too.
func (x *mutant) awaited(op model.OpID, kind model.Kind) bool {
	r := int32(x.p.RowOf(x.sibling(op, kind)))
	return slices.ContainsFunc(x.p.Rows, func(row model.Row) bool {
		return row.Kind > model.SendBackward && slices.ContainsFunc(row.Preds, func(q model.Pred) bool { return q.Row == r })
	})
}

func (x *mutant) addFused() bool {
	op, ok := x.chosen(model.WhenSplit)
	if !ok || x.awaited(op, model.BackwardFull) {
		return false
	}
	x.appendLast(x.sibling(op, model.BackwardFull))
	return true
}

func (x *mutant) addHalf() bool {
	op, ok := x.chosen(model.WhenFused)
	if !ok || x.awaited(op, model.BackwardWeight) {
		return false
	}
	x.appendLast(x.sibling(op, model.BackwardWeight))
	return true
}

func (x *mutant) dropCase() bool {
	op, ok := x.chosen(model.WhenFused)
	if !ok {
		if op, ok = x.chosen(model.WhenSplit); !ok {
			return false
		}
		x.remove(x.sibling(op, model.BackwardInput))
		op = x.sibling(op, model.BackwardWeight)
	}
	x.remove(op)
	return true
}

func (x *mutant) forgetStart() bool {
	_, _, op := x.entry()
	x.tl.Start[op] = model.Absent
	return true
}

func (x *mutant) stray() bool {
	op, ok := x.chosen(model.WhenFused)
	if !ok {
		return false
	}
	x.tl.Start[x.sibling(op, model.BackwardWeight)] = model.Time(x.IntN(3))
	return true
}

func (x *mutant) shorten() bool {
	x.tl.Start = x.tl.Start[:x.IntN(len(x.tl.Start))]
	return true
}

func (x *mutant) negative() bool {
	_, _, op := x.entry()
	x.tl.Start[op] = -2 - model.Time(x.IntN(5))
	return true
}

func (x *mutant) late() bool {
	_, _, op := x.entry()
	x.tl.Start[op] = 1<<62 + model.Time(x.IntN(2))*(1<<62-1)
	return true
}

func (x *mutant) swap() bool {
	d, i, b := x.entry()
	if i == 0 {
		return false
	}
	order := x.plan.Order[d]
	a := order[i-1]
	order[i-1], order[i] = b, a
	return x.tl.Start[a] < x.tl.End(x.p, b)
}

// ahead returns when the device is free for the operation at a place.
func (x *mutant) ahead(d, i int) model.Time {
	if i == 0 {
		return 0
	}
	return x.tl.End(x.p, x.plan.Order[d][i-1])
}

func (x *mutant) overlap() bool {
	d, i, op := x.entry()
	if i == 0 || len(x.p.Row(op).Devices) > 1 || x.p.Duration(op) == 0 || x.p.Duration(x.plan.Order[d][i-1]) == 0 {
		return false
	}
	x.tl.Start[op] = x.ahead(d, i) - 1
	return x.tl.Start[op] >= x.earliest(op)
}

// producers lists the ends and lags of what an operation waits for.
func (x *mutant) producers(op model.OpID) (ends, lags []model.Time) {
	r := x.p.RowOf(op)
	for _, pred := range x.p.Rows[r].Preds {
		first, end := x.p.PredOps(r, x.p.Index(op), pred)
		for q := first; q < end; q++ {
			if producer := x.producer(q); producer >= 0 {
				ends, lags = append(ends, x.tl.End(x.p, producer)), append(lags, pred.Lag)
			}
		}
	}
	return ends, lags
}

// earlyOnce is early for an operation that runs once or waits for one.
func (x *mutant) earlyOnce() bool {
	_, _, op := x.entry()
	row := x.p.Row(op)
	once := row.Single
	for _, pred := range row.Preds {
		once = once || x.p.Rows[pred.Row].Single
	}
	ends, _ := x.producers(op)
	if !once || len(ends) == 0 {
		return false
	}
	start := slices.Max(ends) - 1
	for _, d := range row.Devices {
		if start < x.ahead(int(d), slices.Index(x.plan.Order[d], op)) {
			return false
		}
	}
	x.tl.Start[op] = start
	return x.check().Counts[constraints.RuleLink] == 0
}

func (x *mutant) early() bool {
	d, i, op := x.entry()
	ends, lags := x.producers(op)
	if len(ends) == 0 || len(x.p.Row(op).Devices) > 1 {
		return false
	}
	start := slices.Max(ends) - 1
	x.tl.Start[op] = start
	for k := range ends {
		if start >= ends[k] && start < ends[k]+lags[k] {
			return false // breaks the rule of links too
		}
	}
	return start >= x.ahead(d, i)
}

func (x *mutant) impatient() bool {
	d, i, op := x.entry()
	ends, _ := x.producers(op)
	if len(ends) == 0 || len(x.p.Row(op).Devices) > 1 {
		return false
	}
	start := x.earliest(op) - 1
	x.tl.Start[op] = start
	return start >= x.ahead(d, i) && start >= slices.Max(ends)
}

func (x *mutant) backwardWait() bool {
	_, _, a := x.entry()
	_, _, b := x.entry()
	x.plan.Waits = append(x.plan.Waits, model.Wait{Before: a, After: b})
	return x.tl.End(x.p, a) > x.tl.Start[b]
}

func (x *mutant) unknownWait() bool {
	_, _, op := x.entry()
	w := model.Wait{Before: op, After: model.OpID(x.p.NumOps())}
	if x.IntN(2) == 0 {
		w = model.Wait{Before: -1, After: op}
	}
	x.plan.Waits = append(x.plan.Waits, w)
	return true
}

func (x *mutant) waitForNothing() bool {
	op, ok := x.chosen(model.WhenFused)
	if !ok {
		return false
	}
	x.plan.Waits = append(x.plan.Waits, model.Wait{Before: x.sibling(op, model.BackwardWeight), After: op})
	return true
}

// TestOverfull tightens limits until a valid plan needs one unit too much.
func TestOverfull(t *testing.T) {
	found := 0
	for seed := uint64(0); found < 100; seed++ {
		s := unlimited(t, seed)
		d := int(seed) % s.p.NumDevices()
		peak, ops := peakOf(s, d)
		if peak == 0 {
			continue
		}
		found++
		pl := *s.p.Pipeline
		pl.Devices = slices.Clone(pl.Devices)
		pl.Devices[d].Limit = peak
		s.p = compile(t, &pl)
		if err := s.check().Err(); err != nil {
			t.Fatalf("seed %d: the limit is the peak: %v", seed, err)
		}
		pl.Devices[d].Limit = peak - 1
		s.p = compile(t, &pl)
		demandOnly(t, s, constraints.RuleMemory, fmt.Sprintf("seed %d", seed))
		if got := s.check().Counts[constraints.RuleMemory]; got != ops {
			t.Fatalf("seed %d: %d violations, %d moments are above the limit", seed, got, ops)
		}
	}
}

// peakOf returns the peak memory of a device, and how many moments reach it:
// the beginning, if static memory alone does, and each taking of memory.
func peakOf(s schedule, d int) (peak model.Bytes, times int) {
	held := s.p.Statics[d]
	moments := []model.Bytes{held}
	for _, op := range s.plan.Order[d] {
		delta := s.p.Row(op).MemoryOn(d)
		held += delta.AtStart
		if delta.AtStart > 0 {
			moments = append(moments, held)
		}
		held += delta.AtEnd
	}
	peak = slices.Max(moments)
	for _, m := range moments {
		if m == peak {
			times++
		}
	}
	return peak, times
}

// TestLaterWeight delays one weight gradient, which then holds its memory for
// too long.
func TestLaterWeight(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 3,
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{2}})
	f, i, w := 0, 1, 2
	plan := &model.Plan{Order: [][]model.OpID{{
		p.Op(f, 0), p.Op(i, 0), p.Op(w, 0), p.Op(f, 1), p.Op(i, 1), p.Op(w, 1), p.Op(f, 2), p.Op(i, 2), p.Op(w, 2),
	}}}
	order := plan.Order[0]
	order[2], order[3], order[4] = order[3], order[4], order[2]
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	report := constraints.Check(p, plan, tl)
	want := "memory: device 0 holds 3 at 0F1, limit 2; give back 1 before it"
	if err := report.Err(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if v := report.Violations[0]; v.Need != 2 || v.Have != 3 || v.Device != 0 || v.Ops[0] != p.Op(f, 1) {
		t.Errorf("violation %+v", v)
	}
}
