package cssr

import (
	"math/bits"

	"github.com/flexpipe/flexpipe/model"
)

// calendar is an agenda in constant time (a calendar queue, Brown 1988). It
// serves devices in the order of time windows, and in any order within one.
//
// That changes nothing about the result if a window is no longer than the
// shortest way from the start of an operation to the effect of its end on
// another device, and if devices decide by what is ready alone: then whatever a
// decision of a window depends on has started before the window.
type calendar struct {
	shift uint    // a window is 2^shift ticks
	head  []int32 // by window, modulo their number: the first device, or -1
	now   int64   // the current window
	slot  []slot  // by device
	total int     // devices that do not sleep
}

// slot is the place of a device in the list of its window.
type slot struct {
	time       model.Time
	next, prev int32 // neighbours in the list, or -1
}

// maxWindows bounds the windows that a calendar keeps.
const maxWindows = 1 << 12

// newCalendar returns a calendar for operations that last at most longest ticks,
// lags included, and affect other devices after shortest ticks at least; nil if
// there is no such time or it is too short.
func newCalendar(devices int, shortest, longest model.Time) *calendar {
	if shortest <= 0 {
		return nil
	}
	c := &calendar{shift: uint(bits.Len64(uint64(shortest)) - 1), slot: make([]slot, devices)}
	windows := longest>>c.shift + 3
	if windows > maxWindows {
		return nil
	}
	c.head = make([]int32, 1<<bits.Len64(uint64(windows)))
	return c
}

// reset puts all devices at time 0.
func (c *calendar) reset() {
	c.now, c.total = 0, 0
	for w := range c.head {
		c.head[w] = -1
	}
	for d := range c.slot {
		c.slot[d].time = never
	}
	for d := len(c.slot) - 1; d >= 0; d-- {
		c.set(int32(d), 0)
	}
}

func (c *calendar) window(t model.Time) *int32 {
	return &c.head[int64(t>>c.shift)&int64(len(c.head)-1)]
}

// next returns a device of the first window that holds one.
func (c *calendar) next() entry {
	if c.total == 0 {
		return entry{time: never}
	}
	for {
		if d := c.head[c.now&int64(len(c.head)-1)]; d >= 0 {
			return entry{c.slot[d].time, d}
		}
		c.now++
	}
}

// set gives a device a time, in the current window or later; never: it sleeps.
func (c *calendar) set(d int32, t model.Time) {
	s := &c.slot[d]
	if s.time < never {
		c.unlink(d, s)
	}
	s.time = t
	if t == never {
		return
	}
	head := c.window(t)
	s.next, s.prev = *head, -1
	if s.next >= 0 {
		c.slot[s.next].prev = d
	}
	*head = d
	c.total++
}

func (c *calendar) unlink(d int32, s *slot) {
	c.total--
	if s.next >= 0 {
		c.slot[s.next].prev = s.prev
	}
	if s.prev >= 0 {
		c.slot[s.prev].next = s.next
	} else {
		*c.window(s.time) = s.next
	}
}
