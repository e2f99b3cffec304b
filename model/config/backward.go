package config

import "fmt"

// readBackward reads the way of each stage's backward. It defaults to split.
func (d *decoder) readBackward() bool {
	read := func(v value) (Backward, bool) { return word(v, Split, Fused, Auto) }
	col, ok := perStage(d.root.get("backward"), d.config.Stages, "stage mode", read)
	if !ok {
		return false
	}
	d.config.Backward = make([]Backward, d.config.Stages)
	for stage, entry := range col.cells {
		d.config.Backward[stage] = entry.or(Split)
	}
	return true
}

// checkGradients fails where a backward waits for a gradient that nobody sends: a
// stage with a backward of any kind needs each successor to have backward_input or
// backward_full. It follows that no ancestor of a stage without one has one.
func (d *decoder) checkGradients(stages []stageDurations) {
	for _, edge := range d.config.Edges {
		from, to := d.config.Costs[edge.From], d.config.Costs[edge.To]
		if !from.HasBackward() || to.SendsGradient() {
			continue
		}
		stages[edge.To].input.at.fail(
			fmt.Sprintf("stage %d has no backward_input, so stage %d, which has a backward, gets no gradient", edge.To, edge.From),
			fmt.Sprintf("give stage %d a backward_input, or write none for each backward of stage %d", edge.To, edge.From))
		return
	}
}
