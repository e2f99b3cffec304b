package partition

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/flexpipe/flexpipe/model/network"
)

// A Choice is what a partition decides. All have an entry for each stage.
type Choice struct {
	Cut       network.Partition
	Recompute []network.Recompute
	Devices   []int
}

// clone returns a copy.
func (c *Choice) clone() Choice {
	return Choice{slices.Clone(c.Cut), slices.Clone(c.Recompute), slices.Clone(c.Devices)}
}

// A Score orders choices; the first field that differs decides, less is better.
//
// Only Busiest is a bound on schedules. The rest breaks ties by how schedules
// usually behave, and claims no more: Latency is the time of a micro-batch through an
// empty pipe, all that recomputation and slow devices add included. In a flow line of equal jobs the
// makespan is latency + (jobs - 1) · busiest. Squares is least where the stages are
// even also off the bottleneck, as in network.MinMax. Of equally even cuts, Ends
// prefers light first and last stages, through which the pipe fills, turns around
// and drains, while the others wait. Recomputed is what recomputation without
// cost in time still adds.
type Score struct {
	Busiest    int64 // work of the busiest device per micro-batch, ticks · Factor
	Latency    int64 // sum over the stages, ticks · Factor
	Squares    Wide  // sum over the stages of the square of their part of Latency
	Ends       int64 // the parts of the first and the last stage together
	Recomputed int64 // layers recomputed; full counts twice
}

// Compare returns -1, 0 or 1.
func (a Score) Compare(b Score) int {
	if c := cmp.Compare(a.Busiest, b.Busiest); c != 0 {
		return c
	}
	return a.compareRest(b)
}

// compareRest is Compare without Busiest: sums only, so that what is added to two
// scores does not change their order.
func (a Score) compareRest(b Score) int {
	return cmp.Or(
		cmp.Compare(a.Latency, b.Latency),
		a.Squares.Compare(b.Squares),
		cmp.Compare(a.Ends, b.Ends),
		cmp.Compare(a.Recomputed, b.Recomputed),
	)
}

// Wide is an unsigned number of 128 bits.
type Wide struct{ High, Low uint64 }

// Compare returns -1, 0 or 1.
func (a Wide) Compare(b Wide) int {
	return cmp.Or(cmp.Compare(a.High, b.High), cmp.Compare(a.Low, b.Low))
}

// plusSquare returns a + n². n is not negative.
func (a Wide) plusSquare(n int64) Wide {
	high, low := bits.Mul64(uint64(n), uint64(n))
	low, carry := bits.Add64(a.Low, low, 0)
	return Wide{a.High + high + carry, low}
}

// compareChoices orders choices of equal score.
func compareChoices(a, b *Choice) int {
	return cmp.Or(slices.Compare(a.Cut, b.Cut), slices.Compare(a.Recompute, b.Recompute), slices.Compare(a.Devices, b.Devices))
}

// addStage adds a stage of the given work to all but Busiest.
func (a *Score) addStage(work int64, end bool, layers int, r network.Recompute) {
	a.Latency += work
	a.Squares = a.Squares.plusSquare(work)
	if end {
		a.Ends += work
	}
	a.Recomputed += int64(layers) * int64(r)
}

// A Usage is what a choice asks of a device.
type Usage struct {
	Work  int64 // per micro-batch, ticks · Factor
	Bytes int64 // at the peak
}

// Evaluate returns the score of a choice that fits the shape of p, and the usage of each device. It does not test the
// limits. Cost O(layers).
//
// It counts from the definitions, layer by layer, and shares nothing with the
// searches, which work on sums of ranges.
func Evaluate(p *Problem, c *Choice) (Score, []Usage) {
	use := make([]Usage, len(p.Devices))
	var score Score
	first, last := 0, len(c.Cut)-1
	for s, count := range c.Cut {
		d, r := c.Devices[s], c.Recompute[s]
		work, bytes := stageUsage(p, s, first, first+count, r)
		work *= p.Devices[d].factor()
		use[d].Work += work
		use[d].Bytes += bytes
		score.addStage(work, s == 0 || s == last, count, r)
		first += count
	}
	for _, u := range use {
		score.Busiest = max(score.Busiest, u.Work)
	}
	return score, use
}

// stageUsage returns work, with factor 1, and peak bytes of layers first to end as
// stage s under r.
func stageUsage(p *Problem, s, first, end int, r network.Recompute) (work, bytes int64) {
	var static, backward, workspace, activation int64
	for i := first; i < end; i++ {
		l := &p.Layers[i]
		m := l.Modes[r]
		work += m.Work
		activation += m.Activation
		backward += m.Backward
		workspace = max(workspace, m.Workspace)
		static += l.Static
		if first > 0 {
			static += l.Tied
		}
	}
	return work, static + int64(p.InFlight[s])*activation + max(0, backward) + workspace
}

// Fits reports whether a choice keeps every limit.
func Fits(p *Problem, c *Choice) bool {
	_, use := Evaluate(p, c)
	for d, u := range use {
		if limit := p.Devices[d].Limit; limit > 0 && u.Bytes > limit {
			return false
		}
	}
	return true
}
