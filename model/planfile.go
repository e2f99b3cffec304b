package model

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

const (
	planFormat  = "flexpipe/plan"
	planVersion = 1

	// mostTimes is the number of operations in all orders above which a plan file
	// leaves out times, which serve the reader's eye only.
	mostTimes = 100_000
	// leastCompact is the number of operations above which a plan file makes
	// orders compact by itself.
	leastCompact = 1000
)

// PlanFile is what a plan file holds. Version 1 is JSON, self-contained: the
// problem with its placement, the order of each device, wait edges, provenance,
// and for the reader's eye the figures and times of the plan as they were when
// it was written. Times are ticks. The order of a device is a list of operation
// names, in which {"period": [names], "step": s, "count": n} stands for n
// repetitions of the period, each s micro-batches further.
type PlanFile struct {
	Problem    *Problem
	Plan       *Plan
	Provenance Provenance
	Figures    *Figures  // nil: not recorded
	Times      *Timeline // nil: not recorded; after DecodePlan as recorded, right or not
	Orders     OrderForm

	// Misfits says, after DecodePlan, why recorded times belong to other orders, one
	// sentence each; then Times is nil. Encode ignores it.
	Misfits []string
}

// Provenance says where a plan came from. It is the only part of a plan file
// that may differ between runs that do the same; no reader depends on it.
type Provenance struct {
	Tool     string `json:"tool,omitempty"`
	Version  string `json:"version,omitempty"` // of the tool
	Engine   string `json:"engine,omitempty"`
	Schedule string `json:"schedule,omitempty"` // named schedule, if one was built
	Seed     uint64 `json:"seed,omitempty"`
	Created  string `json:"created,omitempty"` // RFC 3339
}

// Figures are the value of the problem's objective and a proven lower bound of
// it, in ticks.
type Figures struct {
	Value Time `json:"value"`
	Bound Time `json:"bound"`
}

// OrderForm says how a plan file writes orders. Reading knows all forms.
type OrderForm uint8

// The forms of orders.
const (
	AutomaticOrders OrderForm = iota // compact above 1,000 operations, if that halves the names at least
	ListedOrders                     // one name for each operation
	CompactOrders                    // periods wherever orders repeat
)

// Encode writes the plan file. The same content gives the same bytes, one
// device or stage a line. It writes times if there are any and the orders have
// no more than 100,000 operations. Errors: orders that do not fit the problem
// (in number, or an operation that does not exist or lacks a recorded time), a network
// that is no JSON object on one line, and those of w. Cost O(operations), times log(operations) when it looks for
// periods, in memory that does not grow with plain orders.
func (f *PlanFile) Encode(w io.Writer) error {
	if err := cmp.Or(f.checkOrders(), checkNetwork(f.Problem.Pipeline.Network)); err != nil {
		return err
	}
	e := planEncoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.open("", '{')
	e.field("format", planFormat)
	e.field("version", planVersion)
	if f.Provenance != (Provenance{}) {
		e.field("provenance", f.Provenance)
	}
	e.problem(f.Problem.Pipeline)
	if f.Figures != nil {
		e.field("figures", f.Figures)
	}
	e.orders(f)
	if len(f.Plan.Waits) > 0 {
		e.waits(f.Problem, f.Plan.Waits)
	}
	if f.Times != nil && f.Plan.NumOps() <= mostTimes {
		e.times(f.Plan, f.Times)
	}
	e.close('}')
	e.w.WriteByte('\n')
	return e.w.Flush()
}

func (f *PlanFile) checkOrders() error {
	p, plan := f.Problem, f.Plan
	exists := func(op OpID) bool { return op >= 0 && int(op) < p.NumOps() }
	if len(plan.Order) != p.NumDevices() {
		return fmt.Errorf("plan file: the plan has orders for %d devices, the problem has %d", len(plan.Order), p.NumDevices())
	}
	if f.Times != nil && len(f.Times.Start) != p.NumOps() {
		return fmt.Errorf("plan file: the times are for %d operations, the problem has %d", len(f.Times.Start), p.NumOps())
	}
	for d, order := range plan.Order {
		for i, op := range order {
			switch {
			case !exists(op):
				return fmt.Errorf("plan file: %w", &PlanError{d, i, fmt.Sprintf("operation %d", op), "does not exist"})
			case f.Times != nil && f.Times.Start[op] < 0:
				return fmt.Errorf("plan file: %w", &PlanError{d, i, p.Name(op), "has no time"})
			}
		}
	}
	for _, wait := range plan.Waits {
		if !exists(wait.Before) || !exists(wait.After) {
			return fmt.Errorf("plan file: wait edge from operation %d to %d: there are %d operations", wait.Before, wait.After, p.NumOps())
		}
	}
	return nil
}

// planEncoder writes indented JSON. The bufio.Writer keeps the first error.
type planEncoder struct {
	w     *bufio.Writer
	depth int
	first bool // nothing stands before in the innermost bracket
	buf   []byte
}

