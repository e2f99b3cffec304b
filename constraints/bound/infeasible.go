package bound

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// Infeasibility is a proof that no schedule of a problem respects the memory
// limits.
type Infeasibility struct {
	Device int
	Need   model.Bytes // what some operation must find on the device
	Limit  model.Bytes
	Reason string // one sentence, in the problem's memory unit
}

// Infeasible returns a proof that memory limits rule out every schedule of p,
// of the device where most is lacking, or nil if it finds none. It adds up what
// a single micro-batch must hold at once when an operation starts. For a chain
// of stages the answer is exact: if one micro-batch alone fits, so do all, one
// after the other. For other stage graphs nil proves nothing.
//
// Cost O(rows per device · rows + rows · precedences / 64).
func Infeasible(p *model.Problem) *Infeasibility {
	if !limited(p) {
		return nil
	}
	g := newGraph(p, 1, false, lightest(p))
	all := g.precedence()
	var worst *Infeasibility
	for d, l := range all {
		need, row := g.largestNeed(d, l)
		if need <= g.limits[d] {
			continue
		}
		if worst == nil || need-g.limits[d] > worst.Need-worst.Limit {
			worst = infeasibility(p, d, need, row)
		}
	}
	return worst
}

// largestNeed returns the largest memory that some row of a device cannot do
// without, and that row; -1 if static memory alone needs as much.
func (g *graph) largestNeed(d int, l *leads) (model.Bytes, int) {
	most, row := g.statics[d], -1
	if l == nil {
		return most, row
	}
	holders, ok := g.holders(d, l)
	if !ok {
		return most, row
	}
	for slot, q := range g.on[d] {
		if g.rows[q].count == 0 {
			continue
		}
		if need := g.need(d, slot, l, holders); need > most {
			most, row = need, g.rows[q].row
		}
	}
	return most, row
}

func infeasibility(p *model.Problem, d int, need model.Bytes, row int) *Infeasibility {
	limit := p.Limits[d]
	what := "for parameters alone"
	if row >= 0 {
		r := &p.Rows[row]
		what = fmt.Sprintf("for a single micro-batch, at the %s of stage %d", p.Kinds[r.Kind].Name, r.Stage)
	}
	atLeast := p.Pipeline.MemoryUnit.SizeUp(int64(need))
	return &Infeasibility{Device: d, Need: need, Limit: limit,
		Reason: fmt.Sprintf("%s needs %s %s; its limit is %s: a limit of %s would fit",
			p.DeviceName(d), atLeast, what, p.FormatMemory(limit), atLeast)}
}
