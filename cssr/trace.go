package cssr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// Decision is what a device did at a moment when it was free and something was
// ready on it, and why.
type Decision struct {
	Time   model.Time
	Device int
	Act    Act
	Op     model.OpID // what starts, or what the device waits for; -1 with Idles
	Until  model.Time // when the device looks again, with Waits and Gathers
	Why    Reason     // why Op, and not the first of Others or of Held

	Others []model.OpID // what could have started in place of Op, the most urgent first
	Held   []Held       // what was ready and may not start yet, the most urgent first
}

// Held is an operation that is ready and may not start yet.
type Held struct {
	Op model.OpID
	By Bar
}

// Act is what a device does.
type Act uint8

// The acts of a device.
const (
	Starts  Act = iota // it starts Op
	Waits              // it leaves Others for Op, which becomes ready at Until
	Gathers            // Op needs other devices, the last of which is free at Until
	Idles              // all that is ready is held back
)

var actNames = [...]string{Starts: "starts", Waits: "waits for", Gathers: "stands by for", Idles: "idles"}

// Reason says why an operation ranks first.
type Reason uint8

// The reasons of a decision. A rule ranks by a number; the reason names the first
// difference to the next best.
const (
	Alone       Reason = iota // nothing else could start
	WeightDue                 // too many weight gradients are outstanding
	ByType                    // the priority of computation types
	ByTraversal               // of the same type, the stage
	ByOrder                   // of the same type and stage, the micro-batch
	ByPass                    // what ranks before it is held back
)

var reasonNames = [...]string{
	Alone: "nothing else can start", WeightDue: "too many weight gradients are outstanding", ByType: "by type",
	ByTraversal: "by traversal", ByOrder: "by micro-batch", ByPass: "what ranks before it is held back",
}

func (r Reason) String() string { return nameAt(reasonNames[:], r) }

// Bar is what holds an operation back.
type Bar uint8

// The bars of an operation.
const (
	ByStageCap Bar = iota // the in-flight bound of its stage
	ByActorCap            // the in-flight bound of a device
	ByMemory              // the memory of a device
)

var barNames = [...]string{ByStageCap: "in-flight cap of the stage", ByActorCap: "in-flight cap", ByMemory: "memory"}

func (b Bar) String() string { return nameAt(barNames[:], b) }

// Trace makes the decoder tell its decisions to sink, in the order of time, from
// the next Decode on; nil ends it. The decision is sink's to keep. A trace never
// changes a plan; a decode with one costs some times more.
func (d *Decoder) Trace(sink func(*Decision)) { d.trace = sink }

// Text writes the decision in one line, such as
//
//	t=12 device 2: starts 3F5 before 1I4 2W0 (by type); held back: 0F8 (in-flight cap)
func (c *Decision) Text(p *model.Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "t=%s %s: %s", p.TimeUnit().Format(int64(c.Time)), p.DeviceName(c.Device), actNames[c.Act])
	if c.Op >= 0 {
		b.WriteString(" " + p.Name(c.Op))
	}
	for i, op := range c.Others {
		if i == 0 {
			b.WriteString(" before")
		}
		b.WriteString(" " + p.Name(op))
	}
	switch c.Act {
	case Starts:
		fmt.Fprintf(&b, " (%s)", c.Why)
	case Waits:
		fmt.Fprintf(&b, " (%s) until t=%s", c.Why, p.TimeUnit().Format(int64(c.Until)))
	case Gathers:
		fmt.Fprintf(&b, " (%s) until all its devices are free at t=%s", c.Why, p.TimeUnit().Format(int64(c.Until)))
	}
	for i, h := range c.Held {
		sep := ","
		if i == 0 {
			sep = "; held back:"
		}
		fmt.Fprintf(&b, "%s %s (%s)", sep, p.Name(h.Op), h.By)
	}
	return b.String()
}

// The decoder calls these just before it acts. best is a row.

