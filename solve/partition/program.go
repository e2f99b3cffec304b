package partition

import (
	"context"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/solve/ilp"
	"github.com/flexpipe/flexpipe/solve/lp"
)

// A program states a problem as an integer linear program that minimises the work of
// the busiest device.
//
// The columns count the layers of a run of equal layers on a stage, by mode; that keeps rows
// few, on which the time of a dense simplex method depends most. Rows say:
//
//   - every layer of a run is on some stage, and no stage is empty;
//   - a stage holds a layer of a run only if the run before ends on it or earlier, unless
//     that is so anyway;
//   - a stage has one mode;
//   - a device works no longer than the objective and holds no more than its limit.
//
// Groups of several stages also have a column for their layers of a run together: to
// branch on it decides what single stages leave open, since stages can trade layers.
type program struct {
	f    *frontier
	ilp  ilp.Problem
	runs []runOf
	unit int64   // ticks · factor per unit of the objective
	size float64 // bytes per unit of memory

	count [][][]int // by stage, run, mode: layers; -1 where there cannot be any
	mode  [][]int   // by stage, mode: whether it is the mode; nil with one mode
	seat  [][]int   // by group, class: whether it runs there; nil if not free
}

// A runOf is layers first to end, all equal.
type runOf struct{ first, end int }

func (r runOf) length() int { return r.end - r.first }

// newProgram takes O(stages · runs · modes) beside the layers.
func newProgram(f *frontier) *program {
	g := &program{f: f, runs: f.runs(), unit: f.unit(), size: 1}
	for _, c := range f.classes {
		if c.limit < math.MaxInt64 {
			g.size = max(g.size, float64(c.limit))
		}
	}
	g.column(1, float64(f.loadBound()/g.unit), math.Inf(1)) // column 0, the objective
	g.columns()
	g.cover()
	g.contiguous()
	g.oneMode()
	g.seats()
	for group := range f.slots {
		g.load(group)
		g.memory(group)
	}
	return g
}

// runs returns the runs of equal layers.
func (f *frontier) runs() []runOf {
	equal := func(a, b *Layer) bool {
		if a.Static != b.Static || a.Tied != b.Tied {
			return false
		}
		for _, r := range f.p.modes() {
			if a.Modes[r] != b.Modes[r] {
				return false
			}
		}
		return true
	}
	var list []runOf
	for i := range f.p.Layers {
		if k := len(list) - 1; k >= 0 && equal(&f.p.Layers[i-1], &f.p.Layers[i]) {
			list[k].end++
			continue
		}
		list = append(list, runOf{i, i + 1})
	}
	return list
}

// unit returns the greatest common divisor of all that a layer can take.
func (f *frontier) unit() int64 {
	unit := int64(0)
	for i := range f.n {
		for m := range f.t.modes {
			for _, c := range f.classes {
				for a := f.t.work(i, i+1, m) * c.factor; a != 0; {
					unit, a = a, unit%a
				}
			}
		}
	}
	return max(1, unit)
}

// column adds an integer column.
func (g *program) column(cost, lower, upper float64) int {
	q := &g.ilp
	q.Objective = append(q.Objective, cost)
	q.Lower, q.Upper = append(q.Lower, lower), append(q.Upper, upper)
	q.Integer = append(q.Integer, true)
	return len(q.Objective) - 1
}

// free adds a column that need not be whole.
func (g *program) free(upper float64) int {
	j := g.column(0, 0, upper)
	g.ilp.Integer[j] = false
	return j
}

// terms is the left-hand side of a row.
type terms struct {
	cols   []int
	values []float64
}

func (t *terms) add(col int, value float64) {
	if col >= 0 && value != 0 {
		t.cols, t.values = append(t.cols, col), append(t.values, value)
	}
}

func (g *program) row(t terms, lower, upper float64) {
	g.ilp.Rows = append(g.ilp.Rows, lp.Row{Cols: t.cols, Values: t.values, Lower: lower, Upper: upper})
}

// room returns how many layers of a run can be on a stage, so that none is empty.
func (g *program) room(s, run int) int {
	r := g.runs[run]
	stages := len(g.f.p.Group)
	return max(0, min(r.end, g.f.n-stages+s+1)-max(r.first, s))
}

// columns adds the counts, in all stages, and what goes with them.
func (g *program) columns() {
	modes := len(g.f.t.modes)
	for s := range g.f.p.Group {
		var counts [][]int
		for r := range g.runs {
			row := make([]int, modes)
			for m := range row {
				row[m] = -1
				if room := g.room(s, r); room > 0 {
					row[m] = g.column(0, 0, float64(room))
				}
			}
			counts = append(counts, row)
		}
		g.count = append(g.count, counts)
	}
	for group := range g.f.slots {
		g.pool(group)
	}
}

