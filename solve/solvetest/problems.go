package solvetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// tight returns a problem with little memory, where the bound is often below the
// optimum: one to three devices, up to two chunks on each, and one time in three
// factors, blocking transfers or a choice.
func tight(seed uint64) *model.Pipeline {
	r := rand.New(rand.NewPCG(seed, 0x719e7))
	s := modelgen.Spec{Devices: 1 + r.IntN(3), MicroBatches: 2 + r.IntN(3), Latency: model.Time(r.IntN(2))}
	stages := min(4, s.Devices*(1+r.IntN(2)))
	s.Placement = model.LoopPlacement(stages, s.Devices)
	if stages == 2*s.Devices && r.IntN(3) > 0 {
		s.Placement, _ = model.VPlacement(stages, s.Devices)
	}
	s.Backward = model.Mode(r.IntN(2))
	if r.IntN(3) == 0 {
		s.Backward = model.Auto
	}
	s.Blocking = s.Latency > 0 && r.IntN(3) == 0
	if r.IntN(3) == 0 {
		for range s.MicroBatches {
			s.Factors = append(s.Factors, int64(1+r.IntN(3)))
		}
	}
	shortest := model.Time(r.IntN(2))
	for range stages {
		s.F = append(s.F, shortest+model.Time(r.IntN(4)))
		s.I = append(s.I, shortest+model.Time(r.IntN(4)))
		s.W = append(s.W, shortest+model.Time(r.IntN(4)))
		s.Activation = append(s.Activation, model.Bytes(1+r.IntN(2)))
		s.FreedByI = append(s.FreedByI, model.Bytes(r.IntN(3)-1))
	}
	for k, a := range s.Activation {
		s.FreedByI[k] = min(s.FreedByI[k], a)
	}
	s.Limit = make([]model.Bytes, s.Devices)
	for k, devices := range s.Placement {
		s.Limit[devices[0]] += s.Activation[k] + max(0, -s.FreedByI[k])
	}
	for d := range s.Limit {
		s.Limit[d] += model.Bytes(r.IntN(4))
	}
	return modelgen.Pipeline(s)
}

// tiny is a problem with its optimum.
type tiny struct {
	name    string
	problem *model.Problem
	best    model.Time // none if there is no plan

	searched bool // the optimum is above the bound that an engine starts from
}

// starved returns a problem that uses all that a pipeline can say, with limits
// that leave it to the seed whether a micro-batch alone fits.
func starved(seed uint64) *model.Pipeline {
	r := rand.New(rand.NewPCG(seed, 0x57a7))
	pl := modelgen.RandomPipeline(seed, 3)
	for d := range pl.Devices {
		if l := &pl.Devices[d].Limit; *l < model.Unlimited {
			*l = max(0, *l-model.Bytes(r.IntN(7)))
		}
	}
	return pl
}

// extended returns a problem with little memory and operations of its own.
func extended(seed uint64) *model.Pipeline {
	pl := tight(seed)
	modelgen.AddOperations(pl, seed)
	return pl
}

// eitherOr returns a problem in which two branches share a device and each takes a
// unit of memory more in its backward pass: whichever comes first must find 5
// units there, though each alone would need 3. So a limit of 4 leaves no plan.
func eitherOr(microBatches int, limit model.Bytes) *model.Pipeline {
	pl := modelgen.Pipeline(modelgen.Spec{
		Devices: 2, MicroBatches: microBatches, Placement: [][]int{{0}, {0}, {1}},
		F: []model.Time{1, 2, 2}, I: []model.Time{2, 1, 2}, Latency: 1,
		Activation: []model.Bytes{2, 2, 0}, FreedByI: []model.Bytes{-1, -1, 0}, Limit: []model.Bytes{limit, 9},
	})
	pl.Stages[1].After, pl.Stages[2].After = nil, []int{0, 1}
	return pl
}

// hard returns a problem that no engine closes within seconds: eight devices, two
// chunks on each, there and back, and half the memory that 1F1B takes.
func hard() *model.Problem {
	placement, _ := model.VPlacement(16, 8)
	return modelgen.Problem(modelgen.Spec{
		Devices: 8, MicroBatches: 16, Placement: placement,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9}, Latency: 1,
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{16},
	})
}

