package benchmarks

import (
	"context"
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// zeroBubbleRow is a row of the table of the Zero Bubble paper (Qi et al., ICLR
// 2024, arXiv:2401.10241), with the exact integers that its authors' script
// gives. Times in microseconds; memory follows from hidden size and heads at
// sequence length 1024.
type zeroBubbleRow struct {
	hidden, heads, devices, microBatches int
	forward, input, weight, latency      model.Time
	zb1p, zb2p                           model.Time // span under the memory of P and of 2P forwards
}

var zeroBubbleTable = []zeroBubbleRow{
	{2304, 24, 8, 24, 18522, 18086, 9337, 601, 1310405, 1152599},
	{2304, 24, 8, 32, 18513, 18086, 9331, 626, 1678164, 1475535},
	{2304, 24, 8, 64, 18546, 18097, 9321, 762, 3154286, 2949221},
	{4096, 32, 8, 24, 29718, 29444, 19927, 527, 2187537, 1903596},
	{4096, 32, 8, 32, 29802, 29428, 19530, 577, 2814376, 2525780},
	{4096, 32, 8, 64, 29935, 29621, 19388, 535, 5348572, 5057708},
	{5120, 40, 16, 48, 11347, 11248, 8132, 377, 1714461, 1484721},
	{5120, 40, 16, 64, 11307, 11254, 8101, 379, 2202008, 1972943},
	{5120, 40, 16, 128, 11325, 11308, 8109, 378, 4175516, 3946061},
	{6144, 48, 32, 96, 10419, 10207, 7715, 408, 3171569, 2731004},
	{6144, 48, 32, 128, 10408, 10204, 7703, 408, 4075091, 3634724},
	{6144, 48, 32, 256, 10402, 10248, 7698, 460, 7715640, 7270432},
}

func (r *zeroBubbleRow) problem(forwards int) *model.Problem {
	activation := model.Bytes(34*r.hidden + 5*r.heads*1024)
	return modelgen.Problem(modelgen.Spec{
		Devices: r.devices, MicroBatches: r.microBatches, Latency: r.latency, Objective: model.Span,
		F: []model.Time{r.forward}, I: []model.Time{r.input}, W: []model.Time{r.weight},
		Activation: []model.Bytes{activation},
		FreedByI:   []model.Bytes{activation - model.Bytes(32*r.hidden)},
		Limit:      []model.Bytes{activation * model.Bytes(forwards)},
	})
}

// TestZeroBubbleTable demands that the search is never worse than the authors'
// own heuristic, ZB-1p and ZB-2p, under the same memory limits; with -short only on
// the smaller rows.
func TestZeroBubbleTable(t *testing.T) {
	for _, r := range zeroBubbleTable {
		if testing.Short() && r.devices > 8 {
			continue
		}
		for factor, published := range []model.Time{r.zb1p, r.zb2p} {
			p := r.problem((factor + 1) * r.devices)
			name := fmt.Sprintf("P=%d M=%d h=%d limit %dP", r.devices, r.microBatches, r.hidden, factor+1)
			got, err := searchAndSolve(p, published)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			t.Logf("%-28s published %8d, found %8d (%+.3f %%), bound %8d, tries %4d: %s", name, published, got.value,
				100*float64(got.value-published)/float64(published), got.bound, got.tries, got.rule)
			if got.value > published {
				t.Errorf("%s: span %d, published %d", name, got.value, published)
			}
		}
	}
}

type found struct {
	value, bound model.Time
	tries        int
	rule         string
}

// searchAndSolve runs the search until target is met and judges the plan.
func searchAndSolve(p *model.Problem, target model.Time) (found, error) {
	res, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 1, Workers: 2, Target: target})
	if err != nil {
		return found{}, err
	}
	r, err := portfolio.JudgePlan(p, res.Plan)
	if err != nil {
		return found{}, err
	}
	return found{r.Value, r.Bound, res.Tries, res.Rule}, nil
}

// TestGreedyCrash solves the uneven pipeline on which the published Zero Bubble
// heuristic stops with an assertion (it builds an order that breaks a
// precedence).
func TestGreedyCrash(t *testing.T) {
	alternate := func(a, b model.Time) []model.Time { return []model.Time{a, b, a, b, a, b, a, b} }
	spec := modelgen.Spec{
		Devices: 8, MicroBatches: 16, Latency: 1,
		F: alternate(16, 24), I: alternate(16, 24), W: alternate(10, 16),
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{32},
	}
	for _, objective := range []model.Objective{model.Makespan, model.Span} {
		spec.Objective = objective
		r, err := portfolio.Solve(context.Background(), modelgen.Problem(spec), portfolio.Options{Seed: 1, Workers: 2, Mode: portfolio.Heuristic})
		if err != nil {
			t.Fatal(err)
		}
		if r.Plan == nil {
			t.Fatalf("%v: no plan: %s", objective, r.Reason)
		}
		t.Logf("%v: value %d, bound %d", objective, r.Value, r.Bound)
	}
}