// pool adds the columns for a group together.
func (g *program) pool(group int) {
	stages := g.f.slots[group].stages
	for r := range g.runs {
		if len(stages) > 1 && g.runs[r].length() > 1 {
			var sum terms
			for _, s := range stages {
				g.addLayers(&sum, s, r, 1)
			}
			sum.add(g.column(0, 0, float64(g.runs[r].length())), -1)
			g.row(sum, 0, 0)
		}
	}
}

// addLayers adds the layers of a run on a stage, times value.
func (g *program) addLayers(t *terms, s, run int, value float64) {
	for _, col := range g.count[s][run] {
		t.add(col, value)
	}
}

// cover says that every layer is somewhere, and something on every stage.
func (g *program) cover() {
	for r := range g.runs {
		var sum terms
		for s := range g.count {
			g.addLayers(&sum, s, r, 1)
		}
		g.row(sum, float64(g.runs[r].length()), float64(g.runs[r].length()))
	}
	for s := range g.count {
		var sum terms
		for r := range g.runs {
			g.addLayers(&sum, s, r, 1)
		}
		g.row(sum, 1, math.Inf(1))
	}
}

// contiguous keeps the runs in order.
func (g *program) contiguous() {
	for s := range g.count {
		for r := range len(g.runs) - 1 {
			if g.room(s, r+1) == 0 || g.lastStage(r) <= s {
				continue
			}
			past := g.column(0, 0, 1)
			done := terms{[]int{past}, []float64{-float64(g.runs[r].length())}}
			for before := range s + 1 {
				g.addLayers(&done, before, r, 1)
			}
			g.row(done, 0, math.Inf(1))
			next := terms{[]int{past}, []float64{-float64(g.room(s, r+1))}}
			g.addLayers(&next, s, r+1, 1)
			g.row(next, math.Inf(-1), 0)
		}
	}
}

// lastStage returns the last stage that can hold a layer of a run.
func (g *program) lastStage(run int) int {
	last := 0
	for s := range g.count {
		if g.room(s, run) > 0 {
			last = s
		}
	}
	return last
}

func (g *program) oneMode() {
	modes := len(g.f.t.modes)
	if modes == 1 {
		return
	}
	for s := range g.count {
		var one terms
		row := make([]int, modes)
		for m := range row {
			row[m] = g.column(0, 0, 1)
			one.add(row[m], 1)
			var sum terms
			room := 0
			for r := range g.runs {
				sum.add(g.count[s][r][m], 1)
				room += g.room(s, r)
			}
			sum.add(row[m], -float64(room))
			g.row(sum, math.Inf(-1), 0)
		}
		g.row(one, 1, 1)
		g.mode = append(g.mode, row)
	}
}

// seats gives each group a device of some class, and no class more groups than it
// has devices.
func (g *program) seats() {
	if !g.f.p.FreeAssignment {
		return
	}
	taken := make([]terms, len(g.f.classes))
	for range g.f.slots {
		var one terms
		row := make([]int, len(g.f.classes))
		for c := range row {
			row[c] = g.column(0, 0, 1)
			one.add(row[c], 1)
			taken[c].add(row[c], 1)
		}
		g.row(one, 1, 1)
		g.seat = append(g.seat, row)
	}
	for c := range taken {
		g.row(taken[c], 0, float64(len(g.f.classes[c].devices)))
	}
}

// load bounds the work of a group by the objective: on its device, or on whichever
// device it is on.
func (g *program) load(group int) {
	for c := range g.f.classes {
		if g.seat == nil && g.f.slots[group].class != c {
			continue
		}
		factor := g.f.classes[c].factor
		sum := terms{[]int{0}, []float64{-1}}
		most := 0.0
		for _, s := range g.f.slots[group].stages {
			for r, run := range g.runs {
				for m, col := range g.count[s][r] {
					work := float64(g.f.t.work(run.first, run.first+1, m) * factor / g.unit)
					sum.add(col, work)
					most += work * float64(g.room(s, r))
				}
			}
		}
		limit := 0.0
		if g.seat != nil && len(g.f.classes) > 1 {
			sum.add(g.seat[group][c], most)
			limit = most
		}
		g.row(sum, math.Inf(-1), limit)
	}
}

// memory bounds the bytes of a group by the limit of its device.
func (g *program) memory(group int) {
	slot := &g.f.slots[group]
	if slot.class >= 0 && g.f.classes[slot.class].limit == math.MaxInt64 {
		return
	}
	var sum terms
	most := 0.0
	for _, s := range slot.stages {
		most += g.addBytes(&sum, s)
	}
	if slot.class >= 0 {
		g.row(sum, math.Inf(-1), float64(g.f.classes[slot.class].limit)/g.size)
		return
	}
	for c, col := range g.seat[group] {
		limit := most
		if l := g.f.classes[c].limit; l < math.MaxInt64 {
			limit = float64(l) / g.size
		}
		sum.add(col, -limit)
	}
	g.row(sum, math.Inf(-1), 0)
}

