package view

import (
	"fmt"
	"math"

	"github.com/flexpipe/flexpipe/model"
)

// TraceLane is one timeline of a problem in nanoseconds: what a plan predicts, or an
// iteration that really ran. Start and End have an entry for each operation of the
// problem, counted from the start of the iteration, and -1 in both for an operation
// that the lane does not hold. A device runs its operations in the order of the plan,
// one at a time. Nothing in a lane is written by this package.
type TraceLane struct {
	Name       string // as readers see it: "predicted", "measured"
	Problem    *model.Problem
	Plan       *model.Plan
	Start, End []int64 // nanoseconds, by OpID
}

// mostNanoseconds bounds the times of lanes, so that no sum overflows: 36 years.
const mostNanoseconds = 1 << 60

// LaneOf returns a timeline as a lane. Each start and each end is rounded to the
// nearest nanosecond by itself, so that what met in ticks meets in nanoseconds. The
// length of a tick must be positive; TickLength tells what a unit says of it. It
// panics if the length is not positive. Cost O(operations).
func LaneOf(name string, p *model.Problem, plan *model.Plan, tl *model.Timeline, nsPerTick float64) TraceLane {
	if !(nsPerTick > 0) {
		panic(fmt.Sprintf("view: a tick of %v nanoseconds", nsPerTick))
	}
	nanoseconds := func(t model.Time) int64 {
		return int64(math.Round(min(float64(t)*nsPerTick, 2*mostNanoseconds))) // what is too long is refused later
	}
	lane := TraceLane{Name: name, Problem: p, Plan: plan, Start: make([]int64, len(tl.Start)), End: make([]int64, len(tl.Start))}
	for op, start := range tl.Start {
		lane.Start[op], lane.End[op] = -1, -1
		if start >= 0 {
			lane.Start[op] = nanoseconds(start)
			lane.End[op] = nanoseconds(start + p.Duration(model.OpID(op)))
		}
	}
	return lane
}

// tickNames are the physical units of time, in nanoseconds.
var tickNames = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

// TickLength returns the nanoseconds that a tick of a problem lasts. Where its unit is
// no physical one (a plain number, a tick), it is taken as a microsecond, and physical
// is false.
func TickLength(p *model.Problem) (nanoseconds float64, physical bool) {
	u := p.TimeUnit()
	length, physical := tickNames[u.Name]
	if !physical {
		length = tickNames["us"]
	}
	return length * float64(max(u.Multiplier, 1)) / float64(max(u.Divisor, 1)), physical
}

// LaneError reports a lane that no device can have run.
type LaneError struct {
	Lane, Op string // Op is empty where the lane as a whole is wrong
	Reason   string
}

func (e *LaneError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("view: lane %q: %s", e.Lane, e.Reason)
	}
	return fmt.Sprintf("view: lane %q: %s %s", e.Lane, e.Op, e.Reason)
}

// laneTimes are the times of a lane, in nanoseconds.
type laneTimes struct{ start, end []int64 }

func (t laneTimes) span(op model.OpID) (start, end model.Time) {
	return model.Time(t.start[op]), model.Time(t.end[op])
}

// track returns the lane as what can be drawn. Errors are *LaneError.
func (l *TraceLane) track() (*track, error) {
	p := l.Problem
	if len(l.Plan.Order) != p.NumDevices() || len(l.Start) != p.NumOps() || len(l.End) != p.NumOps() {
		return nil, &LaneError{l.Name, "", fmt.Sprintf("a plan of %d devices, %d starts and %d ends do not fit a problem of %d devices and %d operations",
			len(l.Plan.Order), len(l.Start), len(l.End), p.NumDevices(), p.NumOps())}
	}
	orders := make([][]model.OpID, len(l.Plan.Order))
	met := make([]int32, p.NumOps()) // by operation: on how many of its devices
	for d, order := range l.Plan.Order {
		ran, err := l.ran(d, order, met)
		if err != nil {
			return nil, err
		}
		orders[d] = ran
	}
	for op, n := range met {
		if row := p.Row(model.OpID(op)); n > 0 && int(n) < len(row.Devices) {
			return nil, &LaneError{l.Name, p.Name(model.OpID(op)), fmt.Sprintf("is missing in the order of device %d", row.Devices[n])}
		}
	}
	return newTrack(p, orders, laneTimes{l.Start, l.End}), nil
}

// ran returns the operations of an order that the lane holds.
func (l *TraceLane) ran(d int, order []model.OpID, met []int32) ([]model.OpID, error) {
	ran, now := make([]model.OpID, 0, len(order)), int64(0)
	for i, op := range order {
		if op < 0 || int(op) >= len(l.Start) {
			return nil, &LaneError{l.Name, "", fmt.Sprintf("device %d, position %d: operation %d does not exist", d, i, op)}
		}
		start, end := l.Start[op], l.End[op]
		if start == -1 && end == -1 {
			continue
		}
		reason := wrongTimes(now, start, end)
		if devices := l.Problem.Row(op).Devices; int(met[op]) == len(devices) || int(devices[met[op]]) != d {
			reason = fmt.Sprintf("stands in the order twice, or in that of a device too many or too few; it runs on %d", devices)
		}
		if reason != "" {
			return nil, &LaneError{l.Name, l.Problem.Name(op), fmt.Sprintf("on device %d %s", d, reason)}
		}
		met[op]++
		now = end
		ran = append(ran, op)
	}
	return ran, nil
}

// wrongTimes says why an operation cannot follow on a device that is free from now on.
func wrongTimes(now, start, end int64) string {
	switch {
	case start < 0:
		return fmt.Sprintf("starts at %d ns; times count from the start of the iteration, and -1 for both marks what did not run", start)
	case end < start:
		return fmt.Sprintf("ends at %d ns, before it starts at %d ns", end, start)
	case end > mostNanoseconds:
		return fmt.Sprintf("ends at %d ns, beyond the 36 years that a lane can last", end)
	case start < now:
		return fmt.Sprintf("starts at %d ns, before the operation ahead of it ends at %d ns; a device runs one at a time", start, now)
	}
	return ""
}
