package constraints

import (
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// ownRow names the row of an operation of the pipeline's own, or one of the two
// rows of no length that mark where its memory is taken and given back.
type ownRow struct {
	kind         string
	stage, route int // route 0 for one that runs once
}

// ownExpected is what the pipeline says of such a row.
type ownExpected struct {
	ownRow
	letter  string
	busy    bool
	single  bool
	fixed   bool
	length  model.Time
	devices []int
	delta   model.Delta
}

// standardKinds is the number of kinds that every problem knows.
var standardKinds = len(model.StandardKinds())

// routesOf returns the number of routes for which an operation has rows.
func (c *compiled) routesOf(o *model.Operation) int {
	if o.Single {
		return 1
	}
	return c.routes
}

// home returns the devices that hold the stage of an operation, for a route or, if
// it runs once, all of them.
func (c *compiled) home(o *model.Operation, route int) []int {
	switch {
	case o.Stage < 0:
		return nil
	case !o.Single:
		return c.replica(o.Stage, route).Devices
	}
	var all []int
	for _, r := range c.pl.Stages[o.Stage].Replicas {
		for _, d := range r.Devices {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// ownRows derives the rows of an operation on a route: itself first, then where it
// takes and gives memory, if it runs on engines and its memory is on other devices.
func (c *compiled) ownRows(o *model.Operation, route int) []ownExpected {
	gives := o.Gives
	if o.Single {
		gives = o.Takes
	}
	main := ownExpected{ownRow: ownRow{o.Name, o.Stage, route}, letter: o.Letter, busy: true, single: o.Single,
		fixed: o.Fixed, length: o.Duration, devices: o.Devices}
	home := c.home(o, route)
	if o.Devices == nil {
		main.devices = home
	}
	apart := slices.ContainsFunc(main.devices, func(d int) bool { return c.pl.Devices[d].Engine })
	if !apart {
		main.delta = model.Delta{AtStart: o.Takes, AtEnd: -gives}
		return []ownExpected{main}
	}
	rows := []ownExpected{main}
	mark := func(suffix string, delta model.Delta) {
		if delta != (model.Delta{}) {
			rows = append(rows, ownExpected{ownRow: ownRow{o.Name + suffix, o.Stage, route}, letter: o.Letter + strings.ToUpper(suffix),
				single: o.Single, fixed: true, devices: home, delta: delta})
		}
	}
	mark("_alloc", model.Delta{AtStart: o.Takes})
	mark("_free", model.Delta{AtEnd: -gives})
	return rows
}

// operations compares the rows of the pipeline's own operations and their kinds,
// but not yet what they wait for. It must come before what rests on their memory.
func (c *compiled) operations() {
	kinds := map[string]ownExpected{}
	for i := range c.pl.Operations {
		o := &c.pl.Operations[i]
		for route := range c.routesOf(o) {
			for _, e := range c.ownRows(o, route) {
				kinds[e.kind] = e
				c.operation(&e)
			}
		}
	}
	for key, r := range c.byOwn {
		if !c.wanted[r] {
			c.surplus = append(c.surplus, c.byOwn[key])
		}
	}
	c.kinds(kinds)
	for i := range c.pl.Operations {
		o := &c.pl.Operations[i]
		for route := range c.routesOf(o) {
			c.ownWaits(o, route)
		}
	}
}

// kinds compares the table of kinds.
func (c *compiled) kinds(own map[string]ownExpected) {
	table := c.p.Kinds
	if len(table) != standardKinds+len(own) || !slices.Equal(table[:standardKinds], model.StandardKinds()) {
		c.add(-1, "the problem has %d kinds, the pipeline %d standard ones and %d of its own", len(table), standardKinds, len(own))
		return
	}
	for k, info := range table[standardKinds:] {
		e, ok := own[info.Name]
		if !ok || info.Letter != e.letter || info.Busy != e.busy {
			c.add(-1, "kind %d (%s, %s, busy: %t) is not what the pipeline says", standardKinds+k, info.Name, info.Letter, info.Busy)
		}
		delete(own, info.Name)
	}
}

// operation compares all of a row but its predecessors.
func (c *compiled) operation(e *ownExpected) {
	r, ok := c.byOwn[e.ownRow]
	if !ok {
		c.add(-1, "the %s of stage %d, route %d has no row", e.kind, e.stage, e.route)
		return
	}
	c.wanted[r] = true
	row := &c.p.Rows[r]
	if row.Duration != e.length || row.Fixed != e.fixed || row.Single != e.single {
		c.differ(r, "lasts %d (fixed: %t, once: %t), the pipeline says %d (fixed: %t, once: %t)",
			row.Duration, row.Fixed, row.Single, e.length, e.fixed, e.single)
	}
	if row.Choice != model.Always || row.Twin != -1 || row.To != -1 {
		c.differ(r, "has a choice or a receiver, which no such operation has")
	}
	c.compareDevices(r, e.devices, nil)
	c.compareMemory(r, e.delta)
}

// rowOf returns the row of an operation or of one of its marks, -1 if there is none.
func (c *compiled) rowOf(o *model.Operation, suffix string, route int) int32 {
	if o.Single {
		route = 0
	}
	if r, ok := c.byOwn[ownRow{o.Name + suffix, o.Stage, route}]; ok {
		return r
	}
	return -1
}

// ownWaits notes what an operation waits for on a route, and what waits for it.
func (c *compiled) ownWaits(o *model.Operation, route int) {
	row, alloc, free := c.rowOf(o, "", route), c.rowOf(o, "_alloc", route), c.rowOf(o, "_free", route)
	from, end := route, route+1
	if o.Single {
		from, end = 0, c.routes
	}
	for r := from; r < end; r++ {
		for _, ref := range o.After {
			for _, producer := range c.meant(ref, r, false) {
				c.wait(producer, row, ref.Lag)
				c.wait(producer, alloc, ref.Lag)
			}
		}
		for _, ref := range o.Before {
			for _, consumer := range c.meant(ref, r, true) {
				c.wait(row, consumer, ref.Lag)
			}
		}
	}
	c.wait(alloc, row, 0)
	c.wait(row, free, 0)
	if o.Single || o.Stage < 0 || o.Takes == o.Gives {
		return
	}
	// What it leaves taken or given has its place between the forward, which takes
	// the activation, and the last backward operation, which gives back the rest.
	first, last := row, row
	if alloc >= 0 {
		first = alloc
	}
	if free >= 0 {
		last = free
	}
	c.wait(*c.place(o.Stage, route, model.Forward), first, 0)
	for _, q := range c.meant(model.Ref{Kind: model.Backward, Stage: o.Stage}, route, false) {
		c.wait(last, q, 0)
	}
}

// meant returns the rows that a reference means on a route: what waits, or what is
// waited for.
func (c *compiled) meant(ref model.Ref, route int, waits bool) []int32 {
	if ref.Stage >= 0 {
		has := func(k model.Kind) int32 { return *c.place(ref.Stage, route, k) }
		early, late := has(model.BackwardInput), has(model.BackwardWeight)
		if early < 0 {
			early = late
		}
		if late < 0 {
			late = early
		}
		full := has(model.BackwardFull)
		switch {
		case ref.Kind == model.Backward && waits:
			return []int32{early, full}
		case ref.Kind == model.Backward:
			return []int32{late, full}
		case ref.Kind == model.Forward.String():
			return []int32{has(model.Forward)}
		case ref.Kind == model.BackwardInput.String():
			return []int32{has(model.BackwardInput), full}
		case ref.Kind == model.BackwardWeight.String():
			return []int32{has(model.BackwardWeight), full}
		case ref.Kind == model.BackwardFull.String():
			return []int32{full}
		}
	}
	for i := range c.pl.Operations {
		if q := &c.pl.Operations[i]; q.Name == ref.Kind && q.Stage == ref.Stage {
			return []int32{c.rowOf(q, "", route)}
		}
	}
	return nil
}

// wait notes that one row waits for another; nothing if either is missing. The
// latency between their devices comes on top, engines left out.
func (c *compiled) wait(producer, consumer int32, lag model.Time) {
	if producer < 0 || consumer < 0 {
		return
	}
	lag += c.latency(c.withoutEngines(producer), c.withoutEngines(consumer))
	if c.ownPreds[consumer] == nil {
		c.ownPreds[consumer] = map[int32]model.Time{}
	}
	if known, ok := c.ownPreds[consumer][producer]; !ok || lag > known {
		c.ownPreds[consumer][producer] = lag
	}
}

func (c *compiled) withoutEngines(r int32) []int {
	var devices []int
	for _, d := range c.p.Rows[r].Devices {
		if d >= 0 && int(d) < len(c.pl.Devices) && !c.pl.Devices[d].Engine {
			devices = append(devices, int(d))
		}
	}
	return devices
}

// addOwnPreds adds to c.want what a row waits for by the pipeline's own operations.
func (c *compiled) addOwnPreds(r int32) {
	for producer, lag := range c.ownPreds[r] {
		at := slices.IndexFunc(c.want, func(p model.Pred) bool { return p.Row == producer })
		if at < 0 {
			c.want = append(c.want, model.Pred{Row: producer, Lag: lag})
			continue
		}
		c.want[at].Lag = max(c.want[at].Lag, lag)
	}
}

// net returns what the operations beside a stage leave taken for a micro-batch.
func (c *compiled) net(s int) model.Bytes {
	sum := model.Bytes(0)
	for _, o := range c.pl.Operations {
		if o.Stage == s && !o.Single {
			sum += o.Takes - o.Gives
		}
	}
	return sum
}
