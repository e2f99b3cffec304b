package tune

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// randomProblem returns a problem that may have gangs, a stage graph, routes, links,
// blocking transfers, factors, choices between split and fused, and operations of its own.
func randomProblem(t *testing.T, seed uint64, objective model.Objective) *model.Problem {
	t.Helper()
	pl := modelgen.RandomPipeline(seed, 4)
	pl.Objective = objective
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomPolicy returns a policy as the axes of the space make them.
func randomPolicy(seed uint64, s *shape) cssr.Policy {
	r := rand.New(rand.NewPCG(seed, 1))
	d := &draft{inFlight: []float64{0, 1, 1.5, 2}[r.IntN(4)], patience: []int{0, 4, 8}[r.IntN(3)]}
	d.policy.Types = [][]string{{"I", "B", "F", "W"}, {"F", "I", "B", "W"}, {"B", "I", "F", "W"}}[r.IntN(3)]
	d.policy.Weights.Mode = []cssr.WeightMode{cssr.WeightsByType, cssr.AtOnce, cssr.Deferred, cssr.Fill}[r.IntN(4)]
	d.policy.Traversal = []cssr.Traversal{cssr.BreadthFirst, cssr.DepthFirst, cssr.Wave}[r.IntN(3)]
	d.policy.Group = r.IntN(4)
	return s.policyOf(d)
}

// A shape is pruned by its floor, so that no plan may have a smaller value. The judge's
// bound, which costs more, is not below it either. Among the problems are some with a
// route that no micro-batch takes, whose operations nothing waits for.
func TestFloorIsABound(t *testing.T) {
	decoded, met, kinds := 0, 0, map[string]int{}
	for seed := range uint64(2500) {
		for _, objective := range []model.Objective{model.Makespan, model.Span} {
			p := randomProblem(t, seed, objective)
			if bound.Infeasible(p) != nil {
				continue
			}
			low := floor(p)
			if b := bound.Lower(p); low > b.Value {
				t.Errorf("seed %d, %v: the floor is %d, the judge's bound %d (%s)", seed, objective, low, b.Value, b.Reason)
			}
			s := newShape(nil, cssr.Choices{}, p)
			outcome, err := decode(context.Background(), s, randomPolicy(seed, s))
			if memory := (*cssr.MemoryError)(nil); errors.As(err, &memory) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			value := outcome.Value(objective)
			if low > value {
				t.Errorf("seed %d, %v: the floor is %d, a plan takes %d", seed, objective, low, value)
			}
			decoded++
			if low == value {
				met++
			}
			count(kinds, p)
		}
	}
	if decoded < 2000 || met < 200 {
		t.Errorf("%d plans, of which %d meet the floor: the test shows too little", decoded, met)
	}
	for _, kind := range []string{"choices", "routes", "operations", "factors", "blocking", "gangs"} {
		if kinds[kind] < 100 {
			t.Errorf("%d problems with %s are too few", kinds[kind], kind)
		}
	}
	t.Logf("%d plans, %d meet the floor; %v", decoded, met, kinds)
}

// count counts what a problem has.
func count(kinds map[string]int, p *model.Problem) {
	pl := p.Pipeline
	for kind, has := range map[string]bool{
		"routes": pl.NumRoutes() > 1, "operations": len(pl.Operations) > 0, "factors": pl.Factors != nil,
		"blocking": pl.Blocking,
	} {
		if has {
			kinds[kind]++
		}
	}
	for _, s := range pl.Stages {
		if s.Backward == model.Auto {
			kinds["choices"]++
		}
		if len(s.Replicas[0].Devices) > 1 {
			kinds["gangs"]++
		}
	}
}
