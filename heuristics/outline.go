package heuristics

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// outline is what a problem looks like when micro-batches do not get into each
// other's way. Times are those of a micro-batch of factor 1, in ticks.
type outline struct {
	head   []model.Time // by row: the earliest start
	trip   []model.Time // by forward row: from its start to the end of the stage's gradient, 0 if there is none
	tail   []model.Time // by row: from its end to the end of the last operation that waits for it
	period model.Time   // work of the busiest device for a micro-batch, at least 1
	length model.Time   // from the first start to the last end
}

// newOutline computes the outline of p in O((rows + precedences) · log rows).
func newOutline(p *model.Problem) *outline {
	n := len(p.Rows)
	o := &outline{head: make([]model.Time, n), trip: make([]model.Time, n), tail: make([]model.Time, n), period: 1}
	order := p.RowOrder(nil)
	for _, r := range order {
		end := o.head[r] + p.Rows[r].Duration
		o.length = max(o.length, end)
		for _, s := range p.Succs[r] {
			o.head[s.Row] = max(o.head[s.Row], end+s.Lag)
		}
	}
	for i := n - 1; i >= 0; i-- {
		r := order[i]
		for _, s := range p.Succs[r] {
			o.tail[r] = max(o.tail[r], s.Lag+p.Rows[s.Row].Duration+o.tail[s.Row])
		}
	}
	routes := p.Pipeline.NumRoutes()
	for _, rows := range p.RowsOn {
		work := make([]model.Time, routes)
		for _, r := range rows {
			if row := &p.Rows[r]; row.Choice != model.WhenFused && !row.Single {
				work[row.Route] += row.Duration
			}
		}
		o.period = max(o.period, slices.Max(work))
	}
	o.findTrips(p)
	return o
}

// findTrips pairs each forward with the gradient of its stage.
func (o *outline) findTrips(p *model.Problem) {
	type place struct{ stage, route int }
	forward := map[place]int{}
	for r := range p.Rows {
		if p.Rows[r].Kind == model.Forward {
			forward[place{p.Rows[r].Stage, p.Rows[r].Route}] = r
		}
	}
	for r := range p.Rows {
		row := &p.Rows[r]
		if f, ok := forward[place{row.Stage, row.Route}]; ok && row.Kind.CarriesGradient() {
			o.trip[f] = max(o.trip[f], o.head[r]+row.Duration-o.head[f])
		}
	}
}
