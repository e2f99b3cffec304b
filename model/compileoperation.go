package model

import (
	"fmt"
	"slices"
	"strings"
)

// operationRows are the rows of an operation on one route; -1 where there is none.
type operationRows struct {
	row         int32
	alloc, free int32 // rows of no length that take and give back its memory
}

// netMemory returns what the operations beside a stage leave taken for a
// micro-batch; negative where they give back more.
func (pl *Pipeline) netMemory(s int) Bytes {
	net := Bytes(0)
	for i := range pl.Operations {
		if o := &pl.Operations[i]; o.Stage == s && !o.Single {
			net += o.Takes - o.Gives
		}
	}
	return net
}

// kindOf returns the kind of that name, and adds it to the table if it is new.
func (c *compiler) kindOf(name, letter string, busy bool) Kind {
	if i := slices.IndexFunc(c.p.Kinds, func(k KindInfo) bool { return k.Name == name }); i >= 0 {
		return Kind(i)
	}
	c.p.Kinds = append(c.p.Kinds, KindInfo{Name: name, Letter: letter, Busy: busy})
	return Kind(len(c.p.Kinds) - 1)
}

// maxKinds is the number of kinds that a Kind can tell apart.
const maxKinds = 1 << 8

// addOperations appends the rows of the operations that run for each micro-batch,
// or of those that run once, without predecessors.
func (c *compiler) addOperations(single bool) {
	for i := range c.pl.Operations {
		if c.pl.Operations[i].Single != single {
			continue
		}
		routes := len(c.p.members)
		if single {
			routes = 1
		}
		for route := range routes {
			c.operations[i] = append(c.operations[i], c.addOperation(&c.pl.Operations[i], route))
		}
	}
}

// addOperation appends the rows of an operation on a route.
func (c *compiler) addOperation(o *Operation, route int) operationRows {
	rows := operationRows{-1, -1, -1}
	row := Row{Kind: c.kindOf(o.Name, o.Letter, true), Stage: o.Stage, To: -1, Route: route,
		Duration: o.Duration, Fixed: o.Fixed, Single: o.Single}
	gives := o.Gives
	if o.Single {
		gives = o.Takes
	}
	devices, home := c.placesOf(o, route)
	if slices.Equal(devices, home) {
		rows.row = c.add(row, devices, Delta{AtStart: o.Takes, AtEnd: -gives})
		return rows
	}
	mark := func(suffix string, delta Delta) int32 {
		if delta == (Delta{}) {
			return -1
		}
		marker := row
		marker.Kind = c.kindOf(o.Name+suffix, o.Letter+strings.ToUpper(suffix), false)
		marker.Duration, marker.Fixed = 0, true
		return c.add(marker, home, delta)
	}
	rows.alloc = mark(allocSuffix, Delta{AtStart: o.Takes})
	rows.row = c.add(row, devices, Delta{})
	rows.free = mark(freeSuffix, Delta{AtEnd: -gives})
	return rows
}

// placesOf returns the devices that an operation occupies, and those that hold
// its memory.
func (c *compiler) placesOf(o *Operation, route int) (devices, home []int) {
	switch {
	case o.Stage < 0:
	case o.Single:
		home = c.devicesOfStage(o.Stage)
	default:
		home = c.replica(o.Stage, route).Devices
	}
	switch {
	case o.Devices == nil:
		return home, home
	case c.pl.enginesOnly(o.Devices):
		return o.Devices, home
	}
	return o.Devices, o.Devices
}

