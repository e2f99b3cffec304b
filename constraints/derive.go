package constraints

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// expected is what the pipeline says of a row.
type expected struct {
	kind     model.Kind
	exists   bool
	duration model.Time
	delta    model.Delta
	choice   model.Choice
	twin     int32
}

func (c *compiled) replica(s, route int) *model.Replica {
	if replicas := c.pl.Stages[s].Replicas; len(replicas) > 1 {
		return &replicas[route]
	}
	return &c.pl.Stages[s].Replicas[0]
}

// derive returns what a stage runs for a micro-batch, by kind.
//
// Fused applies to stages that have both halves of the backward pass, or
// neither; a stage with one half runs that one. The last operation gives back
// all that is left of what the stage took.
func (c *compiled) derive(s, route int) [stageKinds]expected {
	st, d := &c.pl.Stages[s], &c.replica(s, route).Durations
	input, weight, full := d.BackwardInput != model.Absent, d.BackwardWeight != model.Absent, d.BackwardFull != model.Absent
	if input != weight || input && st.Backward == model.Split {
		full = false
	}
	if full && st.Backward == model.Fused {
		input, weight = false, false
	}
	split, fused := model.Always, model.Always
	if full && input {
		split, fused = model.WhenSplit, model.WhenFused
	}
	took, gave := max(0, -st.FreedByInput), max(0, st.FreedByInput)
	left := st.Activation + c.net(s) // what the last operation gives back of it, with what others left taken
	var e [stageKinds]expected
	e[model.Forward] = expected{exists: true, duration: d.Forward, delta: model.Delta{AtStart: st.Activation}}
	e[model.BackwardInput] = expected{exists: input, duration: d.BackwardInput, choice: split, delta: model.Delta{AtStart: took, AtEnd: -gave}}
	e[model.BackwardWeight] = expected{exists: weight, duration: d.BackwardWeight, choice: split}
	e[model.BackwardFull] = expected{exists: full, duration: d.BackwardFull, choice: fused, delta: model.Delta{AtStart: took}}
	switch { // who is last when the stage runs split
	case weight && input:
		e[model.BackwardWeight].delta.AtEnd = -(left + took - gave)
	case weight:
		e[model.BackwardWeight].delta.AtEnd = -left
	case input:
		e[model.BackwardInput].delta.AtEnd = -(left + took)
	case !full:
		e[model.Forward].delta.AtEnd = -st.Activation
	}
	e[model.BackwardFull].delta.AtEnd = -(left + took)
	for k := range e {
		e[k].kind, e[k].twin = model.Kind(k), -1
	}
	if full && input {
		e[model.BackwardInput].twin = *c.place(s, route, model.BackwardFull)
		e[model.BackwardFull].twin = *c.place(s, route, model.BackwardInput)
	}
	return e
}

// stage compares the rows of a stage on a route with what the pipeline says.
func (c *compiled) stage(s, route int) {
	for _, e := range c.derive(s, route) {
		r := *c.place(s, route, e.kind)
		switch {
		case e.exists && r < 0:
			c.add(-1, "the %s of stage %d, route %d has no row", e.kind, s, route)
		case !e.exists && r >= 0:
			c.surplus = append(c.surplus, r)
		case e.exists:
			c.row(s, route, r, &e)
			c.preds(s, route, e.kind)
			c.comparePreds(r)
		}
	}
}

// row compares all of a row but its predecessors.
func (c *compiled) row(s, route int, r int32, e *expected) {
	row := &c.p.Rows[r]
	if row.Duration != e.duration || row.Fixed {
		c.differ(r, "lasts %d (fixed: %t), the pipeline says %d, scaled by the factor of the micro-batch", row.Duration, row.Fixed, e.duration)
	}
	if row.Choice != e.choice || row.Twin != e.twin {
		c.differ(r, "has choice %d and twin %d, the pipeline says %d and %d", row.Choice, row.Twin, e.choice, e.twin)
	}
	if e.choice != model.Always && !c.p.HasChoice {
		c.differ(r, "depends on a choice that the problem does not have")
	}
	c.compareDevices(r, c.replica(s, route).Devices, nil)
	c.compareMemory(r, e.delta)
}

