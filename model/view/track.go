package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// times tells when operations run, in ticks of some unit: those of the problem, or
// nanoseconds.
type times interface {
	// span returns start and end of an operation.
	span(op model.OpID) (start, end model.Time)
}

// timelineTimes are the times of a timeline, in ticks of the problem.
type timelineTimes struct {
	p  *model.Problem
	tl *model.Timeline
}

func (t timelineTimes) span(op model.OpID) (start, end model.Time) {
	return t.tl.Start[op], t.tl.End(t.p, op)
}

// track is what a drawing needs of a timeline: which operations each device ran,
// and when. Every operation of an order has times, and starts no earlier than the
// one before it.
type track struct {
	times
	p      *model.Problem
	orders [][]model.OpID // by device
	end    model.Time     // the last end of an operation
	chunks [][]int        // by device: its stages, ascending
	most   int            // the largest number of stages on a device, at least 1
}

// newTrack needs an order for each device.
func newTrack(p *model.Problem, orders [][]model.OpID, t times) *track {
	tr := &track{times: t, p: p, orders: orders, most: 1}
	for d, order := range orders {
		if len(order) > 0 {
			_, end := t.span(order[len(order)-1])
			tr.end = max(tr.end, end)
		}
		tr.chunks = append(tr.chunks, p.StagesOn(d))
		tr.most = max(tr.most, len(tr.chunks[d]))
	}
	return tr
}

// numOps counts the entries of all orders.
func (tr *track) numOps() int {
	n := 0
	for _, order := range tr.orders {
		n += len(order)
	}
	return n
}

// class is how an operation looks: its kind, and for work which chunk of its
// device it belongs to.
type class struct {
	kind  model.Kind
	chunk int
}

func (tr *track) class(d int, op model.OpID) class {
	row := tr.p.Row(op)
	if row.Kind.IsTransfer() {
		return class{kind: row.Kind}
	}
	chunk, own := slices.BinarySearch(tr.chunks[d], row.Stage)
	if !own {
		chunk = 0 // of no stage of the device
	}
	return class{row.Kind, chunk}
}

// kinds lists the kinds that ran, ascending.
func (tr *track) kinds() []model.Kind {
	used := make([]bool, len(tr.p.Kinds))
	for _, order := range tr.orders {
		for _, op := range order {
			used[tr.p.Row(op).Kind] = true
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
func (tr *track) kindName(k model.Kind) string {
	return strings.ReplaceAll(tr.p.Kinds[k].Name, "_", " ")
}

// label names a device beside its lane.
func (tr *track) label(d int) string {
	if name := tr.p.Pipeline.Devices[d].Name; name != "" {
		return name
	}
	what := "device"
	if tr.p.Pipeline.Devices[d].Engine {
		what = "engine"
	}
	return fmt.Sprintf("%s %*d", what, len(fmt.Sprint(tr.p.NumDevices()-1)), d)
}

// counts lists the sizes of the problem.
func (tr *track) counts() []string {
	return []string{tr.p.Pipeline.DeviceCounts(),
		model.Plural(len(tr.p.Pipeline.Stages), "stage"), model.Plural(tr.p.MicroBatches(), "micro-batch")}
}
