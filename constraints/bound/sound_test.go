package bound_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

var instances = flag.Int("instances", 400, "random instances that TestSound solves for each objective")

// tiny returns a random pipeline of at most about 20 operations, of any shape
// that the configuration allows.
func tiny(seed uint64) *model.Pipeline {
	r := rand.New(rand.NewPCG(seed, 17))
	s := modelgen.Spec{Devices: 1 + r.IntN(3), Latency: model.Time(max(0, r.IntN(5)-2))}
	stages := s.Devices + r.IntN(3)
	if r.IntN(4) == 0 {
		stages = 2 * s.Devices
	}
	s.Placement = placement(r, stages, s.Devices)
	s.MicroBatches = max(1, 1+r.IntN(max(1, 20/(3*stages))))
	if r.IntN(3) == 0 {
		s.MicroBatches++
	}
	s.Backward = model.Mode(r.IntN(3))
	s.Blocking = r.IntN(6) == 0
	for range stages {
		s.F = append(s.F, model.Time(r.IntN(5)))
		s.I = append(s.I, model.Time(r.IntN(5)))
		s.W = append(s.W, model.Time(r.IntN(5)))
		s.B = append(s.B, max(0, s.I[len(s.I)-1]+s.W[len(s.W)-1]+model.Time(r.IntN(4)-2)))
		s.Activation = append(s.Activation, model.Bytes(r.IntN(4)))
	}
	for _, a := range s.Activation {
		s.FreedByI = append(s.FreedByI, model.Bytes(r.IntN(int(a)+3)-2))
	}
	for k := range s.FreedByI {
		s.FreedByI[k] = min(s.FreedByI[k], s.Activation[k])
	}
	if r.IntN(4) != 0 {
		s.Limit = limits(r, s)
	}
	if r.IntN(6) == 0 {
		for range s.MicroBatches {
			s.Factors = append(s.Factors, 1+r.Int64N(3))
		}
	}
	pl := modelgen.Pipeline(s)
	vary(r, pl)
	return pl
}

func placement(r *rand.Rand, stages, devices int) [][]int {
	if place, err := model.VPlacement(stages, devices); err == nil && r.IntN(2) == 0 {
		return place
	}
	place := model.LoopPlacement(stages, devices)
	for k := range place {
		if r.IntN(8) == 0 {
			place[k] = []int{r.IntN(devices)}
		}
		if other := r.IntN(devices); r.IntN(10) == 0 && other != place[k][0] {
			place[k] = append(place[k], other)
		}
	}
	return place
}

func limits(r *rand.Rand, s modelgen.Spec) []model.Bytes {
	limits := make([]model.Bytes, s.Devices)
	for k, devices := range s.Placement {
		for _, d := range devices {
			limits[d] += s.Activation[k] + max(0, -s.FreedByI[k])
		}
	}
	for d := range limits {
		limits[d] = max(0, limits[d]+model.Bytes(r.IntN(6)-1))
	}
	return limits
}

// vary changes a pipeline in ways that a Spec has no words for.
func vary(r *rand.Rand, pl *model.Pipeline) {
	last := len(pl.Stages) - 1
	if r.IntN(10) == 0 && last >= 2 { // two branches that join in the last stage
		pl.Stages[1].After, pl.Stages[last].After = nil, []int{0, 1}
		for k := 2; k < last; k++ {
			pl.Stages[k].After = []int{k - 2}
			pl.Stages[last].After = append(pl.Stages[last].After, k)
		}
	}
	if r.IntN(10) == 0 && len(pl.Devices) > 1 && pl.MicroBatches > 1 { // two directions
		for k := range pl.Stages {
			second := model.Replica{Durations: pl.Stages[k].Replicas[0].Durations}
			for _, d := range pl.Stages[k].Replicas[0].Devices {
				second.Devices = append(second.Devices, len(pl.Devices)-1-d)
			}
			pl.Stages[k].Replicas = append(pl.Stages[k].Replicas, second)
		}
		for range pl.MicroBatches {
			pl.Routes = append(pl.Routes, r.IntN(2))
		}
	}
	if r.IntN(10) == 0 { // frozen weights
		pl.Stages[r.IntN(last+1)].Replicas[0].Durations.BackwardWeight = model.Absent
	}
	if r.IntN(20) == 0 { // evaluation
		for k := range pl.Stages {
			for i := range pl.Stages[k].Replicas {
				d := &pl.Stages[k].Replicas[i].Durations
				d.BackwardInput, d.BackwardWeight, d.BackwardFull = model.Absent, model.Absent, model.Absent
			}
		}
	}
}

