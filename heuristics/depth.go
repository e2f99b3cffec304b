package heuristics

import "github.com/flexpipe/flexpipe/model"

// Depth returns, by stage, how many micro-batches have run its forward and not yet
// the gradient of its input when the busiest device never waits: the time from the
// one to the other in an empty pipeline, over the work of the busiest device for a
// micro-batch. With one even stage per device it is P - s for stage s, the in-flight
// bound of 1F1B. Cost O((rows + precedences) · log rows).
func Depth(p *model.Problem) []float64 {
	o := newOutline(p)
	depth := make([]float64, len(p.Pipeline.Stages))
	for r := range p.Rows {
		if row := &p.Rows[r]; row.Kind == model.Forward {
			depth[row.Stage] = max(depth[row.Stage], float64(o.trip[r])/float64(o.period))
		}
	}
	return depth
}
