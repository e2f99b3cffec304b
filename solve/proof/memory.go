package proof

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// memory: more than the limit is held when an operation starts.
func (c *Checker) memory(device int32, op model.OpID) error {
	if device < 0 || int(device) >= c.p.NumDevices() {
		return c.noDevice(device)
	}
	o, ok := c.placeOf(op)
	switch {
	case !ok:
		return fmt.Errorf("operation %d is in no sequence", op)
	case !c.occupies(o, device):
		return fmt.Errorf("%s does not run on %s", c.opText(o), c.p.DeviceName(int(device)))
	}
	held := c.p.Statics[device] + c.taken(o, device)
	for _, s := range c.on[device] {
		from, to := c.numberBefore(s, o)
		if from > to {
			return nil // no number is left: the facts exclude each other without memory
		}
		held += c.leastHeld(s, device, from, to)
	}
	if limit := c.p.Limits[device]; limit >= model.Unlimited || held <= limit {
		return fmt.Errorf("%s holds %d or more when %s starts, which is within its limit %d", c.p.DeviceName(int(device)), held, c.opText(o), limit)
	}
	return nil
}

// numberBefore returns the limits of the number of operations of a sequence before o.
func (c *Checker) numberBefore(s int32, o place) (from, to int) {
	if s == o.sequence {
		return int(o.index), int(o.index)
	}
	first, _ := c.positions(s, o.sequence) // they share the device
	count := len(c.sequences[s].ops)
	if o.sequence < s { // the position of o is the number
		number := c.local.at[first+constraints.Variable(o.index)]
		return min(max(0, int(number.lo)), count), min(max(0, int(number.hi)), count)
	}
	// The positions of the operations of s count those of o's sequence before them. They
	// ascend: with one of them, all before it stand before o, and with one that does
	// not, none behind it does.
	to = count
	for j := range count {
		number := c.local.at[first+constraints.Variable(j)]
		if number.hi <= model.Time(o.index) {
			from = j + 1
		}
		if number.lo > model.Time(o.index) {
			to = min(to, j)
		}
	}
	return from, to
}

// leastHeld returns the least that the first n operations of a sequence leave on a
// device, over all n from one number to another.
func (c *Checker) leastHeld(number, device int32, from, to int) model.Bytes {
	s := &c.sequences[number]
	memory := s.memory[c.seat(s, device)]
	sums := [2]model.Bytes{memory[split].AtStart + memory[split].AtEnd, memory[fused].AtStart + memory[fused].AtEnd}
	if s.choices == nil {
		return min(model.Bytes(from)*sums[split], model.Bytes(to)*sums[split])
	}
	least, held := model.Bytes(0), model.Bytes(0)
	for n := 0; ; n++ {
		if n <= from || held < least {
			least = held
		}
		if n >= to {
			return least
		}
		held += c.smaller(sums, s.choices[n])
	}
}

// taken returns the least that an operation takes at its start on a device.
func (c *Checker) taken(o place, device int32) model.Bytes {
	s := &c.sequences[o.sequence]
	memory := s.memory[c.seat(s, device)]
	if s.choices == nil {
		return memory[split].AtStart
	}
	return c.smaller([2]model.Bytes{memory[split].AtStart, memory[fused].AtStart}, s.choices[o.index])
}

// smaller returns the amount of the case that a choice has, the smaller one if it is
// open.
func (c *Checker) smaller(amounts [2]model.Bytes, choice constraints.Variable) model.Bytes {
	switch open := c.local.at[choice]; {
	case open.lo >= fused:
		return amounts[fused]
	case open.hi <= split:
		return amounts[split]
	}
	return min(amounts[split], amounts[fused])
}

// seat returns the place of a device among those of a sequence, which has it.
func (c *Checker) seat(s *sequence, device int32) int { return slices.Index(s.devices, device) }
