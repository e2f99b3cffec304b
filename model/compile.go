package model

import (
	"fmt"
	"slices"
)

// Compile checks a Pipeline and turns it into a Problem. It refuses what no
// schedule could satisfy by its form (indices out of range, a cyclic stage
// graph, numbers that overflow), and names the field. Errors are *PipelineError. Cost
// O(rows).
func Compile(pl *Pipeline) (*Problem, error) {
	order, err := pl.check()
	if err != nil {
		return nil, pl.refuse(err)
	}
	p := &Problem{Pipeline: pl, Kinds: StandardKinds(), Identical: identical(pl)}
	p.members, p.position = routes(pl)
	for _, d := range pl.Devices {
		p.Limits = append(p.Limits, d.Limit)
	}
	c := compiler{p: p, pl: pl, links: newLinkTable(pl), order: order}
	if err := c.run(); err != nil {
		return nil, pl.refuse(err)
	}
	if err := p.index(); err != nil {
		return nil, pl.refuse(err)
	}
	if err := c.checkCycles(); err != nil {
		return nil, pl.refuse(err)
	}
	if err := p.checkTotals(); err != nil {
		return nil, pl.refuse(err)
	}
	return p, nil
}

func identical(pl *Pipeline) bool {
	for _, f := range pl.Factors {
		if f != pl.Factors[0] {
			return false
		}
	}
	return true
}

// routes lists the micro-batches of each route and the index of each within it.
func routes(pl *Pipeline) (members [][]int32, position []int32) {
	members = make([][]int32, pl.NumRoutes())
	if len(members) == 1 {
		return members, nil
	}
	position = make([]int32, pl.MicroBatches)
	for r := range members {
		members[r] = []int32{}
	}
	for m := range pl.MicroBatches {
		r := 0
		if pl.Routes != nil {
			r = pl.Routes[m]
		}
		position[m] = int32(len(members[r]))
		members[r] = append(members[r], int32(m))
	}
	return members, position
}

// stageRows are the rows of one stage on one route; -1 where there is none.
type stageRows struct{ forward, input, weight, full int32 }

// gradient returns the row at whose end the gradient of the stage's input
// exists, -1 if there is none.
func (r stageRows) gradient() int32 {
	if r.input >= 0 {
		return r.input
	}
	return r.full
}

// edge is a transfer: the row that produces, and the stage that receives.
type edge struct {
	producer int32
	to       int
}

type compiler struct {
	p     *Problem
	pl    *Pipeline
	links linkTable
	order []int // stages in topological order
	after [][]int
	rows  [][]stageRows // by stage and route
	sends map[edge]int32

	operations [][]operationRows // by operation of the pipeline and route; of a Single one for all routes
	implied    []impliedWait
}

// run appends all rows: those of one micro-batch each before the single ones.
func (c *compiler) run() error {
	c.after = make([][]int, len(c.pl.Stages))
	for s, st := range c.pl.Stages {
		for _, q := range st.After {
			c.after[q] = append(c.after[q], s)
		}
	}
	c.rows = make([][]stageRows, len(c.pl.Stages))
	for s := range c.pl.Stages {
		for route := range c.p.members {
			c.rows[s] = append(c.rows[s], c.addStage(s, route))
		}
	}
	c.operations = make([][]operationRows, len(c.pl.Operations))
	c.addOperations(false)
	c.sends = map[edge]int32{}
	for _, s := range c.order {
		for route := range c.p.members {
			c.connect(s, route)
		}
	}
	c.addOperations(true)
	if len(c.p.Kinds) > maxKinds {
		return fmt.Errorf("%d kinds of operations are more than %d", len(c.p.Kinds), maxKinds)
	}
	if err := c.connectOperations(); err != nil {
		return err
	}
	c.p.Statics = make([]Bytes, len(c.pl.Devices))
	for s, st := range c.pl.Stages {
		for _, d := range c.devicesOfStage(s) {
			c.p.Statics[d] += st.Static
		}
	}
	return nil
}

