package model_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/google/go-cmp/cmp"
)

// fixpoint is a slow evaluator that has nothing in common with the fast one: it
// raises starts until no order, predecessor or wait edge asks for more. It
// returns false if that does not end or an operation waits for one that the plan
// does not hold. Each operation takes a small part of a tick more, so that
// cycles of operations without duration do not end either.
func fixpoint(p *model.Problem, plan *model.Plan) ([]model.Time, bool) {
	start := make([]model.Time, p.NumOps())
	copies := make([]int, p.NumOps())
	for op := range start {
		start[op] = model.Absent
	}
	for _, order := range plan.Order {
		for _, op := range order {
			start[op] = 0
			copies[op]++
		}
	}
	for op, n := range copies {
		if n > 0 && n != len(p.Row(model.OpID(op)).Devices) {
			return nil, false
		}
	}
	for range p.NumOps() + 1 {
		changed, ok := raise(p, plan, start)
		if !ok {
			return nil, false
		}
		if !changed {
			for op, s := range start {
				if s != model.Absent {
					start[op] = s / parts
				}
			}
			return start, true
		}
	}
	return nil, false
}

// parts is how many parts a tick has: more than there are operations.
const parts = 1 << 20

// raise lifts every start to what it waits for, once.
func raise(p *model.Problem, plan *model.Plan, start []model.Time) (changed, ok bool) {
	ok = true
	wait := func(after, before model.OpID, lag model.Time) {
		if start[before] == model.Absent {
			if row := p.Row(before); row.Twin >= 0 {
				before = p.Op(int(row.Twin), p.MicroBatch(before))
			}
			if start[before] == model.Absent {
				ok = false
				return
			}
		}
		if least := start[before] + (p.Duration(before)+lag)*parts + 1; start[after] < least {
			start[after], changed = least, true
		}
	}
	for op := range model.OpID(p.NumOps()) {
		if start[op] == model.Absent {
			continue
		}
		r := p.RowOf(op)
		for _, pred := range p.Rows[r].Preds {
			first, end := p.PredOps(r, p.Index(op), pred)
			for q := first; q < end; q++ {
				if row := p.Row(q); row.Choice == model.Always || row.Twin >= 0 || start[q] != model.Absent {
					wait(op, q, pred.Lag)
				}
			}
		}
	}
	for _, w := range plan.Waits {
		if start[w.After] != model.Absent {
			wait(w.After, w.Before, 0)
		}
	}
	for _, order := range plan.Order {
		for i := 1; i < len(order); i++ {
			wait(order[i], order[i-1], 0)
		}
	}
	return changed, ok
}

// swapped exchanges neighbours in the orders, n times. Choices may break too.
func swapped(plan *model.Plan, r *rand.Rand, n int) {
	for range n {
		order := plan.Order[r.IntN(len(plan.Order))]
		if len(order) > 1 {
			i := 1 + r.IntN(len(order)-1)
			order[i-1], order[i] = order[i], order[i-1]
		}
	}
}

func TestEvaluateAgreesWithFixpoint(t *testing.T) {
	valid, invalid := 0, 0
	for seed := range uint64(3000) {
		p := mustCompile(t, modelgen.RandomPipeline(seed, 5))
		r := rand.New(rand.NewPCG(seed, 0xe7a1))
		plan, sequence := modelgen.RandomPlan(p, seed)
		for range r.IntN(3) {
			a, b := r.IntN(len(sequence)), r.IntN(len(sequence))
			plan.Waits = append(plan.Waits, model.Wait{Before: sequence[a], After: sequence[b]})
		}
		swapped(plan, r, r.IntN(4))
		if r.IntN(10) == 0 {
			d := r.IntN(len(plan.Order))
			if n := len(plan.Order[d]); n > 0 {
				i := r.IntN(n)
				plan.Order[d] = slices.Delete(plan.Order[d], i, i+1)
			}
		}
		tl, err := model.Evaluate(p, plan)
		want, ok := fixpoint(p, plan)
		if ok != (err == nil) {
			t.Fatalf("seed %d: fixpoint found: %t, Evaluate: %v", seed, ok, err)
		}
		if !ok {
			invalid++
			var cycle *model.CycleError
			if !errors.As(err, &cycle) || len(cycle.Ops) == 0 || len(cycle.Ops) != len(cycle.Reasons) {
				t.Fatalf("seed %d: error %v", seed, err)
			}
			if strings.Contains(err.Error(), "cannot start") {
				t.Fatalf("seed %d: error without a reason: %v", seed, err)
			}
			continue
		}
		valid++
		if diff := cmp.Diff(want, tl.Start); diff != "" {
			t.Fatalf("seed %d: -want +got\n%s", seed, diff)
		}
	}
	if valid < 300 || invalid < 300 {
		t.Errorf("%d plans could run and %d could not: the test is one-sided", valid, invalid)
	}
}

