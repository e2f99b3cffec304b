package heuristics

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// chain is a problem whose stages form a chain and lie on the devices in a
// regular way. The devices that hold stages are its ranks, in the order in which
// the chain first meets them.
type chain struct {
	p       *model.Problem
	devices []int         // by rank
	chunks  int           // stages per rank
	folded  bool          // every other run over the ranks goes backward
	rows    [][]stageRows // by route and stage
	micro   int           // micro-batches
}

// stageRows are the rows of a stage; -1 where it has no such operation.
type stageRows struct{ forward, input, weight, full int }

// ranks returns the number of devices that hold stages.
func (c *chain) ranks() int { return len(c.devices) }

// route returns the route of a micro-batch.
func (c *chain) route(m int) int {
	if len(c.rows) == 1 || c.p.Pipeline.Routes == nil {
		return 0
	}
	return c.p.Pipeline.Routes[m]
}

// along returns the place of a rank on a route: the second meets the ranks from the
// last to the first.
func (c *chain) along(route, rank int) int {
	if route == 0 {
		return rank
	}
	return c.ranks() - 1 - rank
}

// stage returns the stage that a rank holds on the first route as its chunk of that
// index.
func (c *chain) stage(rank, chunk int) int {
	if c.folded && chunk%2 == 1 {
		rank = c.ranks() - 1 - rank
	}
	return chunk*c.ranks() + rank
}

// lay fills the ranks and chunks of c if the stages lie on the devices in the
// placement of that name, and reports whether they do.
func (c *chain) lay(placement string) bool {
	stages := c.p.Pipeline.Stages
	used := map[int]bool{}
	c.devices = nil
	for s := range stages {
		if d := deviceOf(&stages[s]); !used[d] {
			used[d] = true
			c.devices = append(c.devices, d)
		}
	}
	c.folded = placement == "v"
	c.chunks = len(stages) / len(c.devices)
	if len(stages)%len(c.devices) != 0 || placement == "linear" && c.chunks != 1 {
		return false
	}
	for rank, d := range c.devices {
		for chunk := range c.chunks {
			if deviceOf(&stages[c.stage(rank, chunk)]) != d {
				return false
			}
		}
	}
	return true
}

func deviceOf(s *model.Stage) int { return s.Replicas[0].Devices[0] }

// index finds the rows of each stage.
func (c *chain) index() {
	c.micro = c.p.MicroBatches()
	c.rows = make([][]stageRows, c.p.Pipeline.NumRoutes())
	for route := range c.rows {
		c.rows[route] = slices.Repeat([]stageRows{{-1, -1, -1, -1}}, len(c.p.Pipeline.Stages))
	}
	for r := range c.p.Rows {
		rows := c.of(&c.p.Rows[r])
		switch c.p.Rows[r].Kind {
		case model.Forward:
			rows.forward = r
		case model.BackwardInput:
			rows.input = r
		case model.BackwardWeight:
			rows.weight = r
		case model.BackwardFull:
			rows.full = r
		}
	}
}

// of returns the rows of the stage and the route of a row.
func (c *chain) of(row *model.Row) *stageRows { return &c.rows[row.Route][row.Stage] }

// at returns the rows of a stage that run a micro-batch.
func (c *chain) at(stage, m int) *stageRows { return &c.rows[c.route(m)][stage] }

// plan asks for the order of each rank in turn. Devices without stages get none.
func (c *chain) plan(list func(rank int, o *deviceOrder)) *model.Plan {
	plan := &model.Plan{Order: make([][]model.OpID, c.p.NumDevices())}
	for rank, d := range c.devices {
		o := &deviceOrder{c: c, ops: make([]model.OpID, 0, len(c.p.RowsOn[d])*c.micro)}
		list(rank, o)
		plan.Order[d] = o.ops
	}
	return plan
}

// deviceOrder is the list of operations of one device in the making. Its methods take
// the stage and the micro-batch, and pass over what the stage does not have.
type deviceOrder struct {
	c   *chain
	ops []model.OpID
}

func (o *deviceOrder) add(row, m int) {
	if row >= 0 {
		o.ops = append(o.ops, o.c.p.Op(row, m))
	}
}

func (o *deviceOrder) forward(stage, m int) { o.add(o.c.at(stage, m).forward, m) }
func (o *deviceOrder) input(stage, m int)   { o.add(o.c.at(stage, m).input, m) }
func (o *deviceOrder) weight(stage, m int)  { o.add(o.c.at(stage, m).weight, m) }

// backward lists the full backward, or else what the stage has of its halves.
func (o *deviceOrder) backward(stage, m int) {
	if full := o.c.at(stage, m).full; full >= 0 {
		o.add(full, m)
		return
	}
	o.input(stage, m)
	o.weight(stage, m)
}