// compareMemory compares what a row takes and gives back, on each of its devices.
func (c *compiled) compareMemory(r int32, want model.Delta) {
	row := &c.p.Rows[r]
	if row.Memory != nil && len(row.Memory) != len(row.Devices) {
		c.differ(r, "has memory for %d of its %d devices", len(row.Memory), len(row.Devices))
		return
	}
	for _, d := range row.Devices {
		if got := row.MemoryOn(int(d)); got != want {
			c.differ(r, "takes %d and %d at start and end on device %d, the pipeline says %d and %d", got.AtStart, got.AtEnd, d, want.AtStart, want.AtEnd)
		}
	}
}

// compareDevices compares the devices of a row with the union of two sets.
func (c *compiled) compareDevices(r int32, a, b []int) {
	have, same := c.p.Rows[r].Devices, true
	for i, d := range have {
		ascends := i == 0 || have[i-1] < d
		same = same && ascends && (slices.Contains(a, int(d)) || slices.Contains(b, int(d)))
	}
	union := len(a)
	for _, d := range b {
		if !slices.Contains(a, d) {
			union++
		}
	}
	if !same || len(have) != union {
		c.differ(r, "sits on devices %v, the pipeline says %v", have, slices.Concat(a, b))
	}
}

// preds lists in c.want what an operation of a stage waits for.
func (c *compiled) preds(s, route int, kind model.Kind) {
	c.want = c.want[:0]
	switch {
	case kind == model.Forward:
		for _, q := range c.pl.Stages[s].After {
			c.across(model.SendForward, q, s, route, *c.place(q, route, model.Forward))
		}
	case kind == model.BackwardWeight && *c.place(s, route, model.BackwardInput) >= 0:
		c.own(s, route, model.BackwardInput)
	default:
		c.own(s, route, model.Forward)
		for _, q := range c.after[s] {
			gradient := *c.place(q, route, model.BackwardInput)
			if gradient < 0 {
				gradient = *c.place(q, route, model.BackwardFull)
			}
			c.across(model.SendBackward, q, s, route, gradient)
		}
	}
}

// own adds an operation of the same stage.
func (c *compiled) own(s, route int, kind model.Kind) {
	if r := *c.place(s, route, kind); r >= 0 {
		c.want = append(c.want, model.Pred{Row: r})
	}
}

// across adds a producer on another stage, or the blocking transfer from it.
func (c *compiled) across(kind model.Kind, from, to, route int, producer int32) {
	if producer < 0 {
		return // none, or reported as missing
	}
	a, b := c.replica(from, route).Devices, c.replica(to, route).Devices
	lag := c.latency(a, b)
	if !c.pl.Blocking || lag == 0 {
		c.want = append(c.want, model.Pred{Row: producer, Lag: lag})
		return
	}
	r, ok := c.transfers[transfer{kind, from, to, route}]
	if !ok {
		c.add(-1, "the %s from stage %d to stage %d, route %d has no row", kind, from, to, route)
		return
	}
	c.want = append(c.want, model.Pred{Row: r})
	if !c.needed[r] {
		c.needed[r] = true
		c.transfer(r, producer, lag, a, b)
	}
}

// transfer compares the row of a blocking transfer.
func (c *compiled) transfer(r, producer int32, lag model.Time, from, to []int) {
	row := &c.p.Rows[r]
	if row.Duration != lag || !row.Fixed {
		c.differ(r, "lasts %d (fixed: %t), the pipeline says %d for every micro-batch", row.Duration, row.Fixed, lag)
	}
	if row.Memory != nil || row.Choice != model.Always || row.Twin != -1 {
		c.differ(r, "has memory or a choice, a transfer has neither")
	}
	c.compareDevices(r, from, to)
	if len(row.Preds) != 1 || row.Preds[0] != (model.Pred{Row: producer}) {
		c.differ(r, "waits for %v, the pipeline says for the end of row %d", row.Preds, producer)
	}
}

// comparePreds compares the predecessors of a row with c.want and what the
// pipeline's own operations add to it, as sets.
func (c *compiled) comparePreds(r int32) {
	c.addOwnPreds(r)
	c.have = append(c.have[:0], c.p.Rows[r].Preds...)
	c.have, c.want = canonical(c.have), canonical(c.want)
	if !slices.Equal(c.have, c.want) {
		c.differ(r, "waits for %v (row and lag), the pipeline says %v", slices.Clone(c.have), slices.Clone(c.want))
	}
}

func canonical(preds []model.Pred) []model.Pred {
	slices.SortFunc(preds, func(a, b model.Pred) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Lag, b.Lag))
	})
	return slices.Compact(preds)
}
