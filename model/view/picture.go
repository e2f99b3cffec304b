package view

import (
	"fmt"
	"math/big"
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
	pic := &picture{p: p, plan: plan, tl: tl, metrics: model.Measure(p, plan, tl), most: 1}
	for d := range plan.Order {
		pic.end = max(pic.end, pic.metrics.Devices[d].Last)
		pic.chunks = append(pic.chunks, stagesOn(p, d))
		pic.most = max(pic.most, len(pic.chunks[d]))
		pic.memory = pic.memory || p.Statics[d] != 0 || p.Limits[d] != model.Unlimited
	}
	for r := range p.Rows {
		pic.memory = pic.memory || p.Rows[r].Memory != nil
	}
	return pic, nil
}

func stagesOn(p *model.Problem, d int) []int {
	var stages []int
	for _, r := range p.RowsOn[d] {
		if row := &p.Rows[r]; !row.Kind.IsTransfer() {
			stages = append(stages, row.Stage)
		}
	}
	slices.Sort(stages)
	return slices.Compact(stages)
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
	chunk, _ := slices.BinarySearch(pic.chunks[d], row.Stage)
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
	return fmt.Sprintf("device %*d", len(fmt.Sprint(pic.p.NumDevices()-1)), d)
}

// time writes a number of ticks in the user's unit, with its name.
func (pic *picture) time(t model.Time) string {
	u := pic.p.Pipeline.TimeUnit
	if u.Name == "" {
		return u.Format(int64(t))
	}
	return u.Format(int64(t)) + " " + u.Name
}

// summary lists the figures of the plan. A bound of 0 says nothing and is left
// out.
func (pic *picture) summary(bound model.Time) []string {
	o := pic.p.Pipeline.Objective
	value := pic.metrics.Value(o)
	parts := []string{o.String() + " " + pic.time(value)}
	if bound > 0 {
		parts = append(parts, "bound "+pic.time(bound), "gap "+percent(value-bound, value))
	}
	if o == model.Span {
		parts = append(parts, "makespan "+pic.time(pic.metrics.Makespan))
	}
	return append(parts, "bubble "+percent(value-pic.metrics.Ideal, value),
		count(pic.p.NumDevices(), "device"), count(len(pic.p.Pipeline.Stages), "stage"), count(pic.p.MicroBatches(), "micro-batch"))
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		return fmt.Sprintf("%d %ses", n, what)
	default:
		return fmt.Sprintf("%d %ss", n, what)
	}
}

// percent writes a share, rounded to one decimal in integers, so that it is the
// same on every machine.
func percent(part, whole model.Time) string {
	if whole == 0 {
		return "0.0%"
	}
	for whole > 1<<50 {
		part, whole = part>>1, whole>>1
	}
	tenths := (part*2000 + whole) / (2 * whole)
	return fmt.Sprintf("%d.%d%%", tenths/10, tenths%10)
}

// busy is the share of the makespan that a device works.
func (pic *picture) busy(d int) string {
	return percent(pic.metrics.Devices[d].Busy, pic.metrics.Makespan)
}

// peak writes a device's peak memory, and its limit if it has one.
func (pic *picture) peak(d int) string {
	text := pic.amount(pic.metrics.Devices[d].Peak)
	if limit := pic.p.Limits[d]; limit != model.Unlimited {
		text += "/" + pic.amount(limit)
	}
	return text
}

// amount writes memory in the user's unit; bytes in a larger unit, rounded.
func (pic *picture) amount(b model.Bytes) string {
	u := pic.p.Pipeline.MemoryUnit
	if !isByte(u) {
		return u.Format(int64(b))
	}
	n := u.Rat(int64(b))
	return binarySize(new(big.Int).Quo(n.Num(), n.Denom()))
}

// memoryUnit names the unit of amount, "" if the amount does so or has none.
func (pic *picture) memoryUnit() string {
	if u := pic.p.Pipeline.MemoryUnit; !isByte(u) {
		return u.Name
	}
	return ""
}

func isByte(u model.Unit) bool { return u.Name == "B" || u.Name == "byte" || u.Name == "bytes" }

// binarySize writes n bytes with one decimal of the largest unit that fits.
func binarySize(n *big.Int) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n.BitLen() <= 10 {
		return n.String() + "B"
	}
	unit := min((n.BitLen()-1)/10, len(units))
	tenths := new(big.Int).Mul(n, big.NewInt(10))
	tenths.Rsh(tenths, uint(10*unit-1)).Add(tenths, big.NewInt(1)).Rsh(tenths, 1) // rounded
	whole, tenth := new(big.Int).QuoRem(tenths, big.NewInt(10), new(big.Int))
	return fmt.Sprintf("%d.%d%s", whole, tenth, units[unit-1])
}
