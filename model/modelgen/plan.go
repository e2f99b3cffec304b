package modelgen

import (
	"math/rand/v2"

	"github.com/flexpipe/flexpipe/model"
)

// RandomPlan returns a random plan within the memory limits, its choices drawn
// too, together with the sequence in which it placed the operations: each after
// all its predecessors. If memory stops the random walk, the plan runs the
// micro-batches one by one, which needs limits under which one alone fits; what an
// operation that runs once waits for comes before it. The plan has no wait edges. The
// same seed gives the same plan.
func RandomPlan(p *model.Problem, seed uint64) (*model.Plan, []model.OpID) {
	w := newWalk(p, rand.New(rand.NewPCG(seed, 0x91a4)))
	for len(w.ready) > 0 {
		if !w.step() {
			return w.oneByOne()
		}
	}
	return w.plan()
}

// walk places operations, one of those that are ready at a time.
type walk struct {
	p        *model.Problem
	rand     *rand.Rand
	held     model.OpSet // operations that the plan holds
	missing  []int       // by operation: predecessors that are not placed
	ready    []model.OpID
	memory   []model.Bytes
	sequence []model.OpID
}

func newWalk(p *model.Problem, r *rand.Rand) *walk {
	w := &walk{p: p, rand: r, held: model.NewOpSet(p), missing: make([]int, p.NumOps())}
	w.memory = append(w.memory, p.Statics...)
	w.choose()
	for op := range model.OpID(p.NumOps()) {
		if !w.held.Has(op) {
			continue
		}
		w.missing[op] = len(w.before(op))
		if w.missing[op] == 0 {
			w.ready = append(w.ready, op)
		}
	}
	return w
}

// choose draws split or fused for each stage and micro-batch that leaves it open.
func (w *walk) choose() {
	type place struct{ stage, microBatch int }
	fused := map[place]bool{}
	for op := range model.OpID(w.p.NumOps()) {
		row := w.p.Row(op)
		at := place{row.Stage, w.p.MicroBatch(op)}
		if _, drawn := fused[at]; !drawn {
			fused[at] = w.rand.IntN(2) == 0
		}
		if row.Choice == model.Always || fused[at] == (row.Choice == model.WhenFused) {
			w.held.Add(op)
		}
	}
}

// before lists the operations that an operation waits for.
func (w *walk) before(op model.OpID) []model.OpID {
	r := w.p.RowOf(op)
	var ops []model.OpID
	for _, pred := range w.p.Rows[r].Preds {
		first, end := w.p.PredOps(r, w.p.Index(op), pred)
		for q := first; q < end; q++ {
			if w.held.Has(q) {
				ops = append(ops, q)
			} else if twin := int(w.p.Rows[pred.Row].Twin); twin >= 0 {
				ops = append(ops, w.p.Op(twin, w.p.MicroBatch(q)))
			}
		}
	}
	return ops
}

// step places a random ready operation that fits, false if none does.
func (w *walk) step() bool {
	for _, i := range w.rand.Perm(len(w.ready)) {
		if op := w.ready[i]; w.fits(op) {
			w.ready = append(w.ready[:i], w.ready[i+1:]...)
			w.place(op)
			return true
		}
	}
	return false
}

func (w *walk) fits(op model.OpID) bool {
	row := w.p.Row(op)
	for _, d := range row.Devices {
		delta := row.MemoryOn(int(d))
		most := max(delta.AtStart, delta.AtStart+delta.AtEnd)
		if most > 0 && w.memory[d]+most > w.p.Limits[d] {
			return false
		}
	}
	return true
}

func (w *walk) place(op model.OpID) {
	row := w.p.Row(op)
	for _, d := range row.Devices {
		delta := row.MemoryOn(int(d))
		w.memory[d] += delta.AtStart + delta.AtEnd
	}
	w.sequence = append(w.sequence, op)
	for next := range model.OpID(w.p.NumOps()) {
		if !w.held.Has(next) || w.missing[next] == 0 {
			continue
		}
		for _, q := range w.before(next) {
			if q == op {
				if w.missing[next]--; w.missing[next] == 0 {
					w.ready = append(w.ready, next)
				}
			}
		}
	}
}

// oneByOne runs all of a micro-batch before the next, as far as operations that
// run once allow: it goes through the micro-batches again after each of these.
func (w *walk) oneByOne() (*model.Plan, []model.OpID) {
	w.sequence = nil
	placed := model.NewOpSet(w.p)
	for more := true; more; {
		more = w.advance(placed, -1)
		for m := range w.p.MicroBatches() {
			for w.advance(placed, m) {
				more = true
			}
		}
	}
	return w.plan()
}

// advance runs what can run of a micro-batch, -1 for operations of none. It reports
// whether that was anything.
func (w *walk) advance(placed model.OpSet, m int) bool {
	before := len(w.sequence)
	for op := range model.OpID(w.p.NumOps()) {
		if w.p.MicroBatch(op) == m && w.held.Has(op) && !placed.Has(op) && w.all(placed, op) {
			placed.Add(op)
			w.sequence = append(w.sequence, op)
		}
	}
	return len(w.sequence) > before
}

func (w *walk) all(placed model.OpSet, op model.OpID) bool {
	for _, q := range w.before(op) {
		if !placed.Has(q) {
			return false
		}
	}
	return true
}

func (w *walk) plan() (*model.Plan, []model.OpID) {
	plan := &model.Plan{Order: make([][]model.OpID, w.p.NumDevices())}
	for _, op := range w.sequence {
		for _, d := range w.p.Row(op).Devices {
			plan.Order[d] = append(plan.Order[d], op)
		}
	}
	return plan, w.sequence
}

// OneForwardOneBackward returns the 1F1B plan of a split linear problem: warm-up
// forwards, then forward, input gradient and weight gradient in turn.
func OneForwardOneBackward(p *model.Problem) *model.Plan {
	n, m := p.NumDevices(), p.MicroBatches()
	plan := &model.Plan{Order: make([][]model.OpID, n)}
	for d := range n {
		f, i, w := int(p.RowsOn[d][0]), int(p.RowsOn[d][1]), int(p.RowsOn[d][2])
		warm := min(n-1-d, m)
		order := make([]model.OpID, 0, 3*m)
		for k := range warm {
			order = append(order, p.Op(f, k))
		}
		for k := range m {
			if warm+k < m {
				order = append(order, p.Op(f, warm+k))
			}
			order = append(order, p.Op(i, k), p.Op(w, k))
		}
		plan.Order[d] = order
	}
	return plan
}
