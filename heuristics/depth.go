package heuristics

import "github.com/flexpipe/flexpipe/model"

// Depth returns, by stage, how many micro-batches have run its forward and not yet
// the gradient of its input, or of its weights where it has no other, when the busiest device never waits: the time from the
// one to the other in an empty pipeline, over the work of the busiest device for a
// micro-batch. With one even stage per device it is P - s for stage s, the in-flight
// bound of 1F1B. Cost O((rows + precedences) · log rows).
func Depth(p *model.Problem) []float64 {
	o := newOutline(p)
	depth := make([]float64, len(p.Pipeline.Stages))
	start := make([]model.Time, len(p.Pipeline.Stages))
	for r := range p.Rows {
		if row := &p.Rows[r]; row.Kind == model.Forward {
			depth[row.Stage] = max(depth[row.Stage], float64(o.trip[r])/float64(o.period))
			start[row.Stage] = o.head[r]
		}
	}
	for r := range p.Rows {
		if row := &p.Rows[r]; row.Kind == model.BackwardWeight && depth[row.Stage] == 0 {
			depth[row.Stage] = float64(o.head[r]+row.Duration-start[row.Stage]) / float64(o.period)
		}
	}
	return depth
}
