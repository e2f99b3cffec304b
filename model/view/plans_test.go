package view_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// scheduled returns the plan that starts, again and again, the operation that
// can start first; among equals a backward before a forward before a weight
// gradient. With a limit on the micro-batches in flight on a device's first
// stage (0: none), forwards wait.
func scheduled(t testing.TB, p *model.Problem, inFlight int) (*model.Plan, *model.Timeline) {
	t.Helper()
	s := scheduler{
		p: p, limit: inFlight, done: make([]model.Time, p.NumOps()), free: make([]model.Time, p.NumDevices()),
		next: make([]int, len(p.Rows)), plan: &model.Plan{Order: make([][]model.OpID, p.NumDevices())},
	}
	for i := range s.done {
		s.done[i] = model.Absent
	}
	for s.step() {
	}
	tl, err := model.Evaluate(p, s.plan)
	if err != nil {
		t.Fatal(err)
	}
	return s.plan, tl
}

type scheduler struct {
	p     *model.Problem
	limit int
	done  []model.Time // end, by operation; Absent before it runs
	free  []model.Time
	next  []int // by row: index of its next operation
	plan  *model.Plan
}

var ranks = map[model.Kind]int{model.Forward: 1, model.BackwardWeight: 2}

func (s *scheduler) step() bool {
	best, start := -1, model.Time(0)
	for r := range s.p.Rows {
		at, ok := s.ready(r)
		if ok && (best < 0 || at < start || (at == start && ranks[s.p.Rows[r].Kind] < ranks[s.p.Rows[best].Kind])) {
			best, start = r, at
		}
	}
	if best < 0 {
		return false
	}
	op := s.p.Base(best) + model.OpID(s.next[best])
	s.next[best]++
	s.done[op] = start + s.p.Duration(op)
	for _, d := range s.p.Rows[best].Devices {
		s.free[d] = s.done[op]
		s.plan.Order[d] = append(s.plan.Order[d], op)
	}
	return true
}

func (s *scheduler) ready(r int) (model.Time, bool) {
	row := &s.p.Rows[r]
	if s.next[r] >= s.p.Count(r) || row.Choice == model.WhenFused {
		return 0, false
	}
	if row.Kind == model.Forward && s.limit > 0 && s.next[r]-s.finished(row) >= s.limit-row.Stage {
		return 0, false
	}
	at := model.Time(0)
	for _, d := range row.Devices {
		at = max(at, s.free[d])
	}
	for _, pred := range row.Preds {
		first, end := s.p.PredOps(r, s.next[r], pred)
		for q := first; q < end; q++ {
			if s.done[q] == model.Absent {
				return 0, false
			}
			at = max(at, s.done[q]+pred.Lag)
		}
	}
	return at, true
}

// finished counts the micro-batches whose gradient has left the stage of a row.
func (s *scheduler) finished(row *model.Row) int {
	for r := range s.p.Rows {
		if other := &s.p.Rows[r]; other.Stage == row.Stage && other.Kind.CarriesGradient() && other.Choice != model.WhenFused {
			return s.next[r]
		}
	}
	return s.next[0]
}

// named returns a problem of 4 uneven stages with names, units and memory.
func named() *model.Problem {
	pl := modelgen.Pipeline(modelgen.Spec{
		Devices: 4, MicroBatches: 8,
		F: []model.Time{100, 95, 105, 150}, I: []model.Time{110, 105, 112, 160}, W: []model.Time{90, 85, 95, 140},
		Activation: []model.Bytes{3 << 20}, FreedByI: []model.Bytes{1 << 20}, Static: []model.Bytes{40 << 20},
		Limit: []model.Bytes{64 << 20, 64 << 20, 64 << 20, model.Unlimited}, Latency: 4,
	})
	pl.Name = "gpt <1.5b>"
	pl.TimeUnit = model.Unit{Name: "us", Multiplier: 1, Divisor: 10}
	pl.MemoryUnit = model.Unit{Name: "B", Multiplier: 1024, Divisor: 1}
	for d, name := range []string{"node0/gpu0", "node0/gpu1", "node1/gpu0", "a-device-with-a-long-name"} {
		pl.Devices[d].Name = name
	}
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}

// vShape returns a problem with two chunks on each device in a V.
func vShape(devices, microBatches int) *model.Problem {
	place, _ := model.VPlacement(2*devices, devices)
	return modelgen.Problem(modelgen.Spec{Devices: devices, MicroBatches: microBatches, Placement: place})
}

// oddities returns a problem with a gang, blocking transfers, an operation of
// length zero, a device without operations.
func oddities() *model.Problem {
	return modelgen.Problem(modelgen.Spec{
		Devices: 4, MicroBatches: 3, Placement: [][]int{{0}, {1, 2}, {0}},
		F: []model.Time{2}, I: []model.Time{2, 2, 0}, W: []model.Time{2, 2, 0}, Latency: 2, Blocking: true,
	})
}

// operations returns a problem with operations of its own: a recomputation, an offload
// and a reload on an engine, a loss between forwards and backwards, a step of two devices.
func operations() *model.Problem {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 3, F: []model.Time{2}, Backward: model.Fused, Latency: 1,
		Activation: []model.Bytes{2}})
	pl.Devices = append(pl.Devices, model.Device{Name: "copy", Limit: model.Unlimited, Engine: true})
	pl.Operations = []model.Operation{
		{Name: "recompute", Letter: "R", Stage: 0, Duration: 2, Takes: 1,
			After: []model.Ref{{Kind: "reload", Stage: 0}}, Before: []model.Ref{{Kind: model.Backward, Stage: 0}}},
		{Name: "loss", Letter: "LOSS", Stage: 1, Single: true, Duration: 5,
			After: []model.Ref{{Kind: "forward", Stage: 1}}, Before: []model.Ref{{Kind: model.Backward, Stage: 1}}},
		{Name: "step", Letter: "STEP", Stage: -1, Single: true, Devices: []int{0, 1}, Duration: 3,
			After: []model.Ref{{Kind: model.Backward, Stage: 0}, {Kind: model.Backward, Stage: 1}}},
	}
	for s := range pl.Stages {
		pl.Operations = append(pl.Operations,
			model.Operation{Name: "offload", Letter: "OUT", Stage: s, Devices: []int{2}, Duration: 1, Gives: 2,
				After: []model.Ref{{Kind: "forward", Stage: s}}},
			model.Operation{Name: "reload", Letter: "IN", Stage: s, Devices: []int{2}, Duration: 1, Takes: 2,
				After: []model.Ref{{Kind: "offload", Stage: s, Lag: 1}}, Before: []model.Ref{{Kind: model.Backward, Stage: s}}})
	}
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}
