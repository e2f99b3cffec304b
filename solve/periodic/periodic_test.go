package periodic_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/periodic"
)

// vshape is two chunks on each device, 0..P-1 and back. An activation takes 2, of
// which the backward input gives back 1; limit is in chunks, 0 for none.
func vshape(devices, microBatches int, f, i, w, latency model.Time, limit model.Bytes) modelgen.Spec {
	placement, err := model.VPlacement(2*devices, devices)
	if err != nil {
		panic(err)
	}
	s := modelgen.Spec{
		Devices: devices, MicroBatches: microBatches, Placement: placement, Latency: latency,
		F: []model.Time{f}, I: []model.Time{i}, W: []model.Time{w},
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1},
	}
	if limit > 0 {
		s.Limit = slices.Repeat([]model.Bytes{2 * limit}, devices)
	}
	return s
}

func find(t testing.TB, p *model.Problem, o periodic.Options) *periodic.Pattern {
	t.Helper()
	pattern, err := periodic.Find(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return pattern
}

// judged returns the makespan of a plan that keeps every rule.
func judged(t testing.TB, p *model.Problem, plan *model.Plan) model.Time {
	t.Helper()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := constraints.Check(p, plan, tl).Err(); err != nil {
		t.Fatal(err)
	}
	return model.Measure(p, plan, tl).Makespan
}

// TestKnownPeriods holds smallest periods and shortest spans that an integer
// programming code found too, and makespans that exact search proved best where it
// ended. Half memory is that of P chunks on a device.
func TestKnownPeriods(t *testing.T) {
	for _, c := range []struct {
		name         string
		spec         modelgen.Spec
		period, span model.Time
		makespan     model.Time
	}{
		{"unit costs, 4 devices", vshape(4, 8, 1, 1, 1, 0, 4), 6, 17, 59},
		{"unit costs, 4 devices, 16 micro-batches", vshape(4, 16, 1, 1, 1, 0, 4), 6, 17, 107},
		{"unit costs, 8 devices", vshape(8, 32, 1, 1, 1, 0, 8), 6, 34, 220},
		{"uneven costs, 4 devices", vshape(4, 8, 10, 11, 9, 1, 4), 70, 193, 683},
		{"uneven costs, 4 devices, 32 micro-batches", vshape(4, 32, 10, 11, 9, 1, 4), 70, 193, 2363},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := modelgen.Problem(c.spec)
			got := find(t, p, periodic.Options{})
			if got.Period != c.period || got.Span != c.span || !got.Proved {
				t.Errorf("period %d, span %d, proved %t; want %d, %d, true", got.Period, got.Span, got.Proved, c.period, c.span)
			}
			if value := judged(t, p, got.Unroll(p)); value > c.makespan {
				t.Errorf("makespan %d, want at most %d", value, c.makespan)
			}
		})
	}
}

// drawn returns a random pipeline of one route and equal micro-batches: with gangs,
// stage graphs, links, blocking transfers, recomputation, operations of no length.
func drawn(seed uint64) *model.Pipeline {
	pl := modelgen.RandomPipeline(seed, 20)
	pl.Routes, pl.Factors = nil, nil
	pl.Operations = slices.DeleteFunc(pl.Operations, func(o model.Operation) bool { return o.Single })
	for s := range pl.Stages {
		pl.Stages[s].Replicas = pl.Stages[s].Replicas[:1]
	}
	return pl
}

// TestRandomProblems unrolls the pattern of a problem for 1 to 20 micro-batches,
// before the judge.
func TestRandomProblems(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(250) {
		pl := drawn(seed)
		for _, fused := range []bool{false, true} {
			p, err := model.Compile(pl)
			if err != nil {
				t.Fatal(err)
			}
			got := find(t, p, periodic.Options{Fused: fused, MaxNodes: 2000})
			if !got.Proved {
				kinds["unproved"]++
			}
			for m := 1; m <= 20; m++ {
				more := *pl
				more.MicroBatches = m
				q, err := model.Compile(&more)
				if err != nil {
					t.Fatal(err)
				}
				value := judged(t, q, got.Unroll(q))
				if most := model.Time(m-1)*got.Period + got.Span; value > most {
					t.Fatalf("seed %d, %d micro-batches: makespan %d, more than %d", seed, m, value, most)
				}
			}
			if !p.HasChoice {
				break
			}
			kinds["choice"]++
		}
	}
	t.Log(kinds)
	if kinds["choice"] < 20 || kinds["unproved"] > 50 {
		t.Errorf("the problems are one-sided, or too hard: %v", kinds)
	}
}

// TestSolveRandomProblems has the engine justify its plans; Offer judges them.
func TestSolveRandomProblems(t *testing.T) {
	for seed := range uint64(120) {
		p, err := model.Compile(drawn(seed + 1000))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		r, err := periodic.New().Solve(ctx, p, solve.Options{})
		cancel()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if r.Plan == nil && r.Status != solve.Infeasible {
			t.Fatalf("seed %d: %s: %s", seed, r.Status, r.Reason)
		}
	}
}

func TestRefusals(t *testing.T) {
	factors := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Factors: []int64{1, 2}})
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2})
	pl.Stages[0].Replicas = append(pl.Stages[0].Replicas, pl.Stages[0].Replicas[0])
	pl.Stages[0].Replicas[1].Devices = []int{1}
	pl.Routes = []int{0, 1}
	routes, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p       *model.Problem
		feature string
	}{
		{factors, "micro-batches that differ"},
		{routes, "several routes"},
		{once(t), "operations of a whole iteration"},
		{modelgen.Unit(400, 1), "more than 1000 rows of operations"},
		{modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, F: []model.Time{1 << 45}}), "micro-batches longer than 1099511627776 ticks"},
	} {
		var refusal *solve.FeatureError
		if _, err := periodic.Find(context.Background(), c.p, periodic.Options{}); !errors.As(err, &refusal) || refusal.Feature != c.feature {
			t.Errorf("error %v, want a refusal of %s", err, c.feature)
		}
	}
}

// once returns a problem with an operation that runs once.
func once(t *testing.T) *model.Problem {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2})
	pl.Operations = []model.Operation{{Name: "step", Letter: "STEP", Stage: 0, Single: true, After: []model.Ref{{Kind: model.Backward}}}}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEqualFactors has micro-batches that are alike, but not as the rows say.
func TestEqualFactors(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 3, Factors: []int64{5, 5, 5}})
	if got := find(t, p, periodic.Options{}); got.Period != 15 {
		t.Errorf("period %d, want 15", got.Period)
	}
}

func TestNoPattern(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 2, Activation: []model.Bytes{3}, Limit: []model.Bytes{2}})
	if _, err := periodic.Find(context.Background(), p, periodic.Options{}); !errors.Is(err, periodic.ErrNone) {
		t.Errorf("with too little memory: %v", err)
	}
	if r := run(t, p, solve.Options{}); r.Status != solve.Infeasible {
		t.Errorf("with too little memory: %s", r.Status)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p = modelgen.Problem(vshape(4, 8, 1, 1, 1, 0, 4))
	got, err := periodic.Find(ctx, p, periodic.Options{})
	if err != nil {
		t.Fatalf("with an ended context: %v", err)
	}
	if got.Proved {
		t.Error("a proof without a search")
	}
	judged(t, p, got.Unroll(p))
}

func TestSameAgain(t *testing.T) {
	for seed := range uint64(30) {
		p, err := model.Compile(drawn(seed))
		if err != nil {
			t.Fatal(err)
		}
		a, b := find(t, p, periodic.Options{}), find(t, p, periodic.Options{})
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: %v, then %v", seed, a, b)
		}
	}
}