// item starts a line for the next member or element.
func (e *planEncoder) item(key string) {
	if !e.first {
		e.w.WriteByte(',')
	}
	e.line()
	e.first = false
	if key != "" {
		e.w.WriteString(strconv.Quote(key) + ": ")
	}
}

func (e *planEncoder) line() {
	e.w.WriteByte('\n')
	for range e.depth {
		e.w.WriteString("  ")
	}
}

// open starts an object or list as a member or element; an empty key and depth 0
// stand for the file itself.
func (e *planEncoder) open(key string, bracket byte) {
	if e.depth > 0 {
		e.item(key)
	}
	e.w.WriteByte(bracket)
	e.depth++
	e.first = true
}

func (e *planEncoder) close(bracket byte) {
	e.depth--
	e.line()
	e.w.WriteByte(bracket)
	e.first = false
}

// field writes a member on one line.
func (e *planEncoder) field(key string, value any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic("model: plan file member " + key + ": " + err.Error()) // strings and integers always encode
	}
	e.item(key)
	e.w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func (e *planEncoder) problem(pl *Pipeline) {
	e.open("problem", '{')
	if pl.Name != "" {
		e.field("name", pl.Name)
	}
	if pl.TimeUnit != (Unit{}) {
		e.field("time_unit", pl.TimeUnit)
	}
	if pl.MemoryUnit != (Unit{}) {
		e.field("memory_unit", pl.MemoryUnit)
	}
	e.field("objective", pl.Objective.String())
	e.field("micro_batches", pl.MicroBatches)
	if pl.Factors != nil {
		e.field("factors", pl.Factors)
		e.field("factor_scale", pl.FactorScale)
	}
	if pl.Routes != nil {
		e.field("routes", pl.Routes)
	}
	e.open("devices", '[')
	for _, d := range pl.Devices {
		e.field("", toDevice(d))
	}
	e.close(']')
	e.open("stages", '[')
	for s := range pl.Stages {
		e.field("", toStage(&pl.Stages[s]))
	}
	e.close(']')
	if len(pl.Operations) > 0 {
		e.open("operations", '[')
		for i := range pl.Operations {
			e.field("", toOperation(&pl.Operations[i]))
		}
		e.close(']')
	}
	if c := toCommunication(pl); c.Latency != 0 || c.Links != nil || c.Mode != nil {
		e.field("communication", c)
	}
	if pl.Network != "" {
		e.item("network")
		e.w.WriteString(pl.Network)
	}
	e.close('}')
}

func (e *planEncoder) orders(f *PlanFile) {
	e.open("order", '[')
	compact := f.compact()
	for d, order := range f.Plan.Order {
		e.item("")
		e.w.WriteByte('[')
		if compact == nil {
			e.names(f.Problem, order)
		} else {
			e.segments(f.Problem, compact[d])
		}
		e.w.WriteByte(']')
	}
	e.close(']')
}

// compact returns the segments of each device, nil to list the orders.
func (f *PlanFile) compact() [][]segment {
	ops := f.Plan.NumOps()
	if f.Orders == ListedOrders || (f.Orders == AutomaticOrders && ops <= leastCompact) {
		return nil
	}
	c := newCompactor(NewNamer(f.Problem))
	all, size := make([][]segment, len(f.Plan.Order)), 0
	for d, order := range f.Plan.Order {
		all[d] = c.split(order)
		for _, s := range all[d] {
			size += s.size()
		}
	}
	if f.Orders == AutomaticOrders && 2*size > ops {
		return nil
	}
	return all
}

func (e *planEncoder) names(p *Problem, ops []OpID) {
	for i, op := range ops {
		e.buf = e.buf[:0]
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, '"')
		e.buf = p.AppendName(e.buf, op)
		e.buf = append(e.buf, '"')
		e.w.Write(e.buf)
	}
}

func (e *planEncoder) segments(p *Problem, segments []segment) {
	for i, s := range segments {
		if i > 0 {
			e.w.WriteByte(',')
		}
		if s.count == 1 {
			e.names(p, s.ops)
			continue
		}
		e.w.WriteString(`{"period":[`)
		e.names(p, s.ops)
		fmt.Fprintf(e.w, `],"step":%d,"count":%d}`, s.step, s.count)
	}
}

func (e *planEncoder) waits(p *Problem, waits []Wait) {
	e.open("waits", '[')
	for _, wait := range waits {
		e.item("")
		e.w.WriteByte('[')
		e.names(p, []OpID{wait.Before, wait.After})
		e.w.WriteByte(']')
	}
	e.close(']')
}

func (e *planEncoder) times(plan *Plan, tl *Timeline) {
	e.open("times", '[')
	for _, order := range plan.Order {
		e.item("")
		e.w.WriteByte('[')
		for i, op := range order {
			e.buf = e.buf[:0]
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.w.Write(strconv.AppendInt(e.buf, int64(tl.Start[op]), 10))
		}
		e.w.WriteByte(']')
	}
	e.close(']')
}