// named returns a plan whose orders are given by the names of operations.
func named(p *model.Problem, orders ...string) *model.Plan {
	plan := &model.Plan{}
	for _, order := range orders {
		ids := []model.OpID{}
		for name := range strings.FieldsSeq(order) {
			ids = append(ids, idOf(p, name))
		}
		plan.Order = append(plan.Order, ids)
	}
	return plan
}

func idOf(p *model.Problem, name string) model.OpID {
	for op := range model.OpID(p.NumOps()) {
		if p.Name(op) == name {
			return op
		}
	}
	panic("no operation " + name)
}

// startsOf lists the starts of operations by name.
func startsOf(p *model.Problem, tl *model.Timeline, names string) []model.Time {
	var starts []model.Time
	for name := range strings.FieldsSeq(names) {
		starts = append(starts, tl.Start[idOf(p, name)])
	}
	return starts
}

func TestEvaluateByHand(t *testing.T) {
	gang := chain(model.Split, durations(2, 3, none, none), durations(1, 1, none, none))
	gang.Stages[1].Replicas[0].Devices = []int{0, 1}
	gang.Devices = append(gang.Devices, model.Device{Limit: model.Unlimited})
	gang.Stages = append(gang.Stages, model.Stage{Replicas: []model.Replica{{Devices: []int{1}, Durations: durations(7, none, none, none)}}})
	blocking := chain(model.Fused, durations(1, none, none, 2), durations(1, none, none, 2))
	blocking.Blocking, blocking.Latency = true, 3
	auto := chain(model.Auto, durations(1, 2, 3, 4), durations(1, 2, 3, 4))
	auto.Latency = 1
	for _, c := range []struct {
		name   string
		pl     *model.Pipeline
		orders []string
		want   []model.Time // in the order of the orders
	}{
		{"gang waits for its last device", gang,
			[]string{"0F0 1F0 1I0 0I0 0F1 1F1 1I1 0I1", "2F0 1F0 1I0 1F1 1I1 2F1", ""},
			[]model.Time{0, 7, 8, 9, 12, 14, 15, 16, 0, 7, 8, 14, 15, 16}},
		{"transfers occupy both devices", blocking,
			[]string{
				"0F0 0F1 0SEND_F0>1 0SEND_F1>1 1SEND_B0>0 0B0 1SEND_B1>0 0B1",
				"0SEND_F0>1 0SEND_F1>1 1F0 1B0 1F1 1SEND_B0>0 1B1 1SEND_B1>0"},
			[]model.Time{0, 1, 2, 5, 12, 15, 17, 20, 2, 5, 8, 9, 11, 12, 15, 17}},
		{"both cases of a choice", auto,
			[]string{"0F0 0F1 0I0 0W0 0B1", "1F0 1B0 1F1 1I1 1W1"},
			[]model.Time{0, 1, 8, 10, 13, 2, 3, 7, 8, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, c.pl)
			tl, err := model.Evaluate(p, named(p, c.orders...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, startsOf(p, tl, strings.Join(c.orders, " "))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEvaluateWaits: a wait edge delays, also where it goes against the flow of
// time between devices, and one for an operation of the other case waits for what
// stands in.
func TestEvaluateWaits(t *testing.T) {
	auto := mustCompile(t, chain(model.Auto, durations(1, 2, 3, 4), durations(1, 2, 3, 4)))
	orders := []string{"0F0 0F1 0I0 0W0 0B1", "1F0 1B0 1F1 1I1 1W1"}
	for _, c := range []struct {
		before, after string
		want          model.Time // start of after
	}{
		{"1B0", "0F1", 6}, {"1I0", "0F1", 6}, {"1W1", "0B1", 12}, {"0F0", "1W1", 9},
	} {
		plan := named(auto, orders...)
		plan.Waits = []model.Wait{{Before: idOf(auto, c.before), After: idOf(auto, c.after)}}
		tl, err := model.Evaluate(auto, plan)
		if err != nil {
			t.Fatal(err)
		}
		if got := tl.Start[idOf(auto, c.after)]; got != c.want {
			t.Errorf("%s waits for %s: starts at %d, want %d", c.after, c.before, got, c.want)
		}
	}
	// An edge before an operation that the plan does not hold says nothing.
	plan := named(auto, orders...)
	plan.Waits = []model.Wait{{Before: idOf(auto, "1W1"), After: idOf(auto, "0B0")}}
	if _, err := model.Evaluate(auto, plan); err != nil {
		t.Error(err)
	}
}

func TestEvaluateErrors(t *testing.T) {
	pair := mustCompile(t, chain(model.Split, durations(1, 1, none, none), durations(1, 1, none, none)))
	gangs := chain(model.Split, durations(1, none, none, none), durations(1, none, none, none))
	for s := range gangs.Stages {
		gangs.Stages[s].Replicas[0].Devices = []int{0, 1}
		gangs.Stages[s].After = nil
	}
	gang := mustCompile(t, gangs)
	auto := mustCompile(t, chain(model.Auto, durations(1, 2, 3, 4)))
	const cycle, missing = "the plan cannot run, its orders form a cycle: ", "the plan cannot run, an operation is missing: "
	for _, c := range []struct {
		p      *model.Problem
		orders []string
		waits  []model.Wait
		want   string
	}{
		{pair, []string{"0F0"}, nil, "the plan has orders for 1 devices, the problem has 2"},
		{pair, []string{"0F0 1F0", ""}, nil, "device 0, position 1: 1F0 runs on device 1"},
		{pair, []string{"0F0 0F1 0F0", ""}, nil, "device 0, position 2: 0F0 stands in the order twice"},
		{gang, []string{"0F0", "0F0 0F0"}, nil, "device 1, position 1: 0F0 stands in the order twice"},
		{pair, []string{"0F0 0I0", "1F0"}, nil, missing + "0I0 (device 0) waits for 1I0, which is not in the order of device 1"},
		{pair, []string{"", "1I0 1F0"}, nil, cycle + "1I0 (device 1) waits for 1F0, which stands behind 1I0 on device 1"},
		{pair, []string{"0F0 0I0 0F1", "1F1 1F0 1I0"}, nil, cycle +
			"0I0 (device 0) waits for 1I0, which stands behind 1F1 on device 1; 1F1 (device 1) waits for 0F1, which stands behind 0I0 on device 0"},
		{pair, []string{"0I1 0F1 0F0", ""}, nil, cycle + "0I1 (device 0) waits for 0F1, which stands behind 0I1 on device 0"},
		{pair, []string{"0F0 0F1", ""}, []model.Wait{{Before: idOf(pair, "0F1"), After: idOf(pair, "0F0")}}, cycle +
			"0F0 (device 0) waits for 0F1, which stands behind 0F0 on device 0"},
		{pair, []string{"0F0", ""}, []model.Wait{{Before: idOf(pair, "0F0"), After: idOf(pair, "0F0")}}, cycle + "0F0 (device 0) waits for 0F0"},
		{pair, []string{"0F0", ""}, []model.Wait{{Before: 99, After: 0}}, "a wait edge names operation 99, which does not exist"},
		{pair, []string{"0F0", ""}, []model.Wait{{Before: 0, After: -7}}, "a wait edge names operation -7, which does not exist"},
		{gang, []string{"0F0 1F0", "1F0 0F0"}, nil, cycle +
			"0F0 (device 0) waits for device 1 to reach it, which stands behind 1F0 on device 1; 1F0 (device 1) waits for device 0 to reach it, which stands behind 0F0 on device 0"},
		{gang, []string{"0F0 1F0", "0F0"}, nil, missing + "1F0 (device 0) waits for device 1 to reach it, which is not in the order of device 1"},
		{auto, []string{"0F0 0W0"}, nil, missing + "0W0 (device 0) waits for 0I0, which is not in the order of device 0"},
	} {
		plan := named(c.p, c.orders...)
		plan.Waits = c.waits
		_, err := model.Evaluate(c.p, plan)
		if err == nil || err.Error() != c.want {
			t.Errorf("orders %q:\ngot  %v\nwant %s", c.orders, err, c.want)
		}
	}
	for _, op := range []model.OpID{-1, 99} {
		_, err := model.Evaluate(pair, &model.Plan{Order: [][]model.OpID{{0, op}, {}}})
		var entry *model.PlanError
		if !errors.As(err, &entry) || entry.Device != 0 || entry.Position != 1 || entry.Problem != "does not exist" {
			t.Errorf("operation %d: %v", op, err)
		}
	}
}

func TestMeasure(t *testing.T) {
	pl := chain(model.Fused, durations(1, none, none, 2), durations(1, none, none, 2))
	pl.Blocking, pl.Latency = true, 3
	pl.Stages[0].Static = 10
	pl.Stages[0].FreedByInput = -1
	pl.Devices = append(pl.Devices, model.Device{Limit: model.Unlimited})
	p := mustCompile(t, pl)
	plan := named(p,
		"0F0 0F1 0SEND_F0>1 0SEND_F1>1 1SEND_B0>0 0B0 1SEND_B1>0 0B1",
		"0SEND_F0>1 0SEND_F1>1 1F0 1B0 1F1 1SEND_B0>0 1B1 1SEND_B1>0", "")
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	m := model.Measure(p, plan, tl)
	want := &model.Metrics{Makespan: 22, Span: 22, Ideal: 6, Devices: []model.DeviceMetrics{
		{First: 0, Last: 22, Busy: 6, Peak: 21}, {First: 2, Last: 20, Busy: 6, Peak: 5}, {},
	}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if m.Value(model.Span) != 22 || m.BubbleRatio(model.Makespan) != 16./22 || m.BubbleOverIdeal(model.Makespan) != 16./6 || m.IdleRatio(2) != 1 {
		t.Error("ratios")
	}
}
