package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// family makes small random pipelines from seeds.
type family struct {
	name string
	make func(seed uint64) *model.Pipeline
}

// families are what the differential and the monotonicity tests draw from. In the
// first, most problems need a search; the others use more of what a pipeline can say.
var families = []family{
	{"tight", func(seed uint64) *model.Pipeline { return tight(seed, 4) }},
	{"regular", func(seed uint64) *model.Pipeline { return modelgen.Pipeline(modelgen.Random(seed, 5)) }},
	{"pipeline", func(seed uint64) *model.Pipeline { return modelgen.RandomPipeline(seed, 4) }},
	{"starved", starved},
	{"extended", extended},
}

// tight returns a problem with one to four devices, chunks there and back or in a
// loop, uneven costs and little memory.
func tight(seed uint64, maxMicroBatches int) *model.Pipeline {
	r := rand.New(rand.NewPCG(seed, 0xd1ff))
	s := modelgen.Spec{Devices: 1 + r.IntN(4), MicroBatches: 2 + r.IntN(maxMicroBatches-1), Latency: model.Time(r.IntN(3))}
	stages := s.Devices * (1 + r.IntN(2))
	s.Placement = model.LoopPlacement(stages, s.Devices)
	if stages == 2*s.Devices && r.IntN(3) > 0 {
		s.Placement, _ = model.VPlacement(stages, s.Devices)
	}
	s.Backward = model.Mode(r.IntN(3))
	s.Blocking = s.Latency > 0 && r.IntN(4) == 0
	if r.IntN(4) == 0 {
		for range s.MicroBatches {
			s.Factors = append(s.Factors, int64(1+r.IntN(3)))
		}
	}
	shortest := model.Time(r.IntN(2))
	s.Limit = make([]model.Bytes, s.Devices)
	for k := range stages {
		for _, list := range []*[]model.Time{&s.F, &s.I, &s.W} {
			*list = append(*list, shortest+model.Time(r.IntN(6)))
		}
		s.Activation = append(s.Activation, model.Bytes(1+r.IntN(3)))
		s.FreedByI = append(s.FreedByI, min(s.Activation[k], model.Bytes(r.IntN(4)-1)))
		s.Limit[s.Placement[k][0]] += s.Activation[k] + max(0, -s.FreedByI[k])
	}
	for d := range s.Limit {
		s.Limit[d] += model.Bytes(r.IntN(4))
	}
	return modelgen.Pipeline(s)
}

// starved returns a pipeline of which it depends on the seed whether a single
// micro-batch fits.
func starved(seed uint64) *model.Pipeline { return starve(modelgen.RandomPipeline(seed, 4), seed) }

// starvedStages is starved without operations of the pipeline's own.
func starvedStages(seed uint64) *model.Pipeline { return starve(modelgen.RandomStages(seed, 4), seed) }

func starve(pl *model.Pipeline, seed uint64) *model.Pipeline {
	r := rand.New(rand.NewPCG(seed, 0x57a7))
	for d := range pl.Devices {
		if l := &pl.Devices[d].Limit; *l < model.Unlimited {
			*l = max(0, *l-model.Bytes(r.IntN(7)))
		}
	}
	return pl
}

// extended returns a problem of little memory with operations of its own.
func extended(seed uint64) *model.Pipeline {
	pl := tight(seed, 4)
	modelgen.AddOperations(pl, seed)
	return pl
}

// draw returns the problem of a family and a seed, and a name from which it can be
// made again. Odd seeds are for the span.
func (f *family) draw(seed uint64) (string, *model.Problem) {
	pl := f.make(seed)
	pl.Objective = model.Objective(seed % 2)
	return fmt.Sprintf("%s %d, %v", f.name, seed, pl.Objective), compile(pl)
}

// compile compiles a pipeline that a test made: it panics if it cannot.
func compile(pl *model.Pipeline) *model.Problem {
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}
