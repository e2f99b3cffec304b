package view

import (
	"fmt"
	"strconv"

	"github.com/flexpipe/flexpipe/model"
)

// laneTracer writes the events of one lane.
type laneTracer struct {
	*tracer
	*track
	index     int // of the lane
	lane      *TraceLane
	predicted *TraceLane // what the lane is compared with; nil: nothing
	arrows    *arrows
	pid       int
	// firstArrow begins the numbers of its arrows; each lane has one for each pair of operations.
	firstArrow uint64
	tids       []int    // by device
	looks      []string // by row: what is the same in the events of its operations
	name       []byte
}

func newLaneTracer(t *tracer, index int, lane *TraceLane, tr *track) *laneTracer {
	t.lost = append(t.lost, 0)
	l := &laneTracer{tracer: t, track: tr, index: index, lane: lane, arrows: newArrows(lane, tr), pid: t.id(), firstArrow: t.pairs}
	t.pairs += uint64(tr.p.NumOps()) * uint64(tr.p.NumOps())
	for range tr.orders {
		l.tids = append(l.tids, t.id())
	}
	for r := range tr.p.Rows {
		l.looks = append(l.looks, l.look(&tr.p.Rows[r]))
	}
	return l
}

// colorNames are colours of the fixed list that chrome://tracing has, near those of the
// other pictures. Other kinds, and Perfetto, take a colour from the name.
var colorNames = map[model.Kind]string{
	model.Forward:        "rail_response",          // blue
	model.BackwardInput:  "rail_load",              // green
	model.BackwardFull:   "background_memory_dump", // teal
	model.BackwardWeight: "rail_idle",              // amber
	model.SendForward:    "generic_work",           // grey
	model.SendBackward:   "generic_work",
}

// look is the end of an event up to what differs between operations of a row.
func (l *laneTracer) look(row *model.Row) string {
	kind := string(appendQuoted(nil, l.p.Kinds[row.Kind].Name))
	text := `,"cat":` + kind
	if color, ok := colorNames[row.Kind]; ok {
		text += `,"cname":"` + color + `"`
	}
	text += `,"args":{"kind":` + kind
	if row.Stage >= 0 {
		text += fmt.Sprintf(`,"stage":%d`, row.Stage)
	}
	if row.To >= 0 {
		text += fmt.Sprintf(`,"to_stage":%d`, row.To)
	}
	return text
}

func (l *laneTracer) write() error {
	l.describe("process", l.pid, l.index, l.lane.Name)
	for d, tid := range l.tids {
		l.describe("thread", tid, d, l.p.DeviceName(d))
	}
	for d, order := range l.orders {
		for _, op := range order {
			l.operation(d, op)
		}
		if l.p.ModelsMemory() && !l.p.Pipeline.Devices[d].Engine {
			l.memory(d)
		}
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// describe names a process or thread, and places it among its like.
func (l *laneTracer) describe(what string, id, place int, name string) {
	for _, key := range []string{"name", "sort_index"} {
		l.open("M", l.pid)
		if what == "thread" {
			l.number("tid", int64(id))
		}
		l.text("name", what+"_"+key)
		l.args()
		if key == "name" {
			l.text(key, name)
		} else {
			l.number(key, int64(place))
		}
		l.close("}}")
	}
}

// operation writes an operation on a device, and the ends of its arrows behind it:
// among events of one time, viewers bind them to the last one before them.
func (l *laneTracer) operation(d int, op model.OpID) {
	r := l.p.RowOf(op)
	start, end := l.lane.Start[op], l.lane.End[op]
	l.open("X", l.pid)
	l.number("tid", int64(l.tids[d]))
	l.stamp("ts", start)
	l.stamp("dur", end-start)
	l.name = l.p.AppendName(l.name[:0], op)
	l.key("name")
	l.buf = appendQuoted(l.buf, l.name)
	l.buf = append(l.buf, l.looks[r]...)
	if m := l.p.MicroBatch(op); m >= 0 {
		l.number("micro_batch", int64(m))
	}
	l.micros("duration_us", end-start)
	l.compare(op, start, end-start)
	l.close("}}")
	if int(l.p.Rows[r].Devices[0]) != d {
		return // the arrows of a gang are drawn once
	}
	for from := range l.arrows.linked(op, l.arrows.in[r]) {
		if l.arrows.drawn(from, op) {
			l.arrow("f", from, op, l.tids[d], start)
		} else {
			l.lost[l.index]++
		}
	}
	for to := range l.arrows.linked(op, l.arrows.out[r]) {
		if l.arrows.drawn(op, to) {
			l.arrow("s", op, to, l.tids[d], l.arrows.leaves(op))
		}
	}
}

// compare adds how an operation differs from the prediction, if there is one.
func (l *laneTracer) compare(op model.OpID, start, duration int64) {
	if l.predicted == nil || l.predicted.Start[op] < 0 {
		return
	}
	predicted := l.predicted.End[op] - l.predicted.Start[op]
	l.micros("predicted_us", predicted)
	if predicted > 0 {
		l.key("error_percent")
		l.buf = strconv.AppendFloat(l.buf, 100*float64(duration-predicted)/float64(predicted), 'f', 2, 64)
	}
	l.micros("late_us", start-l.predicted.Start[op])
}

// arrow writes one end of the arrow between two operations, on the thread that it is on.
func (l *laneTracer) arrow(phase string, from, to model.OpID, tid int, time int64) {
	l.open(phase, l.pid)
	l.number("tid", int64(tid))
	l.stamp("ts", time)
	l.buf = append(l.buf, `,"id":"0x`...) // Perfetto takes no other texts than hexadecimal numbers
	l.buf = strconv.AppendUint(l.buf, l.firstArrow+uint64(from)*uint64(l.p.NumOps())+uint64(to), 16)
	l.buf = append(l.buf, `","name":"precedence","cat":"precedence"`...)
	if phase == "f" {
		l.buf = append(l.buf, `,"bp":"e"`...) // bind to the event that covers the time
	}
	l.close("}")
}

// memory writes the memory of a device whenever it changes.
func (l *laneTracer) memory(d int) {
	unit := l.p.Pipeline.MemoryUnit
	head := fmt.Sprintf(`,"name":%s,"args":{%s:`, appendQuoted(nil, l.p.DeviceName(d)+" memory"),
		appendQuoted(nil, memoryName(unit)))
	held := l.p.Statics[d]
	at := func(ns int64) {
		l.open("C", l.pid)
		l.stamp("ts", ns)
		l.buf = append(l.buf, head...)
		l.buf = appendAmount(l.buf, unit, held)
		l.close("}}")
	}
	at(0)
	for _, op := range l.orders[d] {
		delta := l.p.Row(op).MemoryOn(d)
		if delta.AtStart != 0 {
			held += delta.AtStart
			at(l.lane.Start[op])
		}
		if delta.AtEnd != 0 {
			held += delta.AtEnd
			at(l.lane.End[op])
		}
	}
}

// memoryName is the name of a unit of memory in a counter.
func memoryName(u model.Unit) string {
	if u.Name == "" {
		return "units"
	}
	return u.Name
}

// appendAmount appends an amount of memory as a number of its unit.
func appendAmount(dst []byte, u model.Unit, b model.Bytes) []byte {
	if u.Multiplier <= 1 && u.Divisor <= 1 {
		return strconv.AppendInt(dst, int64(b), 10)
	}
	return strconv.AppendFloat(dst, float64(b)*float64(max(u.Multiplier, 1))/float64(max(u.Divisor, 1)), 'f', -1, 64)
}