func describe(pl *model.Pipeline) string {
	text := fmt.Sprintf("M=%d factors=%v routes=%v latency=%d blocking=%v\n", pl.MicroBatches, pl.Factors, pl.Routes, pl.Latency, pl.Blocking)
	for d, dev := range pl.Devices {
		text += fmt.Sprintf("device %d limit %d\n", d, dev.Limit)
	}
	for s, st := range pl.Stages {
		text += fmt.Sprintf("stage %d %+v\n", s, st)
	}
	for i, o := range pl.Operations {
		text += fmt.Sprintf("operation %d %+v\n", i, o)
	}
	return text
}

// enough is how many instances are solved: fewer in short runs, with the race detector.
func enough() int {
	if testing.Short() {
		return *instances / 8
	}
	return *instances
}

// TestSound compares bounds with exhaustive search.
func TestSound(t *testing.T) {
	for _, objective := range []model.Objective{model.Makespan, model.Span} {
		t.Run(objective.String(), func(t *testing.T) { testSound(t, objective) })
	}
}

func testSound(t *testing.T, objective model.Objective) {
	solved, tight, infeasible, proved := 0, 0, 0, 0
	for seed := uint64(0); solved < enough(); seed++ {
		pl := tiny(seed)
		if seed%2 == 1 {
			modelgen.AddOperations(pl, seed)
		}
		pl.Objective = objective
		p, err := model.Compile(pl)
		if err != nil || p.NumOps() > 30 {
			continue
		}
		best, ok := solve(p, objective, seed)
		if !ok {
			continue
		}
		solved++
		no := bound.Infeasible(p)
		if best == infinite {
			infeasible++
			if no != nil {
				proved++
			}
			continue
		}
		if no != nil {
			t.Fatalf("seed %d: called infeasible (%s), but has a schedule\n%s", seed, no.Reason, describe(pl))
		}
		b := bound.Lower(p)
		if b.Value > best {
			t.Fatalf("seed %d: bound %d above the optimum %d: %s\n%s", seed, b.Value, best, b.Reason, describe(pl))
		}
		if b.Value == best {
			tight++
		}
	}
	t.Logf("%d solved: bound equals the optimum in %d; %d infeasible, %d proved so", solved, tight, infeasible, proved)
}

// TestSoundLarger looks for schedules below the bound of chains with more
// micro-batches, where memory limits need several of them to bite.
func TestSoundLarger(t *testing.T) {
	searched := 0
	for seed := uint64(0); searched < enough(); seed++ {
		r := rand.New(rand.NewPCG(seed, 23))
		s := modelgen.Spec{Devices: 1 + r.IntN(3), Latency: model.Time(r.IntN(2)), Backward: model.Mode(r.IntN(2))}
		stages := s.Devices * (1 + r.IntN(2))
		s.MicroBatches = 2 + r.IntN(5)
		s.Placement = model.LoopPlacement(stages, s.Devices)
		if r.IntN(2) == 0 {
			s.Placement, _ = model.VPlacement(stages, s.Devices)
		}
		for range stages {
			s.F, s.I, s.W = append(s.F, model.Time(r.IntN(6))), append(s.I, model.Time(r.IntN(6))), append(s.W, model.Time(r.IntN(6)))
			a := model.Bytes(1 + r.IntN(3))
			s.Activation, s.FreedByI = append(s.Activation, a), append(s.FreedByI, model.Bytes(r.IntN(int(a)+2)-1))
		}
		s.Limit = limits(r, s)
		p := modelgen.Problem(s)
		if p.NumOps() > 48 || bound.Infeasible(p) != nil {
			continue
		}
		b := bound.Makespan(p)
		found, ok := newExhaustive(p, true, 30000).beats(b.Value)
		if found {
			t.Fatalf("seed %d: a schedule beats the bound %d: %s\n%s", seed, b.Value, b.Reason, describe(p.Pipeline))
		}
		if ok {
			searched++
		}
	}
}

func solve(p *model.Problem, objective model.Objective, seed uint64) (model.Time, bool) {
	// Every fourth problem does without the order of micro-batches.
	inOrder := p.Identical && !p.HasChoice && seed%4 != 0
	if objective == model.Span {
		return newExhaustive(p, inOrder, 1500).span()
	}
	return newExhaustive(p, inOrder, 20000).makespan()
}