// addBytes adds the bytes of a stage, and returns the most that they can be.
func (g *program) addBytes(t *terms, s int) (most float64) {
	p := g.f.p
	backward := false
	for r, run := range g.runs {
		l := &p.Layers[run.first]
		static := l.Static
		if s > 0 {
			static += l.Tied
		}
		for m, col := range g.count[s][r] {
			mode := l.Modes[p.modes()[m]]
			value := float64(static+int64(p.InFlight[s])*mode.Activation) / g.size
			t.add(col, value)
			most += (value + float64(max(0, mode.Backward)+mode.Workspace)/g.size) * float64(g.room(s, r))
			backward = backward || mode.Backward > 0
		}
	}
	if backward {
		t.add(g.backward(s), 1)
	}
	t.add(g.workspace(s), 1)
	return most
}

// backward returns a column for what the backward of a stage takes.
func (g *program) backward(s int) int {
	col := g.free(math.Inf(1))
	sum := terms{[]int{col}, []float64{-1}}
	for r, run := range g.runs {
		for m, count := range g.count[s][r] {
			sum.add(count, float64(g.f.p.Layers[run.first].Modes[g.f.p.modes()[m]].Backward)/g.size)
		}
	}
	g.row(sum, math.Inf(-1), 0)
	return col
}

// workspace returns a column for the largest workspace on a stage, -1 if there is none.
func (g *program) workspace(s int) int {
	col := -1
	for r, run := range g.runs {
		holds := -1
		for m, r0 := range g.f.p.modes() {
			need := float64(g.f.p.Layers[run.first].Modes[r0].Workspace) / g.size
			if need == 0 || g.room(s, r) == 0 {
				continue
			}
			if col < 0 {
				col = g.free(math.Inf(1))
			}
			if holds < 0 {
				holds = g.holdsRun(s, r)
			}
			sum := terms{[]int{col, holds}, []float64{-1, need}}
			limit := 0.0
			if g.mode != nil {
				sum.add(g.mode[s][m], need)
				limit = need
			}
			g.row(sum, math.Inf(-1), limit)
		}
	}
	return col
}

// holdsRun returns a column that is 1 if a stage has a layer of a run.
func (g *program) holdsRun(s, run int) int {
	col := g.column(0, 0, 1)
	sum := terms{[]int{col}, []float64{-float64(g.room(s, run))}}
	g.addLayers(&sum, s, run, 1)
	g.row(sum, math.Inf(-1), 0)
	return col
}

// choice reads a point.
func (g *program) choice(x []float64) Choice {
	p := g.f.p
	c := Choice{Cut: make([]int, len(p.Group)), Devices: make([]int, len(p.Group))}
	for s := range c.Cut {
		for r := range g.runs {
			for _, col := range g.count[s][r] {
				if col >= 0 {
					c.Cut[s] += int(math.Round(x[col]))
				}
			}
		}
		mode := 0
		if g.mode != nil {
			mode = slices.IndexFunc(g.mode[s], func(col int) bool { return x[col] > 0.5 })
		}
		c.Recompute = append(c.Recompute, p.modes()[mode])
	}
	classOf := make([]int, len(g.f.slots))
	for group := range g.seat {
		classOf[group] = slices.IndexFunc(g.seat[group], func(col int) bool { return x[col] > 0.5 })
	}
	g.f.seat(&c, classOf)
	return c
}

// integer solves by the integer program, starting from a quick look.
func (f *frontier) integer(ctx context.Context, o Options) (*Result, error) {
	start := f.look()
	g := newProgram(f)
	r, err := ilp.Solve(ctx, o.solver(), &g.ilp, ilp.Options{MaxNodes: o.MaxNodes})
	if err != nil {
		return nil, err
	}
	if r.Status == ilp.Infeasible && start == nil {
		return nil, f.infeasible(ctx, o.steps())
	}
	bound := f.loadBound()
	if r.Bound > 0 && r.Bound < maxTotal/float64(g.unit) {
		bound = max(bound, int64(math.Round(r.Bound))*g.unit)
	}
	best := start
	if r.X != nil {
		c := g.choice(r.X)
		if Fits(f.p, &c) && (best == nil || f.p.better(&c, best)) {
			f.p.descend(&c)
			best = &c
		}
	}
	if best == nil {
		return nil, &UndecidedError{bound, ctx.Err()}
	}
	return newResult(f.p, *best, bound, IntegerProgram), nil
}

// better reports whether a has the lower score.
func (p *Problem) better(a, b *Choice) bool {
	x, _ := Evaluate(p, a)
	y, _ := Evaluate(p, b)
	return x.Compare(y) < 0
}
