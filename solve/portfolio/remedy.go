package portfolio

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
)

// The sizes up to which Remedy looks for one, and how many rules it tries for each
// device.
const (
	mostRemedyRows    = 1 << 12
	mostRemedyDevices = 64
	remedyTries       = 32
)

// Remedy says what would fit for a problem that a search proved infeasible, where
// the bound alone did not: which device lacks memory for one micro-batch after the
// other, what its limit is, and which limit would do. It is the end of a sentence,
// or "" if nothing is found soon. The limit suffices; a smaller one may, too.
//
// Cost O(devices) searches for a plan of a single micro-batch, none for problems of
// thousands of rows, nor where an operation that runs once may make all micro-batches
// live at a time: there one of them alone says nothing.
func Remedy(ctx context.Context, p *model.Problem) string {
	if len(p.Rows) > mostRemedyRows || p.NumDevices() > mostRemedyDevices || p.Pipeline.Routes != nil ||
		slices.ContainsFunc(p.Rows, func(r model.Row) bool { return r.Single }) {
		return ""
	}
	pl := *p.Pipeline
	pl.MicroBatches, pl.Factors = 1, nil
	best := lifted(ctx, p, pl, func(int) bool { return true })
	for d, limit := range p.Limits {
		if limit == model.Unlimited {
			continue
		}
		if one := lifted(ctx, p, pl, func(other int) bool { return other == d }); one != nil && one.less(best) {
			best = one
		}
	}
	if best == nil || len(best.devices) == 0 {
		return ""
	}
	return best.text(p)
}

// lacks says which devices hold how much more than their limits.
type lacks struct {
	devices []int
	peaks   []model.Bytes
	excess  model.Bytes // in all
}

// less prefers fewer devices, then less memory.
func (l *lacks) less(other *lacks) bool {
	if other == nil || len(l.devices) != len(other.devices) {
		return other == nil || len(l.devices) < len(other.devices)
	}
	return l.excess < other.excess
}

// lifted returns what a plan of one micro-batch lacks if some devices have no limit,
// nil if no such plan is found.
func lifted(ctx context.Context, p *model.Problem, pl model.Pipeline, free func(device int) bool) *lacks {
	pl.Devices = append([]model.Device(nil), pl.Devices...)
	for d := range pl.Devices {
		if free(d) {
			pl.Devices[d].Limit = model.Unlimited
		}
	}
	one, err := model.Compile(&pl)
	if err != nil {
		return nil
	}
	found, err := heuristics.Search(ctx, one, heuristics.Options{Seed: 1, Workers: 1, Tries: remedyTries})
	if err != nil {
		return nil
	}
	tl, err := model.Evaluate(one, found.Plan)
	if err != nil {
		return nil
	}
	l := &lacks{}
	for d, m := range model.Measure(one, found.Plan, tl).Devices {
		if m.Peak > p.Limits[d] {
			l.devices, l.peaks = append(l.devices, d), append(l.peaks, m.Peak)
			l.excess += m.Peak - p.Limits[d]
		}
	}
	return l
}

// mostLacking is the number of devices that a remedy names.
const mostLacking = 4

func (l *lacks) text(p *model.Problem) string {
	size := func(n model.Bytes) string { return p.Pipeline.MemoryUnit.SizeUp(int64(n)) }
	if len(l.devices) == 1 {
		d := l.devices[0]
		return fmt.Sprintf("; a micro-batch alone, as far as orders were tried, needs %s on %s, whose limit is %s: a limit of %s would fit",
			size(l.peaks[0]), p.DeviceName(d), p.FormatMemory(p.Limits[d]), size(l.peaks[0]))
	}
	var parts []string
	for i, d := range l.devices[:min(len(l.devices), mostLacking)] {
		parts = append(parts, fmt.Sprintf("%s on %s (limit %s)", size(l.peaks[i]), p.DeviceName(d), p.FormatMemory(p.Limits[d])))
	}
	text := "; a micro-batch alone, as far as orders were tried, needs " + strings.Join(parts, ", ")
	if more := len(l.devices) - mostLacking; more > 0 {
		text += fmt.Sprintf(" and more on %s", model.Plural(more, "other device"))
	}
	return text + ": such limits would fit"
}
