package model

import (
	"fmt"
	"slices"
)

// timesReader reads the times of a plan file: one start for each entry of the
// orders. Who edits orders rarely mends the times, so what does not fit is told
// and not refused; only wrong types are.
type timesReader struct {
	r       *jsonReader
	p       *Problem
	start   []Time // by operation, Absent before it is read
	misfits []string
}

func (d *planDecoder) times() error {
	t := &timesReader{r: &d.r, p: d.file.Problem}
	t.start = slices.Repeat([]Time{Absent}, t.p.NumOps())
	orders := d.file.Plan.Order
	devices := 0
	err := d.r.array(func(dev int) error {
		devices++
		if dev >= len(orders) {
			return t.device(dev, nil)
		}
		return t.device(dev, orders[dev])
	})
	if err != nil {
		return err
	}
	if devices != len(orders) {
		t.misfit("there are times of %s, and orders of %d", Plural(devices, "device"), len(orders))
	}
	if d.file.Misfits = t.misfits; t.misfits == nil {
		d.file.Times = &Timeline{Start: t.start}
	}
	return nil
}

// device reads the starts on one device. If their number is wrong, it is not
// known which belongs to which operation.
func (t *timesReader) device(dev int, order []OpID) error {
	starts := make([]Time, 0, len(order))
	err := t.r.array(func(int) error {
		start, err := t.r.integer()
		starts = append(starts, Time(start))
		return err
	})
	if len(starts) != len(order) {
		t.misfit("device %d has %s for %s", dev, Plural(len(starts), "time"), Plural(len(order), "operation"))
		return err
	}
	for i, op := range order {
		t.set(op, starts[i])
	}
	return err
}

// set records the start of an operation.
func (t *timesReader) set(op OpID, start Time) {
	switch before := t.start[op]; {
	case start < 0:
		t.misfit("%s starts at %s, before 0", t.p.Name(op), t.p.FormatRecorded(start))
	case before != Absent && before != start:
		t.misfit("%s starts at %s in one place and at %s in another", t.p.Name(op), t.p.FormatRecorded(before), t.p.FormatRecorded(start))
	default:
		t.start[op] = start
	}
}

func (t *timesReader) misfit(format string, args ...any) {
	t.misfits = append(t.misfits, fmt.Sprintf(format, args...))
}
