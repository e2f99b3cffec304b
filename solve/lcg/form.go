package lcg

import (
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// form is a problem in the shape that the search works on: the order formulation
// of docs/proof.md as arrays. It is read-only and shared by all searches.
type form struct {
	p    *model.Problem
	vars *constraints.Variables
	span bool

	horizon int64 // no start needs to be later

	ops      []opInfo      // by operation; unused for fused ones of a choice
	seqs     []seqInfo     // by sequence
	pairs    []pairInfo    // by pair
	edges    [][]edge      // by sided variable: what its bound pushes
	devices  []deviceIn    // those that run anything
	choices  []choiceIn    // by choice, in the order of their variables
	firstPos int32         // variables from here on are positions
	pairAt   []int32       // by position variable, from firstPos on: its pair
	choiceOf map[int32]int // by variable: index in choices

	// backEdges lists by operation with a choice the sides that push it further when
	// it gets longer.
	backEdges map[model.OpID][]side
	instant   bool // some operations take no time
	guesses   int  // entries in search.guesses

	order []model.OpID // all operations, each after what it waits for
}

// opInfo is what the search knows of an operation.
type opInfo struct {
	seq, index int32
	dur        int64 // the shortest that a choice leaves
	choice     int32 // variable, -1 if none
	durAt      [2]int64
}

// partner is a sequence that shares a device with another one.
type partner struct {
	seq   int32
	first int32 // variable of the first position of the pair
	isA   bool  // the positions are those of the partner's counterpart, the sequence that lists it
	guess int32 // if not isA: the first entry in search.guesses
}

type seqInfo struct {
	ops      []model.OpID
	partners []partner
	devices  []int32 // indexes in form.devices
	offsets  []int32 // parallel to devices: where its operations begin in deviceIn.ops
	limited  []seat  // devices with limits where its operations take memory at their start
}

// seat is a device of a sequence whose operations need room when they start.
type seat struct {
	device int32 // index in form.devices
	room   int64 // limit less static memory less what an operation takes
	own    net
	terms  []term // the other sequences that hold or give back memory there
}

// term is what the operations of a partner before an operation leave behind.
type term struct {
	partner int32 // index in the partners of the sequence
	net     net
	open    bool // it depends on choices
}

type pairInfo struct {
	a, q  int32 // sequences
	first int32
}

// edge says that the sided variable to is at most the bound of the variable that
// lists it less weight. cond, if not none, is a fact without which it does not hold.
type edge struct {
	to     side
	weight int64
	cond   lit
}

// deviceIn is a device with the sequences that occupy it.
type deviceIn struct {
	device int
	seqs   []int32
	nets   []net // parallel to seqs; nil without a memory limit
	ops    []model.OpID
}

// net is what each operation of a sequence leaves behind on a device when it has
// ended: by choice, split or fused; equal if there is none.
type net struct{ at [2]int64 }

func (n net) least() int64 { return min(n.at[0], n.at[1]) }

// choiceIn is a choice and the two operations whose length and memory it decides.
type choiceIn struct {
	v   int32
	ops [2]model.OpID // backward input, backward weight
}

func newForm(p *model.Problem) *form {
	f := &form{p: p, vars: constraints.NewVariables(p), span: p.Pipeline.Objective == model.Span}
	f.horizon = horizon(p)
	f.choiceOf, f.backEdges = map[int32]int{}, map[model.OpID][]side{}
	f.order = f.topological()
	f.addOps()
	f.addSequences()
	f.addDevices()
	f.edges = make([][]edge, 2*f.vars.Count())
	f.addChoices()
	f.addPrecedences()
	f.addObjective()
	f.firstPos = int32(f.vars.Count())
	if len(f.vars.Pairs) > 0 {
		f.firstPos = int32(f.vars.Pairs[0].First)
	}
	return f
}

// horizon returns the sum of the longest lengths and lags of all operations.
func horizon(p *model.Problem) int64 {
	sum := int64(0)
	for r := range p.Rows {
		row := &p.Rows[r]
		if row.Choice == model.WhenFused {
			continue
		}
		lag := model.Time(0)
		for _, pred := range row.Preds {
			lag = max(lag, pred.Lag)
		}
		for k := range p.Count(r) {
			d := p.DurationIn(r, k)
			if row.Twin >= 0 {
				d = max(d, p.DurationIn(int(row.Twin), k))
			}
			sum += int64(d + lag)
		}
	}
	return sum
}

func (f *form) addOps() {
	f.ops = make([]opInfo, f.p.NumOps())
	for op := range f.ops {
		id := model.OpID(op)
		row := f.p.Row(id)
		if row.Choice == model.WhenFused {
			continue
		}
		s, i := f.vars.SequenceOf(id)
		d := int64(f.p.Duration(id))
		o := opInfo{seq: int32(s), index: int32(i), choice: int32(f.vars.Choice(id)), durAt: [2]int64{d, d}}
		if o.choice >= 0 {
			o.durAt[1] = 0
			if row.Twin >= 0 {
				o.durAt[1] = int64(f.p.DurationIn(int(row.Twin), f.p.Index(id)))
			}
		}
		o.dur = min(o.durAt[0], o.durAt[1])
		f.instant = f.instant || o.dur == 0
		f.ops[op] = o
	}
}

func (f *form) addSequences() {
	f.seqs = make([]seqInfo, len(f.vars.Sequences))
	for s := range f.seqs {
		f.seqs[s].ops = f.vars.Sequences[s].Ops
	}
	for _, p := range f.vars.Pairs {
		for range f.seqs[p.A].ops {
			f.pairAt = append(f.pairAt, int32(len(f.pairs)))
		}
		f.pairs = append(f.pairs, pairInfo{p.A, p.Q, int32(p.First)})
		f.seqs[p.A].partners = append(f.seqs[p.A].partners, partner{seq: p.Q, first: int32(p.First), isA: true})
		f.seqs[p.Q].partners = append(f.seqs[p.Q].partners, partner{seq: p.A, first: int32(p.First), guess: int32(f.guesses)})
		f.guesses += len(f.seqs[p.Q].ops)
	}
}

func (f *form) addDevices() {
	index := map[int]int32{}
	for r := range constraints.Resources(f.p) {
		d := deviceIn{device: r.Device}
		for s := range f.vars.Sequences {
			if slices.Contains(r.Rows, f.vars.Sequences[s].Row) {
				d.seqs = append(d.seqs, int32(s))
				f.seqs[s].offsets = append(f.seqs[s].offsets, int32(len(d.ops)))
				d.ops = append(d.ops, f.seqs[s].ops...)
				f.seqs[s].devices = append(f.seqs[s].devices, int32(len(f.devices)))
			}
		}
		index[r.Device] = int32(len(f.devices))
		f.devices = append(f.devices, d)
	}
	for m := range constraints.MemoryLimits(f.p) {
		if at, ok := index[m.Device]; ok {
			f.addMemory(at, &m)
		}
	}
}

func (f *form) addMemory(at int32, m *constraints.MemoryLimit) {
	d := &f.devices[at]
	deltas := map[int32]model.Delta{}
	for _, rd := range m.Deltas {
		deltas[rd.Row] = rd.Delta
	}
	for _, s := range d.seqs {
		row := f.vars.Sequences[s].Row
		own := deltas[row]
		n := net{[2]int64{int64(own.AtStart + own.AtEnd), int64(own.AtStart + own.AtEnd)}}
		starts := own.AtStart
		if r := &f.p.Rows[row]; r.Choice == model.WhenSplit {
			n.at[1] = 0
			if r.Twin >= 0 {
				fused := deltas[r.Twin]
				n.at[1] = int64(fused.AtStart + fused.AtEnd)
			}
		}
		d.nets = append(d.nets, n)
		if starts > 0 {
			f.seqs[s].limited = append(f.seqs[s].limited, seat{device: at, room: int64(m.Limit - m.Static - starts), own: n})
		}
	}
	for _, s := range d.seqs {
		q := &f.seqs[s]
		if k := len(q.limited) - 1; k >= 0 && q.limited[k].device == at {
			q.limited[k].terms = f.terms(s, d)
		}
	}
}

// terms lists the other sequences on a device that matter for its memory.
func (f *form) terms(s int32, d *deviceIn) []term {
	var terms []term
	for i, other := range d.seqs {
		if other == s || d.nets[i] == (net{}) {
			continue
		}
		at := slices.IndexFunc(f.seqs[s].partners, func(p partner) bool { return p.seq == other })
		open := f.p.Rows[f.vars.Sequences[other].Row].Choice != model.Always
		terms = append(terms, term{int32(at), d.nets[i], open})
	}
	return terms
}

func (f *form) addChoices() {
	for _, a := range f.vars.Alternatives {
		for k := range f.p.Count(int(a.Fused)) {
			input := f.p.Base(int(a.Split[0])) + model.OpID(k)
			weight := f.p.Base(int(a.Split[1])) + model.OpID(k)
			v := int32(f.vars.Choice(input))
			f.choiceOf[v] = len(f.choices)
			f.choices = append(f.choices, choiceIn{v, [2]model.OpID{input, weight}})
		}
	}
}

// addEdge says that y ≥ x + w for certain.
func (f *form) addEdge(x, y int32, w int64, cond lit) {
	f.edges[low(x)] = append(f.edges[low(x)], edge{low(y), w, cond})
	f.edges[high(y)] = append(f.edges[high(y)], edge{high(x), w, cond})
}

// addAfter says that y starts lag after the end of op, whatever its length.
func (f *form) addAfter(op model.OpID, y int32, lag int64) {
	o := &f.ops[op]
	f.addEdge(start(op), y, o.dur+lag, noLit)
	for c, d := range o.durAt {
		if d > o.dur {
			f.addEdge(start(op), y, d+lag, choiceLit(o.choice, c))
			f.backEdges[op] = append(f.backEdges[op], high(y))
		}
	}
}

func (f *form) addPrecedences() {
	for c := range constraints.Precedences(f.p) {
		after := &f.p.Rows[c.After]
		if after.Choice == model.WhenFused {
			continue // its start is that of its twin, which waits for the same
		}
		before := c.Before
		if f.p.Rows[before].Choice == model.WhenFused {
			before = f.p.Rows[before].Twin
		}
		if c.All {
			f.addBarrier(before, c.After, int64(c.Lag))
			continue
		}
		for k := range f.p.Count(int(c.After)) {
			f.addAfter(f.p.Base(int(before))+model.OpID(k), start(f.p.Base(int(c.After))+model.OpID(k)), int64(c.Lag))
		}
	}
	for s := range f.seqs {
		ops := f.seqs[s].ops
		for i := range len(ops) - 1 {
			f.addAfter(ops[i], start(ops[i+1]), 0)
		}
	}
	for _, p := range f.pairs {
		for i := range len(f.seqs[p.a].ops) - 1 {
			f.addEdge(p.first+int32(i), p.first+int32(i)+1, 0, noLit)
		}
	}
}

// addBarrier says that all operations of a row wait for all of another one: the first of
// each sequence for the last of each.
func (f *form) addBarrier(before, after int32, lag int64) {
	for _, a := range f.seqs {
		for _, b := range f.seqs {
			if last := a.ops[len(a.ops)-1]; f.rowOf(last) == before && f.rowOf(b.ops[0]) == after {
				f.addAfter(last, start(b.ops[0]), lag)
			}
		}
	}
}

func (f *form) rowOf(op model.OpID) int32 { return f.vars.Sequences[f.ops[op].seq].Row }

func (f *form) addObjective() {
	for s := range f.seqs {
		ops := f.seqs[s].ops
		if !f.span {
			f.addAfter(ops[len(ops)-1], 0, 0)
			continue
		}
		for _, d := range f.p.Rows[f.vars.Sequences[s].Row].Devices {
			f.addEdge(int32(f.vars.First(int(d))), start(ops[0]), 0, noLit)
			f.addAfter(ops[len(ops)-1], int32(f.vars.Last(int(d))), 0)
		}
	}
}

// source returns the only sequence that waits for nothing, -1 if there are several.
func (f *form) source() int {
	only := -1
	for s := range f.seqs {
		if len(f.p.Rows[f.vars.Sequences[s].Row].Preds) > 0 {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = s
	}
	return only
}

func start(op model.OpID) int32 { return 1 + int32(op) }

// choiceBegin is the first variable after the starts.
func (f *form) choiceBegin() int32 { return 1 + int32(len(f.ops)) }

// topological lists the operations so that each comes after all that it waits for:
// those of the same index or, behind what runs once, all of a row, and the earlier ones
// of its sequence.
func (f *form) topological() []model.OpID {
	rows := f.p.RowOrder(nil)
	phase := make([]int, len(f.p.Rows)) // how often a way to the row meets one that runs once, or leaves it
	last := 0
	for _, r := range rows {
		for _, pred := range f.p.Rows[r].Preds {
			n := phase[pred.Row]
			if f.p.Rows[r].Single || f.p.Rows[pred.Row].Single {
				n++
			}
			phase[r] = max(phase[r], n)
		}
		last = max(last, phase[r])
	}
	var order []model.OpID
	for now := range last + 1 {
		for k := range f.p.MicroBatches() {
			for _, r := range rows {
				if phase[r] == now && f.p.Rows[r].Choice != model.WhenFused && k < f.p.Count(int(r)) {
					order = append(order, f.p.Base(int(r))+model.OpID(k))
				}
			}
		}
	}
	return order
}
