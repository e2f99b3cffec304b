package view

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// picture is what all drawings of one plan share: its timeline, in ticks of the
// problem, and its figures.
type picture struct {
	*track
	metrics *model.Metrics
	memory  bool // the problem models memory
}

// newPicture returns an error if plan and timeline do not fit the problem.
func newPicture(p *model.Problem, plan *model.Plan, tl *model.Timeline) (*picture, error) {
	if len(plan.Order) != p.NumDevices() || len(tl.Start) != p.NumOps() {
		return nil, fmt.Errorf("view: a plan of %d devices and times of %d operations do not fit a problem of %d devices and %d operations",
			len(plan.Order), len(tl.Start), p.NumDevices(), p.NumOps())
	}
	for d, order := range plan.Order {
		for i, op := range order {
			if op < 0 || int(op) >= p.NumOps() || tl.Start[op] < 0 {
				return nil, fmt.Errorf("view: device %d, position %d: operation %d has no time", d, i, op)
			}
		}
	}
	return &picture{
		track: newTrack(p, plan.Order, timelineTimes{p, tl}), metrics: model.Measure(p, plan, tl), memory: p.ModelsMemory(),
	}, nil
}

// figures lists the figures of the plan. A bound of 0 says nothing and is left
// out; a broken plan has no gap to it.
func (pic *picture) figures(bound model.Time, broken bool) []string {
	o := pic.p.Pipeline.Objective
	value := pic.metrics.Value(o)
	parts := []string{o.String() + " " + pic.p.FormatTime(value)}
	if broken {
		parts = append(parts, "breaks rules")
	}
	switch {
	case bound > 0 && broken:
		parts = append(parts, "bound "+pic.p.FormatTime(bound)+" of plans that keep the rules")
	case bound > 0:
		parts = append(parts, "bound "+pic.p.FormatTime(bound), "gap "+percent(value-bound, value))
	}
	if o == model.Span {
		parts = append(parts, "makespan "+pic.p.FormatTime(pic.metrics.Makespan))
	}
	return append(parts, "bubble "+percent(value-pic.metrics.Ideal, value))
}

func percent(part, whole model.Time) string { return model.Percent(int64(part), int64(whole)) }

// busy is the share of the makespan that a device works.
func (pic *picture) busy(d int) string {
	return percent(pic.metrics.Devices[d].Busy, pic.metrics.Makespan)
}

// peak writes a device's peak memory, and its limit if it has one. An engine has no
// memory.
func (pic *picture) peak(d int) string {
	if pic.p.Pipeline.Devices[d].Engine {
		return "-"
	}
	text := pic.p.FormatMemory(pic.metrics.Devices[d].Peak)
	if limit := pic.p.Limits[d]; limit != model.Unlimited {
		text += " / " + pic.p.FormatMemory(limit)
	}
	return text
}
