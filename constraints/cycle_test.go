package constraints_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// instant is a problem whose operations take no time, and a schedule in which
// all start at 0, in the orders given.
func instant(devices int, orders [][]model.OpID, waits ...model.Wait) schedule {
	p := modelgen.Problem(modelgen.Spec{Devices: devices, MicroBatches: 2,
		F: []model.Time{0}, I: []model.Time{0}, W: []model.Time{0}})
	return schedule{p, &model.Plan{Order: orders, Waits: waits}, &model.Timeline{Start: make([]model.Time, p.NumOps())}}
}

func TestCircles(t *testing.T) {
	// Rows, two operations each: 0F 0 1, 0I 2 3, 0W 4 5, 1F 6 7, 1I 8 9, 1W 10 11.
	for _, c := range []struct {
		s    schedule
		want string
	}{
		{instant(1, [][]model.OpID{{0, 1, 3, 5, 2, 4}}), ""},
		{instant(1, [][]model.OpID{{0, 2, 4, 1, 5, 3}}),
			"order: 0I1, 0W1 take no time, all at 0 ticks, and each waits for the next, the last for the first"},
		{instant(2, [][]model.OpID{{0, 2, 4, 1, 3, 5}, {6, 8, 7, 9, 10, 11}}), ""},
		{instant(2, [][]model.OpID{{0, 2, 4, 1, 3, 5}, {7, 9, 6, 8, 10, 11}}),
			"order: 0F1, 0W0, 0I0, 1I0, 1F0, 1I1, 1F1 take no time, all at 0 ticks, and each waits for the next, the last for the first"},
		{instant(1, [][]model.OpID{{0, 2, 4, 1, 3, 5}}, model.Wait{Before: 3, After: 0}), "order: 0F0, 0I1, 0F1, 0W0, 0I0 take no time, all at 0 ticks, and each waits for the next, the last for the first"},
		{instant(1, [][]model.OpID{{0, 2, 4, 1, 3, 5}}, model.Wait{Before: 4, After: 4}), "order: 0W0 waits for itself"},
	} {
		got := ""
		if err := c.s.check().Err(); err != nil {
			got = err.Error()
		}
		if _, err := model.Evaluate(c.s.p, c.s.plan); (err == nil) != (got == "") {
			t.Errorf("Evaluate says %v, the judge %q", err, got)
		}
		if got != c.want {
			t.Errorf("orders %v:\ngot  %s\nwant %s", c.s.plan.Order, got, c.want)
		}
	}
}

// TestAcceptedPlansCanRun exchanges neighbours that start at one moment, which
// the times alone do not forbid: the judge accepts what Evaluate can run, and
// nothing else.
func TestAcceptedPlansCanRun(t *testing.T) {
	accepted, refused := 0, 0
	for seed := range uint64(4000) {
		pl := modelgen.RandomPipeline(seed, 3)
		for s := range pl.Stages {
			pl.Stages[s].Activation, pl.Stages[s].FreedByInput = 0, 0 // memory does not depend on the order
			for i := range pl.Stages[s].Replicas {
				shorten(&pl.Stages[s].Replicas[i].Durations)
			}
		}
		s := randomSchedule(compile(t, pl), seed, 0)
		r := rand.New(rand.NewPCG(seed, 0xc1c1e))
		for range 4 {
			s.exchange(r)
		}
		tl, err := model.Evaluate(s.p, s.plan)
		report := s.check()
		if report.OK() != (err == nil) {
			t.Fatalf("seed %d: Evaluate says %v, the judge %v", seed, err, report.Err())
		}
		if err != nil {
			refused++
			demandOnly(t, s, constraints.RuleOrder, fmt.Sprintf("seed %d", seed))
			continue
		}
		accepted++
		for op, start := range tl.Start {
			if start > s.tl.Start[op] {
				t.Fatalf("seed %d: operation %d starts at %d, the earliest start is %d", seed, op, s.tl.Start[op], start)
			}
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d accepted, %d refused: the test is one-sided", accepted, refused)
	}
}

// shorten lets most operations take no time.
func shorten(d *model.Durations) {
	for _, t := range []*model.Time{&d.Forward, &d.BackwardInput, &d.BackwardWeight, &d.BackwardFull} {
		if *t > 1 {
			*t = 0
		}
	}
}

// exchange swaps two neighbours of length 0 that start at one moment, if the
// place that it draws has such.
func (s schedule) exchange(r *rand.Rand) {
	order := s.plan.Order[r.IntN(len(s.plan.Order))]
	if len(order) < 2 {
		return
	}
	i := 1 + r.IntN(len(order)-1)
	a, b := order[i-1], order[i]
	if s.tl.Start[a] == s.tl.Start[b] && s.p.Duration(a) == 0 && s.p.Duration(b) == 0 {
		order[i-1], order[i] = b, a
	}
}
