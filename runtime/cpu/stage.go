package cpu

import (
	"context"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// A stage is a run of layers on a device, with what they remember of each micro-batch. Its
// methods are called by the goroutine of the device.
type stage struct {
	number     int
	slice      network.Slice
	layers     []layer
	plans      []memoryPlan // by layer
	parameters []*parameter // of all layers in order
	between    int          // elements of what passes from layer to layer
	records    [][]record   // by micro-batch and layer
	home       *home
	one        [1][]float32 // what the layers after the first read
	clock      *clock
}

// A home is the memory of a device.
type home struct {
	memory *allocator
	work   []float32 // shared by all stages, since one operation runs at a time
}

func newStage(l *layout, number, microBatches int, h *home) *stage {
	s := &stage{number: number, slice: l.stages[number].Slice, home: h, between: l.between(number)}
	for i := s.slice.First; i < s.slice.End; i++ {
		layer := l.layer(s.slice.Part, i)
		s.layers = append(s.layers, layer)
		s.plans = append(s.plans, planMemory(layer.footprint(), s.slice.Recompute))
		s.parameters = append(s.parameters, layer.parameters()...)
	}
	s.records = make([][]record, microBatches)
	for m := range s.records {
		s.records[m] = make([]record, len(s.layers))
	}
	return s
}

// begin forgets what is left of an iteration that failed, and sets the data of the next, by
// micro-batch and part.
func (s *stage) begin(batches [][]*batch) {
	for m := range s.records {
		for i := range s.records[m] {
			s.records[m][i] = record{batch: batches[m][s.slice.Part]}
		}
	}
	for _, p := range s.parameters {
		clear(p.grad)
	}
	if s.clock != nil {
		s.clock.times = s.clock.times[:0]
	}
}

// forward runs the layers on a micro-batch. in holds what the stage reads, out takes what it
// puts out; nil for the last stage of a network. All memory is taken first, as in a problem.
func (s *stage) forward(ctx context.Context, m int, in [][]float32, out []float32) error {
	records, last := s.records[m], len(s.layers)-1
	for i := range records {
		s.plans[i].takeForward(&records[i], s.home.memory)
	}
	for i, l := range s.layers {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := out
		if i < last {
			to = s.buffer(i)
		}
		began := s.clock.now()
		s.plans[i].lendForward(&records[i], s.home.work)
		l.forward(&records[i], in, to)
		s.plans[i].endForward(&records[i])
		s.clock.stop(began, m, i, model.Forward)
		s.one[0] = to
		in = s.one[:]
	}
	return nil
}

// backwardInput runs the layers backwards. dout is the gradient of what the stage put out,
// nil for the last stage of a network; din takes those of what it read.
func (s *stage) backwardInput(ctx context.Context, m int, dout []float32, din [][]float32) error {
	records := s.records[m]
	for i := len(s.layers) - 1; i >= 0; i-- {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := din
		if i > 0 {
			s.one[0] = s.buffer(i - 1)
			to = s.one[:]
		}
		began := s.clock.now()
		s.plans[i].backwardInput(s.layers[i], &records[i], dout, to, s.home)
		s.clock.stop(began, m, i, model.BackwardInput)
		dout = s.one[0]
	}
	return nil
}

// backwardWeight adds to the gradients of the parameters, and gives back all memory of the
// micro-batch.
func (s *stage) backwardWeight(ctx context.Context, m int) error {
	records := s.records[m]
	for i := len(s.layers) - 1; i >= 0; i-- {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		began := s.clock.now()
		s.plans[i].backwardWeight(s.layers[i], &records[i], s.home)
		s.clock.stop(began, m, i, model.BackwardWeight)
	}
	return nil
}

// buffer returns the work space for what passes between layers i and i+1, either way: two
// take turns, behind the work space of the layers.
func (s *stage) buffer(i int) []float32 {
	end := len(s.home.work) - i%2*s.between
	return s.home.work[end-s.between : end : end]
}

// work returns the elements of work space that the stage needs.
func (s *stage) work() int {
	most := 0
	for i := range s.plans {
		most = max(most, s.plans[i].work)
	}
	return most + min(len(s.layers)-1, 2)*s.between
}

// A clock measures each call of a layer, if there is one: the methods of nil do nothing.
type clock struct {
	stage *stage
	times []LayerTime
}

// LayerTime is what a call of a layer took.
type LayerTime struct {
	Part, Layer       int // number of the part, and of the layer in it
	Stage, MicroBatch int
	// Kind is Forward, BackwardInput or BackwardWeight; a full backward counts as the two
	// that it is made of. What is recomputed counts to BackwardInput.
	Kind model.Kind
	Time time.Duration
}

func (c *clock) now() time.Time {
	if c == nil {
		return time.Time{}
	}
	return time.Now()
}

func (c *clock) stop(began time.Time, m, i int, kind model.Kind) {
	if c == nil {
		return
	}
	c.times = append(c.times, LayerTime{
		Part: c.stage.slice.Part, Layer: c.stage.slice.First + i,
		Stage: c.stage.number, MicroBatch: m, Kind: kind, Time: time.Since(began),
	})
}