func (d *Decoder) tellStart(dev, best int32, t model.Time) {
	d.tell(dev, best, Decision{Time: t, Act: Starts})
}

func (d *Decoder) tellGather(dev, best int32, t, until model.Time) {
	d.tell(dev, best, Decision{Time: t, Act: Gathers, Until: until})
}

// tellIdle tells that a device has nothing to start, if something is held back.
func (d *Decoder) tellIdle(dev int32, t model.Time) {
	if c := (Decision{Time: t, Act: Idles}); len(d.held(dev, t)) > 0 {
		d.tell(dev, -1, c)
	}
}

// tellWait tells what the device waits for: the best of what becomes ready first.
func (d *Decoder) tellWait(dev, best int32, t, until model.Time) {
	coming := int32(-1)
	for _, r := range d.live[dev] {
		q := &d.rows[r]
		if q.ready == until && q.key < d.rows[best].key && (coming < 0 || q.key < d.rows[coming].key) && (!q.guarded || d.admits(dev, r)) {
			coming = r
		}
	}
	d.tell(dev, coming, Decision{Time: t, Act: Waits, Until: until})
}

// tell completes a decision for the next operation of row chosen, -1 for none.
func (d *Decoder) tell(dev, chosen int32, c Decision) {
	c.Device, c.Op, c.Why = int(dev), -1, Alone
	held := d.held(dev, c.Time)
	for _, h := range held {
		c.Held = append(c.Held, Held{d.nextOp(h.row), h.by})
	}
	if chosen >= 0 {
		c.Op = d.nextOp(chosen)
		others := d.others(dev, chosen, c.Time)
		for _, r := range others {
			c.Others = append(c.Others, d.nextOp(r))
		}
		c.Why = d.reason(chosen, others, held)
	}
	d.trace(&c)
}

func (d *Decoder) nextOp(r int32) model.OpID { return d.op(&d.rows[r], d.rows[r].next) }

// others returns the rows beside chosen that could start on a device at time t, the
// best first.
func (d *Decoder) others(dev, chosen int32, t model.Time) []int32 {
	var rows []int32
	for _, r := range d.live[dev] {
		if s := &d.rows[r]; r != chosen && s.ready <= t && (!s.guarded || d.admits(dev, r)) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, d.compareRanks)
	return rows
}

// heldRow is a row whose next operation is ready and may not start.
type heldRow struct {
	row int32
	by  Bar
}

// held returns the rows that are held back on a device at time t, the best first.
func (d *Decoder) held(dev int32, t model.Time) []heldRow {
	var rows []heldRow
	for _, r := range d.live[dev] {
		if s := &d.rows[r]; s.ready <= t && s.guarded && !d.admits(dev, r) {
			rows = append(rows, heldRow{r, d.bar(r)})
		}
	}
	slices.SortFunc(rows, func(a, b heldRow) int { return d.compareRanks(a.row, b.row) })
	return rows
}

// bar returns the first bar of a row that may not start.
func (d *Decoder) bar(r int32) Bar {
	switch {
	case !d.roomOnStage(r):
		return ByStageCap
	case !d.roomOnActors(r):
		return ByActorCap
	}
	return ByMemory
}

func (d *Decoder) compareRanks(a, b int32) int {
	return cmp.Or(cmp.Compare(d.rows[a].key, d.rows[b].key), cmp.Compare(a, b))
}

// reason returns why a row goes before others and what is held back.
func (d *Decoder) reason(chosen int32, others []int32, held []heldRow) Reason {
	switch {
	case len(held) > 0 && d.compareRanks(held[0].row, chosen) < 0:
		return ByPass
	case len(others) == 0:
		return Alone
	case d.rule.Backlog != nil && d.isDue(chosen):
		return WeightDue
	}
	a, b := &d.p.Rows[chosen], &d.p.Rows[others[0]]
	switch {
	case a.Kind != b.Kind:
		return ByType
	case a.Stage != b.Stage:
		return ByTraversal
	}
	return ByOrder
}
