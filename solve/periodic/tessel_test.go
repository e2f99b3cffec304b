package periodic_test

import (
	"context"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve/periodic"
)

// block is a stage of a placement: forward and backward on the same devices.
type block struct {
	devices           []int
	forward, backward model.Time // backward Absent: none
	memory            model.Bytes
	after             []int
}

// every is a block on all devices, as a tensor-parallel embedding.
func every(devices int, backward model.Time, memory model.Bytes) block {
	b := block{forward: 1, backward: backward, memory: memory}
	for d := range devices {
		b.devices = append(b.devices, d)
	}
	return b
}

func one(device int) block { return block{devices: []int{device}, forward: 1, backward: 3, memory: 1} }

// chain gives each block the one before as its predecessor.
func chain(blocks ...block) []block {
	for s := 1; s < len(blocks); s++ {
		blocks[s].after = []int{s - 1}
	}
	return blocks
}

// insert puts a block before the one with number at.
func insert(blocks []block, at int, b block) []block {
	return append(append(append([]block(nil), blocks[:at]...), b), blocks[at:]...)
}

func line(devices int) []block {
	var blocks []block
	for d := range devices {
		blocks = append(blocks, one(d))
	}
	return blocks
}

// The placements of Tessel's examples (github.com/zhiqi-0/Tessel, examples/simulator/
// cases_tessel.py: forward 1, backward 3, blocks on all devices 1 and without
// memory), stated as stages.
func mshape(n int) []block { return chain(insert(line(n), 0, every(n, 1, 0))...) }

func nnshape(n int) []block {
	return chain(insert(insert(line(n), n/2, every(n, 1, 0)), 0, every(n, 1, 0))...)
}

func nnshapeEager() []block {
	return chain(insert(insert(line(4), 1, every(4, 1, 0)), 0, every(4, 1, 0))...)
}

func mllm(n int) []block {
	return chain(append(insert(line(n), 0, every(n, 1, 0)), every(n, 1, 0))...)
}

// kshape is two branches, and a joint block on all devices.
func kshape(n int) []block {
	blocks := line(n)
	for d := range n {
		if d%(n/2) > 0 {
			blocks[d].after = []int{d - 1}
		}
	}
	joint := every(n, 1, 1)
	joint.after = []int{n/2 - 1, n - 1}
	return append(blocks, joint)
}

// xshape is two pipelines in opposite directions.
func xshape(n int) []block {
	blocks := chain(line(n)...)
	for d := n - 1; d >= 0; d-- {
		b := one(d)
		if d < n-1 {
			b.after = []int{len(blocks) - 1}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func placed(devices, microBatches int, limit model.Bytes, blocks []block) *model.Problem {
	pl := &model.Pipeline{MicroBatches: microBatches}
	for range devices {
		pl.Devices = append(pl.Devices, model.Device{Limit: limit})
	}
	for _, b := range blocks {
		pl.Stages = append(pl.Stages, model.Stage{
			After: b.after, Activation: b.memory, Backward: model.Fused,
			Replicas: []model.Replica{{Devices: b.devices, Durations: model.Durations{
				Forward: b.forward, BackwardInput: model.Absent, BackwardWeight: model.Absent,
				BackwardFull: b.backward, Overlapped: model.Absent,
			}}},
		})
	}
	p, err := model.Compile(pl)
	if err != nil {
		panic(err)
	}
	return p
}

type placement struct {
	name    string
	problem *model.Problem
	period  model.Time
}

// placements lists Tessel's examples with a memory limit for which it reports a
// steady state without idle time: the period is the work of the busiest device.
func placements() []placement {
	return []placement{
		{"v", placed(4, 12, 4, chain(line(4)...)), 4},
		{"m", placed(4, 12, 6, mshape(4)), 6},
		{"m, 6 devices", placed(6, 12, 20, mshape(6)), 6},
		{"nn", placed(4, 12, 6, nnshape(4)), 8},
		{"nn eager", placed(4, 12, 20, nnshapeEager()), 8},
		{"mllm", placed(4, 12, 20, mllm(4)), 8},
		{"k", placed(4, 12, 6, kshape(4)), 6},
		{"x", placed(4, 12, 4, xshape(4)), 8},
		{"x, 8 devices", placed(8, 16, 8, xshape(8)), 8},
		{"nn, 8 devices", placed(8, 16, 20, nnshape(8)), 8},
	}
}

func TestTessel(t *testing.T) {
	for _, c := range placements() {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			got := find(t, c.problem, periodic.Options{})
			t.Logf("period %d, span %d, proved %t, %v", got.Period, got.Span, got.Proved, time.Since(begin))
			if got.Period != c.period || !got.Proved {
				t.Errorf("period %d, proved %t; want %d, without idle time", got.Period, got.Proved, c.period)
			}
			value := judged(t, c.problem, got.Unroll(c.problem))
			if most := model.Time(c.problem.MicroBatches()-1)*got.Period + got.Span; value > most {
				t.Errorf("makespan %d, more than %d", value, most)
			}
		})
	}
}

// TestTesselMemory has less memory than a steady state without idle time needs.
func TestTesselMemory(t *testing.T) {
	for _, c := range []struct{ limit, period int }{{1, 16}, {2, 8}, {3, 8}, {4, 4}, {20, 4}} {
		p := placed(4, 12, model.Bytes(c.limit), chain(line(4)...))
		got := find(t, p, periodic.Options{})
		if got.Period != model.Time(c.period) || !got.Proved {
			t.Errorf("limit %d: period %d, proved %t; want %d", c.limit, got.Period, got.Proved, c.period)
		}
		judged(t, p, got.Unroll(p))
	}
}

func BenchmarkFind(b *testing.B) {
	cases := append(placements(),
		placement{"v, 2 chunks, half memory, 4 devices", modelgen.Problem(vshape(4, 8, 1, 1, 1, 0, 4)), 6},
		placement{"v, 2 chunks, half memory, 8 devices", modelgen.Problem(vshape(8, 8, 1, 1, 1, 0, 8)), 6},
		placement{"v, 2 chunks, half memory, uneven, 4 devices", modelgen.Problem(vshape(4, 8, 10, 11, 9, 1, 4)), 70},
		placement{"v, 2 chunks, half memory, uneven, 8 devices", modelgen.Problem(vshape(8, 8, 10, 11, 9, 1, 8)), 0},
		placement{"v, 2 chunks, 16 devices", modelgen.Problem(vshape(16, 8, 10, 11, 9, 1, 16)), 0},
	)
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := periodic.Find(context.Background(), c.problem, periodic.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
