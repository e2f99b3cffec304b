package cssr

import "github.com/flexpipe/flexpipe/model"

// NamedPoint is a point of the space that gives a schedule of the literature from
// priorities and bounds alone. Package heuristics lists the published orders
// themselves; [Named] says where the decoder gives the same.
type NamedPoint struct {
	Name  string
	Title string

	// Chunks is the number of stages per device; 0: any.
	Chunks int

	// At returns the point for P devices, M micro-batches and v stages per device,
	// for a configuration with one stage per device.
	At func(p, m, v int) Point
}

// Named returns the named points, always in the same order. With unit costs (F = I
// = W = 1, B = 2) and no latencies, from M = P up:
//   - gpipe, 1f1b, zb-h1 give the published orders; zb-h2 does from M = 2P-1 up;
//   - interleaved gives the published makespan and memory, and nearly always the
//     published order: where a device of that one waits for a forward of the next chunk
//     with room for one of the next round, or with a gradient that is ready, ours does
//     not wait;
//   - looped-bfs gives the published makespan and memory; the published order takes
//     micro-batches back last in, first out, the decoder first in, first out;
//   - zb-v gives the published makespan 6M+P-1 from M = 2P-1 up, with at most 2P live
//     chunks on a device; it finds the places of the weight gradients itself;
//   - hanayo keeps to the memory of the first device of 1F1B.
func Named() []NamedPoint {
	return []NamedPoint{
		{Name: "gpipe", Title: "GPipe", Chunks: 1, At: gpipePoint},
		{Name: "1f1b", Title: "One forward, one backward", Chunks: 1, At: oneByOnePoint},
		{Name: "interleaved", Title: "Interleaved 1F1B", At: interleavedPoint},
		{Name: "looped-bfs", Title: "Looped breadth-first", At: breadthFirstPoint},
		{Name: "zb-h1", Title: "Zero bubble with the memory of 1F1B", Chunks: 1, At: zeroBubblePoint(1)},
		{Name: "zb-h2", Title: "Zero bubble with twice the memory of 1F1B", Chunks: 1, At: zeroBubblePoint(2)},
		{Name: "zb-v", Title: "Zero bubble on a V", Chunks: 2, At: zeroBubbleVPoint},
		{Name: "hanayo", Title: "Waves over a V (Hanayo)", At: hanayoPoint},
	}
}

// shaped returns the choices of a placement with v chunks on each device.
func shaped(placement string, v int, mode model.Mode) Choices {
	c := Choices{Placement: placement, Backward: &mode}
	if v > 1 {
		c.SplitStages = v
	}
	return c
}

// byDevice lists a number for each device.
func byDevice(p int, f func(d int) int) []int {
	list := make([]int, p)
	for d := range list {
		list[d] = f(d)
	}
	return list
}

// gpipePoint runs all forwards first (Huang et al. 2019).
func gpipePoint(_, _, _ int) Point {
	return Point{shaped("linear", 1, model.Fused), Policy{Types: []string{"F", "B"}}}
}

// oneByOnePoint prefers gradients, with one micro-batch in flight for each device
// from this one on (Narayanan et al. 2021, PipeDream-Flush).
func oneByOnePoint(p, _, _ int) Point {
	return Point{shaped("linear", 1, model.Fused),
		Policy{Types: []string{"B", "F"}, InFlight: byDevice(p, func(d int) int { return p - d })}}
}

// interleavedPoint fills a device up to the warm-up of Megatron-LM and one more,
// round by round (Narayanan et al. 2021, section 2.2).
func interleavedPoint(p, m, v int) Point {
	round := InterleavedRound(p, m)
	return Point{shaped("loop", v, model.Fused), Policy{Types: []string{"F", "B"}, Group: round,
		InFlight: byDevice(p, func(d int) int { return 2*(p-1-d) + (v-1)*round + 1 })}}
}

// InterleavedRound returns the smallest number of micro-batches per round of interleaved
// schedules that leaves no last round of fewer than one micro-batch per device: shorter
// rounds would let devices wait for each other in a circle. Megatron-LM demands the same
// of its microbatch_group_size_per_vp_stage. PyTorch's rule, max(1, M div P) rounds of
// equal size, gives the same number wherever it can be kept.
func InterleavedRound(devices, microBatches int) int {
	for size := devices; size < microBatches; size++ {
		if rest := microBatches % size; rest == 0 || rest >= devices {
			return size
		}
	}
	return microBatches
}

// breadthFirstPoint runs all micro-batches through a chunk before the next chunk
// (Lamy-Poirier 2023).
func breadthFirstPoint(_, _, v int) Point {
	return Point{shaped("loop", v, model.Fused), Policy{Types: []string{"F", "B"}}}
}

// zeroBubblePoint warms up with depth forwards for each later device, and lets
// device d put off depth · d weight gradients (Qi et al. 2024, section 2).
func zeroBubblePoint(depth int) func(p, m, v int) Point {
	return func(p, _, _ int) Point {
		return Point{shaped("linear", 1, model.Split), Policy{Types: []string{"F", "I", "W"},
			InFlight: byDevice(p, func(d int) int { return depth*(p-1-d) + 1 }),
			Patience: []Wait{{"W", 8}}, // the hand-made order waits rather than fill a gap that costs make
			Weights:  Weights{Deferred, byDevice(p, func(d int) int { return depth * d })}}}
	}
}

// zeroBubbleVPoint runs each weight gradient as soon as it can, with at most 2P
// chunks in flight, until the last forward; then gradients of inputs come first
// (Qi et al. 2024, section 6).
func zeroBubbleVPoint(p, _, _ int) Point {
	return Point{shaped("v", 2, model.Split), Policy{Types: []string{"W", "F", "I"},
		Exceptions: []Exception{{AnyActor, CoolDown, []string{"I", "W", "F"}}},
		Traversal:  Wave, InFlight: []int{2 * p}}}
}

// hanayoPoint sends micro-batches along a folded placement, the oldest first, with
// as many in flight as there are devices (Liu et al. 2023: Hanayo, SC 2023).
func hanayoPoint(p, _, v int) Point {
	return Point{shaped("v", v, model.Fused), Policy{Types: []string{"F", "B"}, Traversal: Wave, InFlight: []int{p * v}}}
}
