package model

import (
	"fmt"
	"slices"
	"strings"
)

// Evaluate returns the timeline in which every operation starts as early as the
// orders, the predecessors and the wait edges of the plan allow: the longest
// path. It tests neither memory nor completeness; that is the judge's work.
//
// Cost O(operations + precedences) time, 8 bytes for each operation ID.
// Errors: *PlanError for an entry that names no operation, sits on a device
// that does not run it, or stands twice; *CycleError when the orders contradict
// the precedences or lack a predecessor; a plain error for a plan of another
// number of devices, or a wait edge that names no operation.
func Evaluate(p *Problem, plan *Plan) (*Timeline, error) {
	e := newEvaluator(p, plan)
	if err := e.checkForm(plan.Waits); err != nil {
		return nil, err
	}
	if err := e.run(); err != nil {
		return nil, err
	}
	return &Timeline{Start: e.start}, nil
}

// evaluator walks all devices in turn. A device that meets an operation whose
// predecessor has not run is parked in the list of that predecessor's row, and
// taken up again when the predecessor has run.
type evaluator struct {
	p       *Problem
	order   [][]OpID
	present OpSet // only for problems with a choice
	waits   map[OpID][]OpID
	start   []Time

	position []int32 // by device: the next entry of its order
	free     []Time  // by device: end of its last operation
	runnable []int32 // stack of devices
	parked   []int32 // by row: first device that waits for an operation of it, or -1
	nextIn   []int32 // by device: the next device in the same list, or -1
	awaited  []OpID  // by device: the operation it is parked for, or -1
}

func newEvaluator(p *Problem, plan *Plan) *evaluator {
	n := p.NumDevices()
	e := &evaluator{
		p: p, order: plan.Order,
		start:    make([]Time, p.NumOps()),
		position: make([]int32, n), free: make([]Time, n),
		parked: make([]int32, len(p.Rows)), nextIn: make([]int32, n), awaited: make([]OpID, n),
	}
	for i := range e.start {
		e.start[i] = Absent
	}
	for r := range e.parked {
		e.parked[r] = -1
	}
	for d := n - 1; d >= 0; d-- {
		e.awaited[d] = -1
		e.runnable = append(e.runnable, int32(d))
	}
	if len(plan.Waits) > 0 {
		e.waits = make(map[OpID][]OpID, len(plan.Waits))
		for _, w := range plan.Waits {
			e.waits[w.After] = append(e.waits[w.After], w.Before)
		}
	}
	if p.HasChoice {
		e.present = NewOpSet(p)
		for _, order := range plan.Order {
			for _, op := range order {
				if op >= 0 && int(op) < p.NumOps() {
					e.present.Add(op)
				}
			}
		}
	}
	return e
}

func (e *evaluator) checkForm(waits []Wait) error {
	if len(e.order) != e.p.NumDevices() {
		return fmt.Errorf("the plan has orders for %d devices, the problem has %d", len(e.order), e.p.NumDevices())
	}
	for _, w := range waits {
		for _, op := range []OpID{w.Before, w.After} {
			if op < 0 || int(op) >= e.p.NumOps() {
				return fmt.Errorf("a wait edge names operation %d, which does not exist", op)
			}
		}
	}
	return nil
}

func (e *evaluator) run() error {
	for len(e.runnable) > 0 {
		d := e.runnable[len(e.runnable)-1]
		e.runnable = e.runnable[:len(e.runnable)-1]
		if e.awaited[d] >= 0 {
			continue // listed twice, by a predecessor and by a gang, and parked since
		}
		if err := e.advance(d); err != nil {
			return err
		}
	}
	for d := range e.order {
		if int(e.position[d]) < len(e.order[d]) {
			return e.explain(int32(d))
		}
	}
	return nil
}

// advance runs the operations of a device until one cannot start.
func (e *evaluator) advance(d int32) error {
	order, p := e.order[d], e.p
	for int(e.position[d]) < len(order) {
		op := order[e.position[d]]
		if op < 0 || int(op) >= len(e.start) {
			return &PlanError{int(d), int(e.position[d]), fmt.Sprintf("operation %d", op), "does not exist"}
		}
		r := p.RowOf(op)
		row := &p.Rows[r]
		if row.Devices[0] != d && !slices.Contains(row.Devices, d) {
			return &PlanError{int(d), int(e.position[d]), p.Name(op), fmt.Sprintf("runs on device %d", row.Devices[0])}
		}
		if e.start[op] != Absent {
			return &PlanError{int(d), int(e.position[d]), p.Name(op), "stands in the order twice"}
		}
		start, ok := e.ready(d, op, r, row)
		if !ok {
			return nil
		}
		dur := p.DurationIn(r, int(op-p.base[r]))
		if len(row.Devices) > 1 {
			start, ok = e.gather(d, op, row, start, dur)
			if !ok {
				return nil
			}
		}
		start = max(start, e.free[d])
		e.start[op] = start
		e.free[d] = start + dur
		e.position[d]++
		if e.parked[r] >= 0 {
			e.wake(r, op)
		}
	}
	return nil
}

// ready returns the earliest start that the predecessors allow. If one has not
// run, it parks the device and returns false.
func (e *evaluator) ready(d int32, op OpID, r int, row *Row) (Time, bool) {
	p, index := e.p, int(op-e.p.base[r])
	start := Time(0)
	for _, pred := range row.Preds {
		first, end := p.PredOps(r, index, pred)
		for q := first; q < end; q++ {
			if e.present != nil && e.spared(q, &p.Rows[pred.Row]) {
				continue
			}
			done, ok := e.end(d, q, int(pred.Row))
			if !ok {
				return 0, false
			}
			start = max(start, done+pred.Lag)
		}
	}
	if e.waits != nil {
		for _, q := range e.waits[op] {
			done, ok := e.end(d, q, p.RowOf(q))
			if !ok {
				return 0, false
			}
			start = max(start, done)
		}
	}
	return start, true
}

