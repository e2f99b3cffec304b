package proof

import (
	"cmp"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// assignment gives all variables the values of a schedule whose operations have been
// renamed so that sequences run in index order.
type assignment struct {
	p      *model.Problem
	vars   *constraints.Variables
	values []model.Time
	items  [][]item // by sequence and index
	byTime [][]spot // by device: what runs there, in order
}

// item is an operation of a sequence in the schedule.
type item struct {
	key        key
	start, end model.Time
	fused      bool
}

// key orders operations as the devices do: by rank in the sequence in which the plan
// was made, then those that stand right behind without length.
type key struct{ rank, sub int }

func (a key) compare(b key) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.sub, b.sub))
}

// spot is an operation by sequence and index.
type spot struct{ s, i int }

// assign returns the assignment of a plan, its operations as early as they can be.
func assign(t testing.TB, p *model.Problem, plan *model.Plan, sequence []model.OpID) *assignment {
	t.Helper()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := constraints.Check(p, plan, tl).Err(); err != nil {
		t.Fatal(err)
	}
	a := &assignment{p: p, vars: constraints.NewVariables(p)}
	a.values = make([]model.Time, a.vars.Count())
	rank := map[model.OpID]int{}
	for k, op := range sequence {
		rank[op] = k
	}
	for s := range a.vars.Sequences {
		a.place(s, tl, rank)
	}
	a.positions()
	a.ends(model.Measure(p, plan, tl))
	return a
}

// real lists what the plan holds of a sequence, in order.
func (a *assignment) real(s int, tl *model.Timeline, rank map[model.OpID]int) []item {
	var items []item
	from := a.vars.Sequences[s]
	row := &a.p.Rows[from.Row]
	for _, op := range from.Ops {
		in := item{}
		if tl.Start[op] == model.Absent {
			if row.Twin < 0 {
				continue // the weight of a micro-batch that runs fused
			}
			op = a.p.Op(int(row.Twin), a.p.MicroBatch(op))
			in.fused = true
		}
		in.key, in.start, in.end = key{rank[op], 0}, tl.Start[op], tl.End(a.p, op)
		items = append(items, in)
	}
	slices.SortFunc(items, func(a, b item) int { return a.key.compare(b.key) })
	return items
}

// place gives the operations of a sequence their starts and choices.
func (a *assignment) place(s int, tl *model.Timeline, rank map[model.OpID]int) {
	from := a.vars.Sequences[s]
	row := &a.p.Rows[from.Row]
	items := a.real(s, tl, rank)
	if row.Choice != model.Always && row.Twin < 0 {
		items = a.weights(from, items)
	}
	for i, in := range items {
		a.values[a.vars.Start(from.Ops[i])] = in.start
		if row.Twin >= 0 && in.fused {
			a.values[a.vars.Choice(from.Ops[i])] = 1
		}
	}
	a.items = append(a.items, items)
}

// weights puts the weights of micro-batches that run fused behind the fused operation
// or the weight before, whichever is later.
func (a *assignment) weights(from constraints.Sequence, real []item) []item {
	var items []item
	input := a.p.Rows[from.Row].Preds[0].Row
	for i, op := range from.Ops {
		if a.values[a.vars.Choice(op)] == 0 {
			items, real = append(items, real[0]), real[1:]
			continue
		}
		s, _ := a.vars.SequenceOf(a.p.Op(int(input), a.p.MicroBatch(op)))
		base := a.items[s][i]
		if i > 0 && items[i-1].key.compare(base.key) > 0 {
			base = items[i-1]
		}
		items = append(items, item{key{base.key.rank, base.key.sub + 1}, base.end, base.end, true})
	}
	return items
}

func (a *assignment) positions() {
	for _, pair := range a.vars.Pairs {
		for i, own := range a.items[pair.A] {
			for _, other := range a.items[pair.Q] {
				if other.key.compare(own.key) < 0 {
					a.values[pair.First+constraints.Variable(i)]++
				}
			}
		}
	}
	a.byTime = make([][]spot, a.p.NumDevices())
	for s := range a.items {
		for _, d := range a.p.Rows[a.vars.Sequences[s].Row].Devices {
			for i := range a.items[s] {
				a.byTime[d] = append(a.byTime[d], spot{s, i})
			}
		}
	}
	for _, spots := range a.byTime {
		slices.SortFunc(spots, func(x, y spot) int { return a.items[x.s][x.i].key.compare(a.items[y.s][y.i].key) })
	}
}

func (a *assignment) ends(m *model.Metrics) {
	a.values[0] = m.Value(a.p.Pipeline.Objective)
	if a.p.Pipeline.Objective != model.Span {
		return
	}
	for d := range m.Devices {
		a.values[a.vars.First(d)], a.values[a.vars.Last(d)] = m.Devices[d].First, m.Devices[d].Last
	}
}

func (a *assignment) op(s spot) model.OpID { return a.vars.Sequences[s.s].Ops[s.i] }

// randomAssignment draws a problem and a schedule. In half of the cases the limits are
// what the schedule takes.
func randomAssignment(t testing.TB, seed uint64) *assignment {
	t.Helper()
	pl := randomPipeline(t, seed)
	p := compile(t, pl)
	plan, sequence := modelgen.RandomPlan(p, seed)
	if seed%2 == 0 {
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		for d, m := range model.Measure(p, plan, tl).Devices {
			if !pl.Devices[d].Engine {
				pl.Devices[d].Limit = m.Peak
			}
		}
		p = compile(t, pl)
	}
	return assign(t, p, plan, sequence)
}

// randomPipeline draws a pipeline for which proofs have rules.
func randomPipeline(t testing.TB, seed uint64) *model.Pipeline {
	t.Helper()
	pl := modelgen.RandomPipeline(seed, 5)
	if seed%3 == 0 {
		spec := modelgen.Random(seed, 5)
		spec.Blocking = seed%4 == 1
		pl = modelgen.Pipeline(spec)
	}
	if seed%4 == 3 {
		shorten(pl)
	}
	pl.Objective = model.Objective(seed / 3 % 2)
	if constraints.Entangled(compile(t, pl)) >= 0 {
		pl.Operations = nil
	}
	return pl
}

// shorten makes all operations 0 or 1 long.
func shorten(pl *model.Pipeline) {
	for s := range pl.Stages {
		for r := range pl.Stages[s].Replicas {
			d := &pl.Stages[s].Replicas[r].Durations
			for _, length := range []*model.Time{&d.Forward, &d.BackwardInput, &d.BackwardWeight, &d.BackwardFull} {
				if *length > 0 {
					*length %= 2
				}
			}
		}
	}
}

func compile(t testing.TB, pl *model.Pipeline) *model.Problem {
	t.Helper()
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
