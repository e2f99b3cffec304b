package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// picture is what all drawings of a plan share.
type picture struct {
	p       *model.Problem
	plan    *model.Plan
	tl      *model.Timeline
	metrics *model.Metrics
	end     model.Time // the last end of an operation; the axis runs from 0 to it
	chunks  [][]int    // by device: its stages, ascending
	most    int        // the largest number of stages on a device, at least 1
	memory  bool       // the problem models memory
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
	pic := &picture{p: p, plan: plan, tl: tl, metrics: model.Measure(p, plan, tl), most: 1, memory: p.ModelsMemory()}
	for d := range plan.Order {
		pic.end = max(pic.end, pic.metrics.Devices[d].Last)
		pic.chunks = append(pic.chunks, p.StagesOn(d))
		pic.most = max(pic.most, len(pic.chunks[d]))
	}
	return pic, nil
}

// class is how an operation looks: its kind, and for work which chunk of its
// device it belongs to.
type class struct {
	kind  model.Kind
	chunk int
}

func (pic *picture) class(d int, op model.OpID) class {
	row := pic.p.Row(op)
	if row.Kind.IsTransfer() {
		return class{kind: row.Kind}
	}
	chunk, own := slices.BinarySearch(pic.chunks[d], row.Stage)
	if !own {
		chunk = 0 // of no stage of the device
	}
	return class{row.Kind, chunk}
}

// kinds lists the kinds that the plan uses, ascending.
func (pic *picture) kinds() []model.Kind {
	used := make([]bool, len(pic.p.Kinds))
	for _, order := range pic.plan.Order {
		for _, op := range order {
			used[pic.p.Row(op).Kind] = true
		}
	}
	var kinds []model.Kind
	for k, yes := range used {
		if yes {
			kinds = append(kinds, model.Kind(k))
		}
	}
	return kinds
}

// kindName is the name of a kind in a legend.
func (pic *picture) kindName(k model.Kind) string {
	return strings.ReplaceAll(pic.p.Kinds[k].Name, "_", " ")
}

// label names a device beside its lane.
func (pic *picture) label(d int) string {
	if name := pic.p.Pipeline.Devices[d].Name; name != "" {
		return name
	}
	what := "device"
	if pic.p.Pipeline.Devices[d].Engine {
		what = "engine"
	}
	return fmt.Sprintf("%s %*d", what, len(fmt.Sprint(pic.p.NumDevices()-1)), d)
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

// counts lists the sizes of the problem.
func (pic *picture) counts() []string {
	return []string{pic.p.Pipeline.DeviceCounts(),
		model.Plural(len(pic.p.Pipeline.Stages), "stage"), model.Plural(pic.p.MicroBatches(), "micro-batch")}
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
