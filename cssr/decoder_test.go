package cssr_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestDecoderNeverGetsStuck decodes random problems with every feature (gangs,
// routes, stage graphs, blocking transfers, missing operations, choices, memory
// limits) under random rules. Each decode ends with a plan that the judge
// accepts, or because a micro-batch alone does not fit.
func TestDecoderNeverGetsStuck(t *testing.T) {
	plans, tight := 0, 0
	for seed := range uint64(6000) {
		pl := modelgen.RandomPipeline(seed, 5)
		if seed%3 == 0 {
			for d := range pl.Devices {
				if !pl.Devices[d].Engine {
					pl.Devices[d].Limit = model.Bytes(seed / 3 % 14)
				}
			}
		}
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		out, err := cssr.NewDecoder(p).Decode(context.Background(), randomRule(p, seed), 0)
		var memory *cssr.MemoryError
		if errors.As(err, &memory) {
			tight++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		plans++
		measured(t, p, &out.Plan)
		if err := constraints.Check(p, &out.Plan, &out.Timeline).Err(); err != nil {
			t.Fatalf("seed %d: the decoder's own timeline: %v", seed, err)
		}
	}
	t.Logf("%d plans, %d problems too tight for one micro-batch", plans, tight)
	if plans < 1000 || tight < 100 {
		t.Error("the test has lost its material")
	}
}

// randomRule draws every part of a rule.
func randomRule(p *model.Problem, seed uint64) *cssr.Rule {
	r := rand.New(rand.NewPCG(seed, 1))
	rule := cssr.NewRule(p)
	for i := range p.Rows {
		rule.Offset[i], rule.Slope[i] = r.Int64N(50), r.Int64N(10)
		rule.Cap[i], rule.Patience[i] = int32(r.IntN(4)), uint8(r.IntN(9))
	}
	rule.Frugal, rule.Allowance = r.IntN(2) == 0, model.Time(r.IntN(10))
	rule.Group, rule.GroupStep = r.IntN(4), r.Int64N(30)
	for d := range p.NumDevices() {
		rule.Actor = append(rule.Actor, int32(r.IntN(4)))
		rule.Memory = append(rule.Memory, p.Limits[d])
	}
	if r.IntN(3) == 0 {
		for range p.NumDevices() {
			rule.Backlog = append(rule.Backlog, int32(r.IntN(3)))
		}
	}
	for _, phase := range []cssr.Phase{cssr.WarmUp, cssr.Steady, cssr.CoolDown} {
		if r.IntN(4) == 0 {
			rule.Phased[phase] = make([]int64, len(p.Rows))
			for i := range p.Rows {
				rule.Phased[phase][i] = r.Int64N(50)
			}
		}
	}
	for range p.Pipeline.Stages {
		rule.Fuse = append(rule.Fuse, r.IntN(2) == 0)
	}
	if !p.Identical && p.Pipeline.NumRoutes() == 1 {
		for _, m := range r.Perm(p.MicroBatches()) {
			rule.Order = append(rule.Order, int32(m))
		}
	}
	return rule
}

// TestRulesAreChecked demands a typed error that names the field.
func TestRulesAreChecked(t *testing.T) {
	p := modelgen.Unit(2, 3)
	for field, spoil := range map[string]func(*cssr.Rule){
		"Offset":   func(r *cssr.Rule) { r.Offset = r.Offset[:3] },
		"Slope":    func(r *cssr.Rule) { r.Slope = append(r.Slope, 1) },
		"Cap":      func(r *cssr.Rule) { r.Cap = r.Cap[:1] },
		"Patience": func(r *cssr.Rule) { r.Patience = r.Patience[:1] },
		"Actor":    func(r *cssr.Rule) { r.Actor = []int32{1} },
		"Memory":   func(r *cssr.Rule) { r.Memory = []model.Bytes{1} },
		"Backlog":  func(r *cssr.Rule) { r.Backlog = []int32{1} },
		"Phased":   func(r *cssr.Rule) { r.Phased[cssr.Steady] = r.Offset[:2] },
		"Fuse":     func(r *cssr.Rule) { r.Fuse = []bool{true} },
		"Order":    func(r *cssr.Rule) { r.Order = []int32{0, 1, 1} },
	} {
		rule := cssr.NewRule(p)
		spoil(rule)
		_, err := cssr.NewDecoder(p).Decode(context.Background(), rule, 0)
		var wrong *cssr.RuleError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

// TestDecodeEndsWithTheContext demands that a long decode stops.
func TestDecodeEndsWithTheContext(t *testing.T) {
	p := modelgen.Unit(8, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := cssr.NewDecoder(p).Decode(ctx, cssr.NewRule(p), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context canceled", err)
	}
}

// TestCutoffGivesUp demands that a cutoff ends exactly the decodes that reach it.
func TestCutoffGivesUp(t *testing.T) {
	for seed := range uint64(200) {
		p := modelgen.Problem(modelgen.Random(seed, 5))
		rule := randomRule(p, seed)
		d := cssr.NewDecoder(p)
		out, err := d.Decode(context.Background(), rule, 0)
		if err != nil {
			t.Fatal(err)
		}
		value := out.Value(p.Pipeline.Objective)
		if out, _ := d.Decode(context.Background(), rule, value+1); out == nil || out.Value(p.Pipeline.Objective) != value {
			t.Errorf("seed %d: gave up below the cutoff", seed)
		}
		if out, _ := d.Decode(context.Background(), rule, value); value > 0 && out != nil {
			t.Errorf("seed %d: reached the cutoff %d without giving up", seed, value)
		}
	}
}
