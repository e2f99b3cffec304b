package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/model/network"
)

// placement returns the device of each of n stages by the name of a placement.
func placement(t *testing.T, name string, stages, devices int) []int {
	t.Helper()
	place := model.LoopPlacement(stages, devices)
	if name == "v" {
		var err error
		if place, err = model.VPlacement(stages, devices); err != nil {
			t.Fatal(err)
		}
	}
	list := make([]int, stages)
	for s := range place {
		list[s] = place[s][0]
	}
	return list
}

// reversed returns the place that meets the devices from the last to the first.
func reversed(place []int, devices int) []int {
	list := make([]int, len(place))
	for s, d := range place {
		list[s] = devices - 1 - d
	}
	return list
}

// TestNamedSchedules trains a small network by every schedule of the literature, with every
// way to recompute.
func TestNamedSchedules(t *testing.T) {
	o := Options{Seed: 3}
	b := gptOf(6)
	references := map[int]*Reference{4: natural(t, b, 4, o), 8: natural(t, b, 8, o)}
	ways := [][]network.Recompute{
		{network.RecomputeNone}, {network.RecomputeSelective}, {network.RecomputeFull},
		{network.RecomputeFull, network.RecomputeNone, network.RecomputeSelective},
	}
	for _, schedule := range heuristics.Schedules() {
		for _, devices := range []int{2, 3, 4} {
			for i, microBatches := range []int{4, 8} {
				if testing.Short() && devices == 3 || schedule.Bidirectional && devices%2 > 0 || schedule.Name == "dualpipev" && microBatches < 2*devices {
					continue
				}
				t.Run(fmt.Sprintf("%s/%dx%d", schedule.Name, devices, microBatches), func(t *testing.T) {
					stages := devices
					if schedule.Placement != "linear" {
						stages *= 2
					}
					places := [][]int{placement(t, schedule.Placement, stages, devices)}
					if schedule.Bidirectional {
						places = append(places, reversed(places[0], devices))
					}
					c := recomputing(cut(t, b, stages), ways[(devices+i)%len(ways)]...)
					p := problemOf(t, c, places, microBatches, schedule.Backward)
					plan, err := schedule.Build(p)
					if err != nil {
						t.Fatal(err)
					}
					tr := newTraining(t, p, plan, c, o)
					tr.checkMemory(t, tr.iterate(t, 0))
					tr.checkGradients(t, references[microBatches])
				})
			}
		}
	}
}

// A shape is a network on devices, for random plans.
type shape struct {
	name    string
	network *network.Blueprint
	stages  []int // by part
	places  [][]int
}

func shapes() []shape {
	return []shape{
		{"gpt chain", gptOf(2), []int{4}, [][]int{{0, 1, 2, 3}}},
		{"gpt v", gptOf(2), []int{4}, [][]int{{0, 1, 1, 0}}},
		{"gpt loop", gptOf(2), []int{4}, [][]int{{0, 1, 0, 1}}},
		{"gpt x", gptOf(2), []int{4}, [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}}},
		{"gpt routes that meet", gptOf(2), []int{3}, [][]int{{0, 1, 2}, {2, 1, 0}}},
		{"mlp chain", mlpOf(4), []int{3}, [][]int{{0, 1, 2}}},
		{"mlp v", mlpOf(4), []int{4}, [][]int{{0, 1, 1, 0}}},
		{"mlp x", mlpOf(4), []int{2}, [][]int{{0, 1}, {1, 0}}},
		{"two branches beside each other", twoBranchOf(2, 2), []int{2, 2, 1}, [][]int{{0, 1, 2, 3, 3}}},
		{"two branches on the same devices", twoBranchOf(2, 2), []int{2, 3, 1}, [][]int{{0, 1, 0, 1, 2, 1}}},
		{"two branches, one of an mlp", mlpBranchOf(2, 2), []int{2, 1, 1}, [][]int{{0, 1, 2, 1}}},
		{"two branches and routes", twoBranchOf(2, 2), []int{2, 2, 1}, [][]int{{0, 1, 2, 3, 3}, {3, 2, 1, 0, 0}}},
	}
}

