package benchmarks

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// closedForm is a family of regular problems whose optimal makespan is known by
// formula (README.md of the cases explains their origin).
type closedForm struct {
	name      string
	instances func(yield func(name string, spec modelgen.Spec, optimum model.Time))
}

func unitSpec(p, m int) modelgen.Spec { return modelgen.Spec{Devices: p, MicroBatches: m} }

func costs(s modelgen.Spec, f, i, w model.Time) modelgen.Spec {
	s.F, s.I, s.W = []model.Time{f}, []model.Time{i}, []model.Time{w}
	return s
}

func sweep(maxP, maxM int, visit func(p, m int)) {
	for p := 1; p <= maxP; p++ {
		for m := 1; m <= maxM; m++ {
			visit(p, m)
		}
	}
}

var costTriples = [][3]model.Time{{1, 1, 1}, {10, 11, 9}, {3, 5, 2}, {2, 2, 1}, {4, 7, 4}}

var closedForms = []closedForm{
	{"fused, linear", func(yield func(string, modelgen.Spec, model.Time)) {
		sweep(6, 8, func(p, m int) {
			for _, c := range costTriples {
				f, i, w := c[0], c[1], c[2]
				s := costs(unitSpec(p, m), f, i, w)
				s.Backward = model.Fused
				yield(fmt.Sprintf("P=%d M=%d %v", p, m, c), s, model.Time(m+p-1)*(f+i+w))
			}
		})
	}},
	{"split, linear, W <= F", func(yield func(string, modelgen.Spec, model.Time)) {
		sweep(6, 8, func(p, m int) {
			for _, c := range costTriples {
				f, i, w := c[0], c[1], c[2]
				if w > f {
					continue
				}
				P, M := model.Time(p), model.Time(m)
				yield(fmt.Sprintf("P=%d M=%d %v", p, m, c), costs(unitSpec(p, m), f, i, w),
					max((P-1)*f+M*(f+i+w), (P-1)*f+M*(f+i)+(P-1)*i+w))
			}
		})
	}},
	{"fused, loop", func(yield func(string, modelgen.Spec, model.Time)) {
		sweep(4, 8, func(p, m int) {
			for v := 1; v <= 3; v++ {
				s := unitSpec(p, m)
				s.Backward, s.Placement = model.Fused, model.LoopPlacement(v*p, p)
				optimum := 3 * model.Time(v*m+p-1)
				if m <= p {
					optimum = 3 * model.Time(v*p+m-1)
				}
				yield(fmt.Sprintf("P=%d M=%d v=%d", p, m, v), s, optimum)
			}
		})
	}},
	{"split, loop, unit", func(yield func(string, modelgen.Spec, model.Time)) {
		sweep(4, 8, func(p, m int) {
			for v := 1; v <= 3; v++ {
				s := unitSpec(p, m)
				s.Placement = model.LoopPlacement(v*p, p)
				optimum := max(3*v*m+p-1, 2*(v*p+m-1)+1, v*p+p-1+2*v*m)
				yield(fmt.Sprintf("P=%d M=%d v=%d", p, m, v), s, model.Time(optimum))
			}
		})
	}},
	{"split, V, unit", func(yield func(string, modelgen.Spec, model.Time)) {
		for p := 1; p <= 6; p++ {
			for m := p; m <= 12; m++ {
				s := unitSpec(p, m)
				s.Placement, _ = model.VPlacement(2*p, p)
				yield(fmt.Sprintf("P=%d M=%d", p, m), s, model.Time(6*m+p-1))
				if m >= 2*p {
					s.Activation, s.Limit = []model.Bytes{1}, []model.Bytes{model.Bytes(2 * p)}
					yield(fmt.Sprintf("P=%d M=%d limit %d", p, m, 2*p), s, model.Time(6*m+p-1))
				}
			}
		}
	}},
	{"first device holds one activation", func(yield func(string, modelgen.Spec, model.Time)) {
		sweep(5, 6, func(p, m int) {
			for _, mode := range []model.Mode{model.Split, model.Fused} {
				s := unitSpec(p, m)
				s.Backward, s.Activation = mode, []model.Bytes{1}
				s.Limit = slices.Repeat([]model.Bytes{model.Unlimited}, p)
				s.Limit[0] = 1
				optimum := m * (2*p + 1)
				if mode == model.Fused {
					optimum = m * p * 3
				}
				yield(fmt.Sprintf("P=%d M=%d %v", p, m, mode), s, model.Time(optimum))
			}
		})
	}},
	{"one device", func(yield func(string, modelgen.Spec, model.Time)) {
		for stages := 1; stages <= 4; stages++ {
			for m := 1; m <= 6; m++ {
				s := costs(unitSpec(1, m), 2, 3, 4)
				s.Placement = model.LoopPlacement(stages, 1)
				yield(fmt.Sprintf("S=%d M=%d", stages, m), s, model.Time(9*stages*m))
			}
		}
	}},
	{"forward only", func(yield func(string, modelgen.Spec, model.Time)) {
		sweep(6, 8, func(p, m int) {
			yield(fmt.Sprintf("P=%d M=%d", p, m), costs(unitSpec(p, m), 3, model.Absent, model.Absent), 3*model.Time(m+p-1))
		})
	}},
	{"forward only, two stages, different micro-batches", func(yield func(string, modelgen.Spec, model.Time)) {
		for _, factors := range [][]int64{{3, 1, 2}, {1, 5, 2, 4}, {7, 7, 1, 3, 2}} {
			for _, f := range [][]model.Time{{2, 3}, {3, 2}, {1, 1}} {
				s := unitSpec(2, len(factors))
				s.F, s.I, s.W = f, []model.Time{model.Absent}, []model.Time{model.Absent}
				s.Factors = factors
				yield(fmt.Sprintf("%v %v", factors, f), s, johnson(factors, f))
			}
		}
	}},
}

// johnson returns the optimal makespan of a two-machine flow shop by Johnson's
// rule (Johnson 1954): jobs faster on the first machine first, in rising order of
// that time, then the others in falling order of their time on the second.
func johnson(factors []int64, f []model.Time) model.Time {
	jobs := slices.Clone(factors)
	slices.Sort(jobs)
	if f[0] >= f[1] {
		slices.Reverse(jobs)
	}
	var first, second model.Time
	for _, j := range jobs {
		first += model.Time(j) * f[0]
		second = max(first, second) + model.Time(j)*f[1]
	}
	return second
}

// TestClosedForms demands the formula's value, and that bound and plan enclose it.
func TestClosedForms(t *testing.T) {
	for _, form := range closedForms {
		t.Run(form.name, func(t *testing.T) {
			all, proved := 0, 0
			form.instances(func(name string, spec modelgen.Spec, optimum model.Time) {
				r, err := portfolio.Solve(context.Background(), modelgen.Problem(spec), portfolio.Options{Seed: 1, Workers: 2, Mode: portfolio.Heuristic})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				all++
				if r.Status == solve.Optimal {
					proved++
				}
				if r.Value != optimum || r.Bound > optimum {
					t.Errorf("%s: value %d, bound %d, want %d", name, r.Value, r.Bound, optimum)
				}
			})
			t.Logf("%d instances, %d proved by the bound", all, proved)
		})
	}
}
