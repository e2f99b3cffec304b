package bound

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// Infeasibility is a proof that no schedule of a problem respects the memory
// limits. It is about the device where most is lacking; Reason names others too.
type Infeasibility struct {
	Device int
	Need   model.Bytes // what some operation must find on the device
	Limit  model.Bytes
	Reason string // one sentence, in the problem's memory unit
}

// Infeasible returns a proof that memory limits rule out every schedule of p, or
// nil if it finds none. It adds up what a single micro-batch must hold at once when an
// operation starts, and what all micro-batches must hold when one that runs once does.
// For a chain of stages without operations of its own the answer is exact: if one
// micro-batch alone fits, so do all, one after the other. For other pipelines nil proves
// nothing.
//
// Cost O(rows per device · rows + rows · precedences / 64).
func Infeasible(p *model.Problem) *Infeasibility {
	if !limited(p) {
		return nil
	}
	g := newGraph(p, 1, false, lightest(p))
	all := g.precedence()
	var lacks []lack
	waits := func(q, r int32) bool { return false }
	if len(g.singles) > 0 {
		waits = g.ancestors()
	}
	for d, l := range all {
		if need, row := g.largestNeed(d, l, waits); need > g.limits[d] {
			lacks = append(lacks, lack{d, need, g.limits[d], row})
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	slices.SortStableFunc(lacks, func(a, b lack) int { return cmp.Compare(b.need-b.limit, a.need-a.limit) })
	worst := lacks[0]
	return &Infeasibility{Device: worst.device, Need: worst.need, Limit: worst.limit, Reason: lacking(p, lacks)}
}

// lack is a device whose limit is too low.
type lack struct {
	device      int
	need, limit model.Bytes
	row         int // that needs it; -1 if static memory alone does
}

// largestNeed returns the largest memory that a device cannot do without when some
// row of its own, or one that runs once anywhere, starts, and that row; -1 if static
// memory alone needs as much. waits tells whether row q waits for row r.
func (g *graph) largestNeed(d int, l *leads, waits func(q, r int32) bool) (model.Bytes, int) {
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
	for _, q := range g.singles {
		if need := g.needOfAll(d, q, holders, waits); need > most {
			most, row = need, g.rows[q].row
		}
	}
	return most, row
}

// mostNamed is the number of devices that a reason names.
const mostNamed = 4

// lacking says what the devices lack, the worst of which comes first.
func lacking(p *model.Problem, lacks []lack) string {
	what, worst := "for parameters alone", lacks[0]
	if worst.row >= 0 {
		r := &p.Rows[worst.row]
		what = "for a single micro-batch, at the " + p.Kinds[r.Kind].Name
		if r.Single {
			what = "for all micro-batches, at the " + p.Kinds[r.Kind].Name
		}
		if r.Stage >= 0 {
			what += fmt.Sprintf(" of stage %d", r.Stage)
		}
	}
	size := func(l lack) string { return p.Pipeline.MemoryUnit.SizeUp(int64(l.need)) }
	text := fmt.Sprintf("%s needs %s %s; its limit is %s: a limit of %s would fit",
		p.DeviceName(worst.device), size(worst), what, p.FormatMemory(worst.limit), size(worst))
	var others []string
	for _, l := range lacks[1:min(len(lacks), mostNamed)] {
		others = append(others, fmt.Sprintf("%s needs %s (limit %s)", p.DeviceName(l.device), size(l), p.FormatMemory(l.limit)))
	}
	if len(others) > 0 {
		text += "; " + strings.Join(others, ", ")
	}
	if more := len(lacks) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
