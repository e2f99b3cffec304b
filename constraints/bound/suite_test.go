package bound_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// instance is an entry of the instance suite.
type instance struct {
	Name       string        `json:"name"`
	Devices    int           `json:"devices"`
	M          int           `json:"micro_batches"`
	Placement  []int         `json:"placement"`
	F          []model.Time  `json:"forward"`
	I          []model.Time  `json:"backward_input"`
	W          []model.Time  `json:"backward_weight"`
	B          []model.Time  `json:"backward_full"`
	Latency    model.Time    `json:"latency"`
	Activation []model.Bytes `json:"activation"`
	FreedByI   []model.Bytes `json:"freed_by_backward_input"`
	Limit      []model.Bytes `json:"memory_limit"`
	BestBound  model.Time    `json:"best_bound"`
	BestValue  model.Time    `json:"best_value"`
}

func (in instance) problem() *model.Problem {
	s := modelgen.Spec{
		Devices: in.Devices, MicroBatches: in.M, F: in.F, I: in.I, W: in.W, B: in.B, Latency: in.Latency,
		Activation: in.Activation, FreedByI: in.FreedByI, Limit: in.Limit,
	}
	for _, d := range in.Placement {
		s.Placement = append(s.Placement, []int{d})
	}
	pl := modelgen.Pipeline(s)
	for k := range in.B {
		d := &pl.Stages[k].Replicas[0].Durations
		d.BackwardInput, d.BackwardWeight, d.BackwardFull = model.Absent, model.Absent, in.B[k]
	}
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}

func suite(t testing.TB) []instance {
	data, err := os.ReadFile("../../benchmarks/suite/suite.json")
	if err != nil {
		t.Skipf("the instance suite is not there: %v", err)
	}
	var all []instance
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSuite(t *testing.T) {
	type tally struct{ n, tight, proved int }
	groups := map[string]*tally{}
	var names []string
	var sum tally
	for _, in := range suite(t) {
		p := in.problem()
		began := time.Now()
		b := bound.Lower(p)
		took := time.Since(began)
		if b.Value > in.BestValue {
			t.Errorf("%s: bound %d above the best known value %d (%s)", in.Name, b.Value, in.BestValue, b.Reason)
		}
		parts := strings.Split(in.Name, "-")
		group := strings.Join(parts[:3], "-")
		if groups[group] == nil {
			groups[group] = &tally{}
			names = append(names, group)
		}
		for _, g := range []*tally{groups[group], &sum} {
			g.n++
			if b.Value == in.BestValue {
				g.tight++
			}
			if b.Value >= in.BestBound {
				g.proved++
			}
		}
		t.Logf("%-28s bound %5d best bound %5d value %5d %-8v %7v", in.Name, b.Value, in.BestBound, in.BestValue, b.Kind, took.Round(time.Microsecond))
	}
	for _, name := range names {
		t.Logf("%-14s of %2d: bound = value %2d, bound >= best bound %2d", name, groups[name].n, groups[name].tight, groups[name].proved)
	}
	if sum.tight < 97 || sum.proved < 101 {
		t.Errorf("the bounds have become weaker")
	}
	t.Logf("%d instances: bound = value %d, bound >= best bound %d", sum.n, sum.tight, sum.proved)
}