// TestRandomPlans trains by random legal plans: each takes any operation that is ready, and
// chooses between halves and full backward passes at random. Every fourth has blocking
// transfers.
func TestRandomPlans(t *testing.T) {
	plans := 1000
	if testing.Short() {
		plans = 50
	}
	o := Options{Seed: 4}
	list := shapes()
	references := map[string]*Reference{}
	ordered := 0
	for seed := range plans {
		sh := list[seed%len(list)]
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		microBatches := 1 + r.IntN(5)
		key := fmt.Sprint(sh.network.Stacks, microBatches)
		if references[key] == nil {
			references[key] = natural(t, sh.network, microBatches, o)
		}
		b := cut(t, sh.network, sh.stages...)
		for s := range b.Stages {
			b.Stages[s].Recompute = network.Recompute(r.IntN(3))
		}
		p := problemOf(t, b, sh.places, microBatches, model.Mode(r.IntN(3)))
		if r.IntN(4) == 0 {
			p = blocking(t, p)
		}
		plan, _ := modelgen.RandomPlan(p, uint64(seed))
		if inMicroBatchOrder(p, plan) {
			ordered++
		}
		tr := newTraining(t, p, plan, b, o)
		tr.checkMemory(t, tr.iterate(t, 0))
		tr.checkGradients(t, references[key])
		if t.Failed() {
			t.Fatalf("seed %d: %s, %d micro-batches", seed, sh.name, microBatches)
		}
	}
	if ordered == 0 || ordered == plans {
		t.Errorf("%d of %d plans keep the order of micro-batches; both cases have to be there", ordered, plans)
	}
}

// TestStepsEqualReplay makes five optimizer steps by the backend and by its replay: all
// parameters are the same bit by bit, and no longer those of the start.
func TestStepsEqualReplay(t *testing.T) {
	o := Options{Seed: 5}
	for i, sh := range shapes() {
		b := recomputing(cut(t, sh.network, sh.stages...), network.RecomputeNone, network.RecomputeFull)
		p := problemOf(t, b, sh.places, 4, model.Auto)
		plan, _ := modelgen.RandomPlan(p, uint64(i))
		tr := newTraining(t, p, plan, b, o)
		fresh, err := Replay(p, plan, b, o)
		if err != nil {
			t.Fatal(err)
		}
		for iteration := range 5 {
			tr.iterate(t, iteration)
		}
		start, replay := fresh.Parameters(), tr.replay.Parameters()
		for j, q := range tr.backend.Parameters() {
			if !sameBits(q.Value, replay[j].Value) {
				t.Errorf("%s: %s of layer %d is not that of the replay", sh.name, q.Name, q.Layer)
			}
			if sameBits(q.Value, start[j].Value) {
				t.Errorf("%s: %s of layer %d has not changed", sh.name, q.Name, q.Layer)
			}
		}
		for s := range tr.backend.copies {
			for _, c := range tr.backend.copies[s][1:] {
				for j, q := range c.parameters {
					if !sameBits(q.value, tr.backend.copies[s][0].parameters[j].value) {
						t.Errorf("%s: copies of stage %d differ in %s", sh.name, s, q.name)
					}
				}
			}
		}
	}
}

// TestCutsTrainTheSame tests that parameters do not depend on how layers are cut into
// stages: the first loss of any cut is the same.
func TestCutsTrainTheSame(t *testing.T) {
	o := Options{Seed: 6}
	losses := map[float64]int{}
	for stages := 1; stages <= 4; stages++ {
		b := cut(t, gptOf(2), stages)
		p := problemOf(t, b, [][]int{make([]int, stages)}, 2, model.Split)
		plan, _ := modelgen.RandomPlan(p, 1)
		r, err := Replay(p, plan, b, o)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := r.Iterate(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		losses[loss]++
	}
	if len(losses) != 1 {
		t.Errorf("four cuts of a network begin with the losses %v", losses)
	}
}