// devicesOfStage returns each device that holds a replica of the stage, once.
func (c *compiler) devicesOfStage(s int) []int {
	var all []int
	for _, r := range c.pl.Stages[s].Replicas {
		all = append(all, r.Devices...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (c *compiler) replica(s, route int) *Replica {
	rs := c.pl.Stages[s].Replicas
	return &rs[min(route, len(rs)-1)]
}

// addStage appends the rows of a stage on a route, without predecessors.
func (c *compiler) addStage(s, route int) stageRows {
	st, d := &c.pl.Stages[s], c.replica(s, route).Durations
	apart := d.BackwardInput != Absent || d.BackwardWeight != Absent
	both := d.BackwardInput != Absent && d.BackwardWeight != Absent
	// A stage with one of the two halves runs that one, whatever the mode.
	full := d.BackwardFull != Absent && (!apart || both && st.Backward != Split)
	if full && st.Backward == Fused {
		apart = false
	}
	choice := full && apart && both
	rows := stageRows{-1, -1, -1, -1}
	add := func(kind Kind, dur Time, delta Delta, when Choice) int32 {
		if dur == Absent {
			return -1
		}
		return c.add(Row{Kind: kind, Stage: s, To: -1, Route: route, Duration: dur, Choice: when},
			c.replica(s, route).Devices, delta)
	}
	split, fused := Always, Always
	if choice {
		split, fused = WhenSplit, WhenFused
		c.p.HasChoice = true
	}
	taken := max(0, -st.FreedByInput)
	held := st.Activation + taken
	left := held + c.pl.netMemory(s) // what the last operation finds
	forward := Delta{AtStart: st.Activation}
	if !apart && !full {
		forward.AtEnd = -st.Activation
	}
	rows.forward = add(Forward, d.Forward, forward, Always)
	if apart {
		input := Delta{AtStart: taken, AtEnd: -max(0, st.FreedByInput)}
		weight := Delta{AtEnd: -(left - max(0, st.FreedByInput))}
		if d.BackwardWeight == Absent {
			input.AtEnd = -left
		}
		if d.BackwardInput == Absent {
			weight.AtEnd = -(left - taken)
		}
		rows.input = add(BackwardInput, d.BackwardInput, input, split)
		rows.weight = add(BackwardWeight, d.BackwardWeight, weight, split)
	}
	if full && (choice || !apart) {
		rows.full = add(BackwardFull, d.BackwardFull, Delta{AtStart: taken, AtEnd: -left}, fused)
	}
	if choice {
		c.p.Rows[rows.input].Twin = rows.full
		c.p.Rows[rows.full].Twin = rows.input
	}
	return rows
}

func (c *compiler) add(row Row, devices []int, delta Delta) int32 {
	row.Twin = -1
	for _, d := range devices {
		row.Devices = append(row.Devices, int32(d))
	}
	slices.Sort(row.Devices)
	if delta != (Delta{}) {
		row.Memory = make([]Delta, len(devices))
		for i := range row.Memory {
			row.Memory[i] = delta
		}
	}
	c.p.Rows = append(c.p.Rows, row)
	return int32(len(c.p.Rows) - 1)
}

// connect gives the rows of a stage their predecessors.
func (c *compiler) connect(s, route int) {
	rows := c.rows[s][route]
	for _, q := range c.pl.Stages[s].After {
		c.link(c.rows[q][route].forward, s, rows.forward)
	}
	for _, backward := range []int32{rows.input, rows.full} {
		if backward >= 0 {
			c.local(rows.forward, backward)
			c.gradients(s, route, backward)
		}
	}
	switch {
	case rows.weight < 0:
	case rows.input >= 0:
		c.local(rows.input, rows.weight)
	default:
		c.local(rows.forward, rows.weight)
		c.gradients(s, route, rows.weight)
	}
}

func (c *compiler) gradients(s, route int, consumer int32) {
	for _, q := range c.after[s] {
		if g := c.rows[q][route].gradient(); g >= 0 {
			c.link(g, s, consumer)
		}
	}
}

func (c *compiler) local(producer, consumer int32) {
	row := &c.p.Rows[consumer]
	row.Preds = append(row.Preds, Pred{Row: producer})
}

// link makes consumer, of stage to, wait for producer, across a transfer
// operation if transfers block and take time.
func (c *compiler) link(producer int32, to int, consumer int32) {
	from, dest := c.p.Rows[producer].Devices, c.p.Rows[consumer].Devices
	lag := c.links.between(from, dest)
	if c.pl.Blocking && lag > 0 {
		producer, lag = c.send(producer, to, consumer, lag), 0
	}
	row := &c.p.Rows[consumer]
	row.Preds = append(row.Preds, Pred{Row: producer, Lag: lag})
}

// send returns the transfer operation from producer to a stage, which serves all
// its consumers there.
func (c *compiler) send(producer int32, to int, consumer int32, lag Time) int32 {
	if row, ok := c.sends[edge{producer, to}]; ok {
		return row
	}
	from := &c.p.Rows[producer]
	kind := SendForward
	if from.Kind.CarriesGradient() {
		kind = SendBackward
	}
	var devices []int
	for _, d := range slices.Concat(from.Devices, c.p.Rows[consumer].Devices) {
		if !slices.Contains(devices, int(d)) {
			devices = append(devices, int(d))
		}
	}
	row := Row{Kind: kind, Stage: from.Stage, To: to, Route: from.Route, Duration: lag, Fixed: true,
		Preds: []Pred{{Row: producer}}}
	c.sends[edge{producer, to}] = c.add(row, devices, Delta{})
	return c.sends[edge{producer, to}]
}