// connectOperations gives the rows of all operations their predecessors and
// successors.
func (c *compiler) connectOperations() error {
	for i := range c.pl.Operations {
		o := &c.pl.Operations[i]
		for route := range c.operations[i] {
			if err := c.connectOperation(i, o, route); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *compiler) connectOperation(i int, o *Operation, route int) error {
	rows := c.operations[i][route]
	for _, w := range o.After {
		producers, err := c.meant(i, o, w, route, false)
		if err != nil {
			return err
		}
		for _, q := range producers {
			c.wait(q, rows.row, w.Lag)
			if rows.alloc >= 0 {
				c.wait(q, rows.alloc, w.Lag)
			}
		}
	}
	for _, w := range o.Before {
		consumers, err := c.meant(i, o, w, route, true)
		if err != nil {
			return err
		}
		for _, q := range consumers {
			c.wait(rows.row, q, w.Lag)
		}
	}
	if rows.alloc >= 0 {
		c.wait(rows.alloc, rows.row, 0)
	}
	if rows.free >= 0 {
		c.wait(rows.row, rows.free, 0)
	}
	if !o.Single && o.Stage >= 0 && o.Takes != o.Gives {
		c.borrow(i, rows, route)
	}
	return nil
}

// borrow orders an operation that leaves the memory of its stage changed behind
// the forward, which takes the activation, and before the last backward operation,
// which gives back what is left.
func (c *compiler) borrow(i int, rows operationRows, route int) {
	own := c.rows[c.pl.Operations[i].Stage][route]
	first, last := rows.row, rows.row
	if rows.alloc >= 0 {
		first = rows.alloc
	}
	if rows.free >= 0 {
		last = rows.free
	}
	c.imply(i, own.forward, first)
	for _, q := range own.last() {
		c.imply(i, last, q)
	}
}

// imply makes consumer wait for producer by a rule about operation i, unless the
// operation says so itself.
func (c *compiler) imply(i int, producer, consumer int32) {
	if !slices.ContainsFunc(c.p.Rows[consumer].Preds, func(q Pred) bool { return q.Row == producer }) {
		c.implied = append(c.implied, impliedWait{i, producer, consumer})
	}
	c.wait(producer, consumer, 0)
}

// last returns the rows that give back what a stage holds for a micro-batch, one
// for each case of a choice.
func (r stageRows) last() []int32 {
	split := r.weight
	if split < 0 {
		split = r.input
	}
	return present32(split, r.full)
}

// first returns the rows that start the backward of a stage, one for each case of
// a choice.
func (r stageRows) first() []int32 {
	split := r.input
	if split < 0 {
		split = r.weight
	}
	return present32(split, r.full)
}

// present32 returns those of the rows that exist.
func present32(rows ...int32) []int32 {
	return slices.DeleteFunc(rows, func(r int32) bool { return r < 0 })
}

// wait makes consumer wait for producer, lag ticks and a transfer after its end.
func (c *compiler) wait(producer, consumer int32, lag Time) {
	lag += c.links.between(c.devicesAmong(producer), c.devicesAmong(consumer))
	row := &c.p.Rows[consumer]
	for i := range row.Preds {
		if row.Preds[i].Row == producer {
			row.Preds[i].Lag = max(row.Preds[i].Lag, lag)
			return
		}
	}
	row.Preds = append(row.Preds, Pred{Row: producer, Lag: lag})
}

// devicesAmong returns the devices of a row that are no engines.
func (c *compiler) devicesAmong(r int32) []int32 {
	var devices []int32
	for _, d := range c.p.Rows[r].Devices {
		if !c.pl.Devices[d].Engine {
			devices = append(devices, d)
		}
	}
	return devices
}

// meant returns the rows that a Ref of an operation on a route names; waiting
// says that they wait for the operation, else it waits for them.
func (c *compiler) meant(i int, o *Operation, w Ref, route int, waiting bool) ([]int32, error) {
	if w.Stage < -1 || w.Stage >= len(c.pl.Stages) {
		return nil, &OperationError{i, o.Name, fmt.Sprintf("it names stage %d", w.Stage),
			fmt.Sprintf("the stages are 0 to %d, -1 is none", len(c.pl.Stages)-1)}
	}
	var rows []int32
	for _, r := range c.routesOf(o, route) {
		rows = append(rows, c.named(w, r, waiting)...)
	}
	if len(rows) == 0 {
		return nil, &OperationError{i, o.Name, "there is no " + (&Operation{Name: w.Kind, Stage: w.Stage}).label(), c.hint(w)}
	}
	slices.Sort(rows)
	return slices.Compact(rows), nil
}

// routesOf returns the routes whose micro-batches an operation serves.
func (c *compiler) routesOf(o *Operation, route int) []int {
	if !o.Single {
		return []int{route}
	}
	all := make([]int, len(c.p.members))
	for r := range all {
		all[r] = r
	}
	return all
}

// named returns the rows that a Ref names on a route, none if there are none.
func (c *compiler) named(w Ref, route int, waiting bool) []int32 {
	if w.Stage >= 0 {
		switch own := c.rows[w.Stage][route]; w.Kind {
		case Forward.String():
			return []int32{own.forward}
		case BackwardInput.String():
			return present32(own.input, own.full)
		case BackwardWeight.String():
			return present32(own.weight, own.full)
		case BackwardFull.String():
			return present32(own.full)
		case Backward:
			if waiting {
				return own.first()
			}
			return own.last()
		}
	}
	for i := range c.pl.Operations {
		if q := &c.pl.Operations[i]; q.Name == w.Kind && q.Stage == w.Stage {
			rows := c.operations[i]
			return []int32{rows[min(route, len(rows)-1)].row}
		}
	}
	return nil
}

// hint says what there is beside the stage of a Ref.
func (c *compiler) hint(w Ref) string {
	var has []string
	if w.Stage >= 0 {
		for _, k := range []Kind{Forward, BackwardInput, BackwardWeight, BackwardFull} {
			if len(c.named(Ref{Kind: k.String(), Stage: w.Stage}, 0, false)) > 0 {
				has = append(has, k.String())
			}
		}
	}
	for i := range c.pl.Operations {
		if q := &c.pl.Operations[i]; q.Stage == w.Stage {
			has = append(has, q.Name)
		}
	}
	switch {
	case len(has) == 0:
		return "no operation belongs to no stage"
	case w.Stage < 0:
		return "beside no stage there is " + strings.Join(has, ", ")
	}
	return fmt.Sprintf("stage %d has %s", w.Stage, strings.Join(has, ", "))
}