// spared reports whether nothing waits for an operation because the plan holds the
// other case of its choice, in which nothing stands in for it: the weight gradient of
// a fused micro-batch.
func (e *evaluator) spared(q OpID, row *Row) bool {
	return row.Choice != Always && row.Twin < 0 && !e.present.Has(q)
}

// end returns the end of operation q of row r, or of the one that stands in for
// it. If it has not run, it parks the device and returns false.
func (e *evaluator) end(d int32, q OpID, r int) (Time, bool) {
	p := e.p
	if e.present != nil && p.Rows[r].Twin >= 0 && !e.present.Has(q) {
		twin := int(p.Rows[r].Twin)
		if other := q - p.base[r] + p.base[twin]; e.present.Has(other) {
			q, r = other, twin
		}
	}
	if s := e.start[q]; s != Absent {
		return s + p.DurationIn(r, int(q-p.base[r])), true
	}
	e.awaited[d] = q
	e.nextIn[d], e.parked[r] = e.parked[r], d
	return 0, false
}

// wake makes runnable the devices that are parked for op.
func (e *evaluator) wake(r int, op OpID) {
	kept := int32(-1)
	for d := e.parked[r]; d >= 0; {
		next := e.nextIn[d]
		if e.awaited[d] == op {
			e.awaited[d] = -1
			e.runnable = append(e.runnable, d)
		} else {
			e.nextIn[d], kept = kept, d
		}
		d = next
	}
	e.parked[r] = kept
}

// gather starts an operation of several devices once all have reached it. The
// last device to arrive finds the others waiting and moves them on.
func (e *evaluator) gather(d int32, op OpID, row *Row, start, dur Time) (Time, bool) {
	for _, other := range row.Devices {
		if int(e.position[other]) >= len(e.order[other]) || e.order[other][e.position[other]] != op {
			return 0, false
		}
		start = max(start, e.free[other])
	}
	for _, other := range row.Devices {
		if other != d {
			e.free[other] = start + dur
			e.position[other]++
			e.unpark(other)
			e.runnable = append(e.runnable, other)
		}
	}
	return start, true
}

// unpark takes a device out of the list that it is parked in, if any.
func (e *evaluator) unpark(d int32) {
	if e.awaited[d] < 0 {
		return
	}
	r := e.p.RowOf(e.awaited[d])
	link := &e.parked[r]
	for *link != d {
		link = &e.nextIn[*link]
	}
	*link = e.nextIn[d]
	e.awaited[d] = -1
}

// CycleError reports that a plan cannot run: a list of operations, each of
// which waits for the next, the last for the first; or, if Missing, the last
// waits for an operation that the plan does not hold.
type CycleError struct {
	Ops     []string
	Reasons []string // parallel to Ops
	Missing bool
}

func (e *CycleError) Error() string {
	var b strings.Builder
	if e.Missing {
		b.WriteString("the plan cannot run, an operation is missing: ")
	} else {
		b.WriteString("the plan cannot run, its orders form a cycle: ")
	}
	for i, op := range e.Ops {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(op + " " + e.Reasons[i])
	}
	return b.String()
}

// explain follows who waits for whom from a device that cannot go on.
func (e *evaluator) explain(d int32) error {
	var err CycleError
	visited := map[int32]int{}
	for {
		if at, seen := visited[d]; seen {
			err.Ops, err.Reasons = err.Ops[at:], err.Reasons[at:]
			return &err
		}
		visited[d] = len(err.Ops)
		op := e.order[d][e.position[d]]
		next, reason, found := e.blocker(d, op)
		err.Ops = append(err.Ops, e.p.Name(op))
		err.Reasons = append(err.Reasons, reason)
		if !found {
			err.Missing = true
			return &err
		}
		d = next
	}
}

// blocker names the device whose head operation stands in the way of op, the
// head of device d.
func (e *evaluator) blocker(d int32, op OpID) (next int32, reason string, found bool) {
	if q := e.awaited[d]; q >= 0 {
		return e.ahead(fmt.Sprintf("(device %d) waits for %s", d, e.p.Name(q)), q)
	}
	// A gang operation: some other device has not reached it.
	for _, other := range e.p.Row(op).Devices {
		if int(e.position[other]) >= len(e.order[other]) || e.order[other][e.position[other]] != op {
			return e.aheadOn(fmt.Sprintf("(device %d) waits for device %d to reach it", d, other), op, other)
		}
		if q := e.awaited[other]; q >= 0 {
			return e.ahead(fmt.Sprintf("(device %d) waits for %s", other, e.p.Name(q)), q)
		}
	}
	return d, "cannot start", true
}

func (e *evaluator) ahead(text string, q OpID) (int32, string, bool) {
	return e.aheadOn(text, q, e.p.Row(q).Devices[0])
}

func (e *evaluator) aheadOn(text string, q OpID, device int32) (int32, string, bool) {
	at := e.position[device]
	if int(at) >= len(e.order[device]) || !slices.Contains(e.order[device][at:], q) {
		return 0, fmt.Sprintf("%s, which is not in the order of device %d", text, device), false
	}
	head := e.order[device][at]
	if head == q {
		return device, text, true
	}
	return device, fmt.Sprintf("%s, which stands behind %s on device %d", text, e.p.Name(head), device), true
}
