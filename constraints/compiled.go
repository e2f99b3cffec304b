package constraints

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// CheckCompiled derives from the pipeline of a problem what must run and under
// which rules, compares that with the rows of the problem, and reports each
// difference under RuleCompiled. It shares no code with model.Compile, so that
// a mistake there is not repeated here.
//
// Cost O(rows + precedences between rows + micro-batches).
func CheckCompiled(p *model.Problem) *Report {
	c := &compiled{p: p, pl: p.Pipeline, routes: p.Pipeline.NumRoutes(), report: &Report{}}
	c.devices()
	c.numbering()
	c.register()
	c.graph()
	c.operations()
	for s := range c.pl.Stages {
		for route := range c.routes {
			c.stage(s, route)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(c.wanted)) {
		c.want = c.want[:0]
		c.comparePreds(r)
	}
	for _, r := range c.transfers {
		if !c.needed[r] {
			c.surplus = append(c.surplus, r)
		}
	}
	slices.Sort(c.surplus)
	for _, r := range c.surplus {
		c.differ(r, "the pipeline has no such operation")
	}
	if c.report.OK() {
		c.derived()
	}
	return c.report
}

// compiled holds the state of one CheckCompiled.
type compiled struct {
	p      *model.Problem
	pl     *model.Pipeline
	routes int
	report *Report

	byPlace   []int32 // by stage, route and standard kind: its row, -1 if none
	transfers map[transfer]int32
	needed    map[int32]bool // transfers that the pipeline asks for
	byOwn     map[ownRow]int32
	wanted    map[int32]bool                 // rows of own that the pipeline asks for
	ownPreds  map[int32]map[int32]model.Time // by row and producer: lags that own operations ask for
	surplus   []int32
	after     [][]int // by stage: the stages that read its output
	links     map[[2]int]model.Time

	want, have []model.Pred // scratch
}

// transfer names the row of a blocking transfer.
type transfer struct {
	kind            model.Kind
	from, to, route int
}

// stageKinds is the number of kinds that a stage itself can have.
const stageKinds = int(model.BackwardFull) + 1

func (c *compiled) add(device int, format string, args ...any) {
	c.report.add(RuleCompiled, func() Violation {
		return Violation{Device: device, Message: fmt.Sprintf(format, args...)}
	})
}

// differ reports a row by its place.
func (c *compiled) differ(r int32, format string, args ...any) {
	row := &c.p.Rows[r]
	c.add(-1, "row %d (%s of stage %d, route %d) %s", r, c.kindName(row.Kind), row.Stage, row.Route, fmt.Sprintf(format, args...))
}

// kindName returns the name of a kind in the table of the problem.
func (c *compiled) kindName(k model.Kind) string {
	if int(k) < len(c.p.Kinds) {
		return c.p.Kinds[k].Name
	}
	return k.String()
}

// devices compares the limits and the static memory of the devices. A device
// that holds several replicas of a stage holds its parameters once.
func (c *compiled) devices() {
	limits, statics := c.p.Limits, make([]model.Bytes, len(c.pl.Devices))
	for _, st := range c.pl.Stages {
		for i, replica := range st.Replicas {
			for _, d := range replica.Devices {
				if !holds(st.Replicas[:i], d) {
					statics[d] += st.Static
				}
			}
		}
	}
	if len(limits) != len(statics) || len(c.p.Statics) != len(statics) {
		c.add(-1, "the problem has %d devices, the pipeline %d", len(limits), len(statics))
		return
	}
	for d, dev := range c.pl.Devices {
		if limits[d] != dev.Limit || c.p.Statics[d] != statics[d] {
			c.add(d, "%s has limit %d and static memory %d, the pipeline says %d and %d",
				c.p.DeviceName(d), limits[d], c.p.Statics[d], dev.Limit, statics[d])
		}
	}
}

func holds(replicas []model.Replica, d int) bool {
	return slices.ContainsFunc(replicas, func(r model.Replica) bool { return slices.Contains(r.Devices, d) })
}

// numbering compares the operation numbers with the micro-batches of the routes.
func (c *compiled) numbering() {
	members := make([][]int, c.routes)
	for m := range c.pl.MicroBatches {
		r := routeOf(c.pl, m)
		members[r] = append(members[r], m)
	}
	tried := make([]bool, c.routes)
	for r := range c.p.Rows {
		row := &c.p.Rows[r]
		if row.Route < 0 || row.Route >= c.routes {
			c.differ(int32(r), "serves no route of the pipeline")
			continue
		}
		if row.Single {
			if c.p.Count(r) != 1 || c.p.RowOf(c.p.Base(r)) != r || c.p.MicroBatch(c.p.Base(r)) != -1 {
				c.differ(int32(r), "runs once, but does not have one operation of no micro-batch")
			}
			continue
		}
		ms := members[row.Route]
		if n := c.p.Count(r); n != len(ms) {
			c.differ(int32(r), "has %d operations, its route has %d micro-batches", n, len(ms))
			continue
		}
		if len(ms) == 0 {
			continue
		}
		last := c.p.Base(r) + model.OpID(len(ms)-1)
		if c.p.RowOf(c.p.Base(r)) != r || c.p.RowOf(last) != r {
			c.differ(int32(r), "is not the row of its own operations %d to %d", c.p.Base(r), last)
		}
		if !tried[row.Route] {
			tried[row.Route] = true
			c.members(r, ms)
		}
	}
}

// members compares the micro-batches of a row, one by one.
func (c *compiled) members(r int, members []int) {
	for i, m := range members {
		op := c.p.Base(r) + model.OpID(i)
		if got := c.p.MicroBatch(op); got != m || c.p.Op(r, m) != op {
			c.differ(int32(r), "runs micro-batch %d at index %d, the pipeline says %d", got, i, m)
		}
	}
}

// register files the rows by what they are.
func (c *compiled) register() {
	c.transfers, c.needed = map[transfer]int32{}, map[int32]bool{}
	c.byOwn, c.wanted, c.ownPreds = map[ownRow]int32{}, map[int32]bool{}, map[int32]map[int32]model.Time{}
	c.byPlace = make([]int32, len(c.pl.Stages)*c.routes*stageKinds)
	for i := range c.byPlace {
		c.byPlace[i] = -1
	}
	for r := range c.p.Rows {
		row := &c.p.Rows[r]
		switch {
		case int(row.Kind) >= standardKinds:
			key := ownRow{c.kindName(row.Kind), row.Stage, row.Route}
			if _, twice := c.byOwn[key]; twice {
				c.differ(int32(r), "is there twice")
			}
			c.byOwn[key] = int32(r)
		case row.Stage < 0 || row.Stage >= len(c.pl.Stages) || row.Route < 0 || row.Route >= c.routes:
			c.differ(int32(r), "belongs to no stage of the pipeline")
		case row.Kind.IsTransfer():
			key := transfer{row.Kind, row.Stage, row.To, row.Route}
			if _, twice := c.transfers[key]; twice {
				c.differ(int32(r), "is there twice")
			}
			c.transfers[key] = int32(r)
		case row.To != -1 || row.Single:
			c.differ(int32(r), "has a receiver or runs once, which no operation of a stage does")
		default:
			at := c.place(row.Stage, row.Route, row.Kind)
			if *at >= 0 {
				c.differ(int32(r), "is there twice")
			}
			*at = int32(r)
		}
	}
}

func (c *compiled) place(stage, route int, kind model.Kind) *int32 {
	return &c.byPlace[(stage*c.routes+route)*stageKinds+int(kind)]
}

// graph lists the stages behind each stage, and the exceptional links.
func (c *compiled) graph() {
	c.after = make([][]int, len(c.pl.Stages))
	for s, st := range c.pl.Stages {
		for _, q := range st.After {
			c.after[q] = append(c.after[q], s)
		}
	}
	if len(c.pl.Links) > 0 {
		c.links = make(map[[2]int]model.Time, len(c.pl.Links))
		for _, l := range c.pl.Links {
			c.links[[2]int{l.From, l.To}] = l.Latency
		}
	}
}

// latency returns how long a transfer between the devices of two stages takes:
// as long as that of the worst pair, and nothing only between equal sets.
func (c *compiled) latency(from, to []int) model.Time {
	worst, equal := model.Time(0), len(from) == len(to)
	for _, a := range from {
		equal = equal && slices.Contains(to, a)
		for _, b := range to {
			if a == b {
				continue
			}
			lag, exceptional := c.links[[2]int{a, b}]
			if !exceptional {
				lag = c.pl.Latency
			}
			worst = max(worst, lag)
		}
	}
	if equal {
		return 0
	}
	return worst
}
