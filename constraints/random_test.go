package constraints_test

import (
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"pgregory.net/rapid"
)

// schedule is a valid plan with a timeline that may idle.
type schedule struct {
	p    *model.Problem
	plan *model.Plan
	tl   *model.Timeline
}

func (s schedule) check() *constraints.Report { return constraints.Check(s.p, s.plan, s.tl) }

func compile(t testing.TB, pl *model.Pipeline) *model.Problem {
	t.Helper()
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomSchedule places the operations of a random plan one by one, each as
// early as it may or a little later, with some wait edges along the sequence.
func randomSchedule(p *model.Problem, seed uint64, slack int) schedule {
	r := rand.New(rand.NewPCG(seed, 0x71e))
	plan, sequence := modelgen.RandomPlan(p, seed)
	for range r.IntN(3) {
		a, b := r.IntN(len(sequence)), r.IntN(len(sequence))
		if a != b {
			plan.Waits = append(plan.Waits, model.Wait{Before: sequence[min(a, b)], After: sequence[max(a, b)]})
		}
	}
	s := schedule{p, plan, &model.Timeline{Start: make([]model.Time, p.NumOps())}}
	for op := range s.tl.Start {
		s.tl.Start[op] = model.Absent
	}
	free := make([]model.Time, p.NumDevices())
	for _, op := range sequence {
		start := s.earliest(op)
		for _, d := range p.Row(op).Devices {
			start = max(start, free[d])
		}
		start += model.Time(r.IntN(slack + 1))
		s.tl.Start[op] = start
		for _, d := range p.Row(op).Devices {
			free[d] = start + p.Duration(op)
		}
	}
	return s
}

// earliest returns the earliest start that predecessors and wait edges allow.
func (s schedule) earliest(op model.OpID) model.Time {
	start := model.Time(0)
	r := s.p.RowOf(op)
	for _, pred := range s.p.Rows[r].Preds {
		first, end := s.p.PredOps(r, s.p.Index(op), pred)
		for q := first; q < end; q++ {
			if producer := s.producer(q); producer >= 0 {
				start = max(start, s.tl.End(s.p, producer)+pred.Lag)
			}
		}
	}
	for _, w := range s.plan.Waits {
		if w.After == op {
			start = max(start, s.tl.End(s.p, w.Before))
		}
	}
	return start
}

// producer returns the operation itself or the one that stands in for it, -1 if the
// timeline holds neither.
func (s schedule) producer(q model.OpID) model.OpID {
	if s.tl.Start[q] != model.Absent {
		return q
	}
	if twin := s.p.Row(q).Twin; twin >= 0 {
		return s.p.Op(int(twin), s.p.MicroBatch(q))
	}
	return -1
}

func TestRandomSchedulesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		p, err := model.Compile(modelgen.RandomPipeline(seed, 5))
		if err != nil {
			t.Fatal(err)
		}
		s := randomSchedule(p, seed, rapid.IntRange(0, 3).Draw(t, "slack"))
		if err := s.check().Err(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEvaluatedPlansAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		spec := modelgen.Random(seed, 6)
		spec.Blocking = rapid.Bool().Draw(t, "blocking")
		p := modelgen.Problem(spec)
		s := randomSchedule(p, seed, 0)
		tl, err := model.Evaluate(p, s.plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := constraints.Check(p, s.plan, tl).Err(); err != nil {
			t.Fatal(err)
		}
	})
}
