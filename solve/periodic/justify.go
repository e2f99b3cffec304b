package periodic

import (
	"cmp"
	"context"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// justifier fills the gaps that warm-up and cool-down of an unrolled pattern leave:
// all operations go as late as they can, each into the last gap that takes it, then
// as early as they can, until that gains nothing (double justification, Valls,
// Ballestín and Quintanilla 2005). No pass makes the makespan longer, since an
// operation always fits where it stood. A pass that goes backwards sees the
// schedule reversed in time: operations give back before they take.
type justifier struct {
	p     *model.Problem
	held  []int32 // rows that the plan holds, by precedence
	waits [2][][]model.Pred
	start []model.Time // by operation, in the direction of the last pass
	lanes []lane       // by device
}

// The directions of a pass.
const (
	forward = iota
	backward
)

// lane is what a pass has placed on a device, by time.
type lane struct {
	ops   []placed
	limit model.Bytes
	floor model.Bytes // static memory
}

type placed struct {
	start, end model.Time
	op         model.OpID
	peak, net  model.Bytes // what it takes at most, and for good
	level      model.Bytes // what the device holds before it
}

// Limits of justify: the number of operations, and of passes, each of which takes a
// microsecond or two for each operation.
const (
	maxJustified = 100_000
	maxPasses    = 20
)

// justify returns a plan that is shorter than the one with the timeline given, nil
// if it finds none. Problems with operations of no length, whose order at one moment
// is not a matter of time, and large ones, whose ends matter little, are left alone.
// Cost O(operations · log operations) for each pass, where gaps are few.
func justify(ctx context.Context, p *model.Problem, tl *model.Timeline) *model.Plan {
	if p.NumOps() > maxJustified {
		return nil
	}
	j := newJustifier(p, tl)
	if j == nil {
		return nil
	}
	var kept *model.Plan
	best := j.length()
	for n := 0; n < maxPasses && j.pass(ctx, backward) && j.pass(ctx, forward) && j.length() < best; n += 2 {
		best, kept = j.length(), j.plan()
	}
	return kept
}

func newJustifier(p *model.Problem, tl *model.Timeline) *justifier {
	j := &justifier{p: p, start: slices.Clone(tl.Start), lanes: make([]lane, p.NumDevices())}
	for _, r := range p.RowOrder(nil) {
		if j.start[p.Base(int(r))] == model.Absent {
			continue
		}
		if p.DurationIn(int(r), 0) == 0 {
			return nil
		}
		j.held = append(j.held, r)
	}
	j.waits[forward], j.waits[backward] = make([][]model.Pred, len(p.Rows)), make([][]model.Pred, len(p.Rows))
	for pr := range constraints.Precedences(p) {
		from := pr.Before
		if j.start[p.Base(int(from))] == model.Absent && pr.StandIn >= 0 {
			from = pr.StandIn
		}
		if j.start[p.Base(int(from))] != model.Absent && j.start[p.Base(int(pr.After))] != model.Absent {
			j.waits[forward][pr.After] = append(j.waits[forward][pr.After], model.Pred{Row: from, Lag: pr.Lag})
			j.waits[backward][from] = append(j.waits[backward][from], model.Pred{Row: pr.After, Lag: pr.Lag})
		}
	}
	return j
}

// length returns the makespan.
func (j *justifier) length() model.Time {
	end := model.Time(0)
	for _, r := range j.held {
		for k := range j.p.Count(int(r)) {
			end = max(end, j.start[int(j.p.Base(int(r)))+k]+j.p.DurationIn(int(r), k))
		}
	}
	return end
}

// task is an operation in the list of a pass.
type task struct {
	start, duration model.Time
	row, index      int32
	rank            int32
}

// list returns the operations by start; backwards, by end from the last, and turns
// the starts around.
func (j *justifier) list(direction int) []task {
	var list []task
	end := j.length()
	for rank, r := range j.held {
		for k := range j.p.Count(int(r)) {
			op, d := int(j.p.Base(int(r)))+k, j.p.DurationIn(int(r), k)
			t := task{j.start[op], d, r, int32(k), int32(rank)}
			if direction == backward {
				t.start, t.rank = end-t.start-d, -t.rank
			}
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b task) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.rank, b.rank)) })
	return list
}

// pass places all operations anew. The starts are forward ones before and after it.
// It returns false if the context ends; then the starts mean nothing.
func (j *justifier) pass(ctx context.Context, direction int) bool {
	list := j.list(direction)
	for d := range j.lanes {
		j.lanes[d] = lane{j.lanes[d].ops[:0], j.p.Limits[d], j.p.Statics[d]}
	}
	for i := range list {
		if i%1024 == 0 && ctx.Err() != nil {
			return false
		}
		j.place(&list[i], direction)
	}
	if direction == backward {
		j.turn()
	}
	return true
}

