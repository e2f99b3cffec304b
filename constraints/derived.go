package constraints

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// derived compares what a problem derives from its rows, for algorithms to read,
// with the rows: successors, rows of a device, and the two flags. Cost O(rows +
// precedences between rows).
func (c *compiled) derived() {
	p := c.p
	on := make([][]int32, len(p.Limits))
	succs := make([][]model.Succ, len(p.Rows))
	choice := false
	for r := range p.Rows {
		row := &p.Rows[r]
		choice = choice || row.Choice != model.Always
		for _, d := range row.Devices {
			on[d] = append(on[d], int32(r))
		}
		for _, pred := range row.Preds {
			succ := model.Succ{Row: int32(r), Lag: pred.Lag}
			succs[pred.Row] = append(succs[pred.Row], succ)
			if twin := p.Rows[pred.Row].Twin; twin >= 0 {
				succs[twin] = append(succs[twin], succ)
			}
		}
	}
	if !slices.EqualFunc(on, p.RowsOn, slices.Equal) {
		c.add(-1, "the lists of rows by device differ from the devices of the rows")
	}
	if !slices.EqualFunc(succs, p.Succs, slices.Equal) {
		c.add(-1, "the successors of the rows differ from their predecessors")
	}
	if choice != p.HasChoice {
		c.add(-1, "the problem says %v about a choice between split and fused, its rows say %v", p.HasChoice, choice)
	}
	alike := len(slices.Compact(slices.Clone(c.pl.Factors))) <= 1
	if alike != p.Identical {
		c.add(-1, "the problem says %v about identical micro-batches, its factors say %v", p.Identical, alike)
	}
}