// family is a way to make problems from seeds.
type family struct {
	name  string
	make  func(seed uint64) *model.Pipeline
	seeds []uint64
}

// families are the tiny problems: those of which TestSeeds finds that the optimum
// is above the bound, some that are infeasible, some in which the span could be smaller if devices started
// later, and some of the others. Odd seeds are for the span.
var families = []family{
	{"tight", tight, []uint64{
		38, 40, 57, 80, 120, 129, 132, 160, 200, 205, 209, 219, 234, 240, 251, 252, 254, 264, 289, 292, 309, 310, 316,
		320, 338, 345, 360, 367, 374, 384, 388, 392, 400, 409, 418, 426, 437, 440, 447, 459, 468, 470, 471, 489, 511,
		520, 557, 562, 579, 594, 606, 609, 620, 622, 635, 639, 640, 658, 661, 671, 673, 678, 680, 691, 698, 702, 720,
		742, 756, 760, 777, 779, 788, 792, 800, 809, 825, 831, 844, 866, 867, 870, 880, 897, 908, 923, 945, 949, 960,
		962, 969, 978, 990, 995, 1002, 1008, 1036, 1037, 1049, 1068, 1070, 1076, 1081, 1141, 1160, 1174, 1185,
		1697, 2551, 4021}},
	{"random", func(seed uint64) *model.Pipeline { return modelgen.Pipeline(modelgen.Random(seed, 3)) }, []uint64{
		0, 49, 80, 93, 240, 280, 320, 360, 400, 413, 520, 560, 561, 600, 640, 680, 720, 760, 800, 840, 880}},
	{"pipeline", func(seed uint64) *model.Pipeline { return modelgen.RandomPipeline(seed, 3) }, []uint64{
		0, 15, 46, 61, 62, 67, 70, 80, 120, 133, 151, 160, 180, 191, 200, 240, 274, 275, 303, 320, 360, 389, 400, 412,
		432, 440, 446, 475, 480}},
	{"starved", starved, []uint64{0, 6, 12, 15, 25, 29, 31, 43, 46, 62, 80, 120, 133, 160, 180, 200, 240, 266, 275, 306}},
	{"extended", extended, []uint64{
		23, 40, 57, 73, 119, 122, 129, 159, 181, 200, 201, 205, 219, 223, 229, 234, 240, 252, 264, 275, 316, 320, 345, 353,
		360, 400, 409, 441, 467, 470, 483, 511, 520, 525, 557, 562, 579, 640, 671, 673, 680, 691, 697, 702}},
	{"either", func(seed uint64) *model.Pipeline { return eitherOr(1+int(seed/4%3), 4+model.Bytes(seed/2%2)) }, []uint64{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
}

// problems returns all tiny problems. Cost: half a second.
func problems(t *testing.T) []tiny {
	t.Helper()
	var all []tiny
	for _, f := range families {
		for _, seed := range f.seeds {
			x, ok := newTiny(t, &f, seed)
			if !ok {
				t.Fatalf("%s: too large for exhaustive search", x.name)
			}
			all = append(all, x)
		}
	}
	return all
}

// newTiny solves a problem exhaustively. It is false if that would take too long.
func newTiny(t *testing.T, f *family, seed uint64) (tiny, bool) {
	t.Helper()
	pl := f.make(seed)
	pl.Objective = model.Objective(seed % 2)
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatalf("%s %d: %v", f.name, seed, err)
	}
	x := tiny{name: fmt.Sprintf("%s %d", f.name, seed), problem: p}
	best, ok := optimum(p)
	if !ok {
		return x, false
	}
	x.best = best
	r := solve.NewResult(p)
	if r.Status == solve.Infeasible && best != none {
		t.Fatalf("%s: infeasible by bound, the optimum is %d", x.name, best)
	}
	x.searched = r.Status != solve.Infeasible && r.Bound < best
	return x, true
}