// turn turns the starts of a pass that went backwards around.
func (j *justifier) turn() {
	end := j.length()
	for _, r := range j.held {
		for k := range j.p.Count(int(r)) {
			op := int(j.p.Base(int(r))) + k
			j.start[op] = end - j.start[op] - j.p.DurationIn(int(r), k)
		}
	}
}

// place gives an operation the earliest start after what it waits for, and after
// the operation of its row before it, at which its devices are free and stay within
// their limits.
func (j *justifier) place(t *task, direction int) {
	row := int(t.row)
	ready := model.Time(0)
	for _, w := range j.waits[direction][row] {
		op := int(j.p.Base(int(w.Row))) + int(t.index)
		ready = max(ready, j.start[op]+j.p.DurationIn(int(w.Row), int(t.index))+w.Lag)
	}
	op := j.p.Base(row) + model.OpID(t.index)
	if last := t.index - 1; direction == forward && last >= 0 {
		ready = max(ready, j.start[op-1]+j.p.DurationIn(row, int(last)))
	} else if next := t.index + 1; direction == backward && int(next) < j.p.Count(row) {
		ready = max(ready, j.start[op+1]+j.p.DurationIn(row, int(next)))
	}
	devices := j.p.Rows[row].Devices
	for moved := true; moved; {
		moved = false
		for _, d := range devices {
			if at := j.lanes[d].fit(ready, j.item(op, row, int(d), t.duration, direction)); at > ready {
				ready, moved = at, true
			}
		}
	}
	j.start[op] = ready
	for _, d := range devices {
		x := j.item(op, row, int(d), t.duration, direction)
		x.start, x.end = ready, ready+t.duration
		j.lanes[d].insert(x)
	}
}

// item describes an operation on a device, at no time yet: it ends at its length.
func (j *justifier) item(op model.OpID, row, device int, duration model.Time, direction int) placed {
	m := j.p.Rows[row].MemoryOn(device)
	if direction == backward {
		m.AtStart, m.AtEnd = -m.AtEnd, -m.AtStart
	}
	return placed{end: duration, op: op, peak: max(m.AtStart, m.AtStart+m.AtEnd), net: m.AtStart + m.AtEnd}
}

// fit returns the earliest start from ready on at which an operation fits.
func (l *lane) fit(ready model.Time, x placed) model.Time {
	k := l.after(ready)
	for {
		if k > 0 {
			ready = max(ready, l.ops[k-1].end)
		}
		if (k == len(l.ops) || ready+x.end <= l.ops[k].start) && l.holds(k, x) {
			return ready
		}
		if k == len(l.ops) {
			return ready // always possible where it stood
		}
		k++
	}
}

// after returns the number of operations that start at or before a time.
func (l *lane) after(t model.Time) int {
	k, _ := slices.BinarySearchFunc(l.ops, t, func(x placed, t model.Time) int {
		if x.start <= t {
			return -1
		}
		return 1
	})
	return k
}

// holds reports whether the memory suffices with an operation before number k.
func (l *lane) holds(k int, x placed) bool {
	if l.limit >= model.Unlimited {
		return true
	}
	if x.peak > 0 && l.level(k)+x.peak > l.limit {
		return false
	}
	for i := k; x.net > 0 && i < len(l.ops); i++ {
		if o := &l.ops[i]; o.peak > 0 && o.level+x.net+o.peak > l.limit {
			return false
		}
	}
	return true
}

// level returns what the device holds before number k.
func (l *lane) level(k int) model.Bytes {
	if k == 0 {
		return l.floor
	}
	return l.ops[k-1].level + l.ops[k-1].net
}

func (l *lane) insert(x placed) {
	k := l.after(x.start)
	x.level = l.level(k)
	l.ops = slices.Insert(l.ops, k, x)
	for i := k + 1; i < len(l.ops); i++ {
		l.ops[i].level += x.net
	}
}

// plan returns the orders of the last pass, which went forward.
func (j *justifier) plan() *model.Plan {
	plan := &model.Plan{Order: make([][]model.OpID, len(j.lanes))}
	for d := range j.lanes {
		plan.Order[d] = make([]model.OpID, len(j.lanes[d].ops))
		for i, x := range j.lanes[d].ops {
			plan.Order[d][i] = x.op
		}
	}
	return plan
}
