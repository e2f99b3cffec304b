package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// The two cases of a choice, as values of its variable. An operation without a
// choice has its figures under split.
const (
	split = 0
	fused = 1
)

// tables hold what the rules ask of a problem.
type tables struct {
	p         *model.Problem
	vars      *constraints.Variables
	sequences []sequence
	on        [][]int32 // by device: its sequences, ascending
	ofRow     [][]int32 // by row: its sequences, ascending
	meanings  []meaning // by variable
	horizon   model.Time
}

// sequence is what the rules ask of a constraints.Sequence. Its operations are
// alike.
type sequence struct {
	ops      []model.OpID
	starts   []constraints.Variable // by index
	choices  []constraints.Variable // by index; nil if nothing is left open
	length   [2]model.Time          // by case
	waits    []wait
	sources  bool // waits for nothing
	devices  []int32
	memory   [][2]model.Delta // by place in devices and case
	partners []partner        // ascending
}

// wait says that each operation starts no earlier than lag after the end of the one
// with the same index in another sequence, or of all there.
type wait struct {
	sequence int32
	lag      model.Time
	all      bool
}

// partner is a sequence with a device in common. The positions from first on belong
// to the one of the two with the lower number.
type partner struct {
	sequence int32
	first    constraints.Variable
}

// place is an operation, as the rules see it.
type place struct{ sequence, index int32 }

// meaning is a constraints.Meaning, resolved.
type meaning struct {
	kind   constraints.VariableKind
	unused bool  // the start of the fused operation of a choice
	place        // start, position: the operation
	among  int32 // position: the sequence Q
	device int32 // first, last

	domain  interval // known at first
	allowed interval // what facts may say of it, give or take 1
}

// newTables reads a problem. Cost O(operations × precedences of a row + variables ×
// log pairs). Errors: a problem that differs from its pipeline, one whose operations
// cannot be assumed to start in index order, or sequences that are not alike.
func newTables(p *model.Problem) (*tables, error) {
	if p == nil {
		return nil, errors.New("proof: no problem")
	}
	if err := constraints.CheckCompiled(p).Err(); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	if r := constraints.Entangled(p); r >= 0 {
		return nil, fmt.Errorf("proof: row %d depends on the choice between split and fused in a way for which proofs have no rules", r)
	}
	t := &tables{p: p, vars: constraints.NewVariables(p), on: make([][]int32, p.NumDevices())}
	t.sequences = make([]sequence, len(t.vars.Sequences))
	t.ofRow = make([][]int32, len(p.Rows))
	for s := range t.sequences {
		row := t.vars.Sequences[s].Row
		t.ofRow[row] = append(t.ofRow[row], int32(s))
	}
	for s := range t.sequences {
		if err := t.fill(s); err != nil {
			return nil, fmt.Errorf("proof: operations of %s.. %w", p.Name(t.vars.Sequences[s].Ops[0]), err)
		}
	}
	for _, pair := range t.vars.Pairs {
		t.sequences[pair.A].partners = append(t.sequences[pair.A].partners, partner{pair.Q, pair.First})
		t.sequences[pair.Q].partners = append(t.sequences[pair.Q].partners, partner{pair.A, pair.First})
	}
	for s := range t.sequences {
		slices.SortFunc(t.sequences[s].partners, func(a, b partner) int { return int(a.sequence) - int(b.sequence) })
	}
	t.name()
	return t, nil
}

// twin returns the row of the fused operations of a sequence with a choice, nil for
// backward weights, which have none.
func (t *tables) twin(row *model.Row) *model.Row {
	if row.Twin < 0 {
		return nil
	}
	return &t.p.Rows[row.Twin]
}

// fill sets all of a sequence but its partners, and adds to the horizon.
func (t *tables) fill(number int) error {
	from, s, p := t.vars.Sequences[number], &t.sequences[number], t.p
	row := &p.Rows[from.Row]
	s.ops, s.devices = from.Ops, row.Devices
	for _, op := range s.ops {
		s.starts = append(s.starts, t.vars.Start(op))
		if row.Choice != model.Always {
			s.choices = append(s.choices, t.vars.Choice(op))
		}
		length := t.lengths(row, op)
		if op != s.ops[0] && length != s.length {
			return errors.New("do not have one length")
		}
		s.length = length
	}
	for _, d := range s.devices {
		t.on[d] = append(t.on[d], int32(number))
		s.memory = append(s.memory, t.deltas(row, int(d)))
	}
	t.horizon += model.Time(len(s.ops)) * (max(s.length[split], s.length[fused]) + t.longestLag(row))
	s.sources = len(row.Preds) == 0
	return t.fillWaits(s, row)
}

// lengths returns the length of an operation in both cases.
func (t *tables) lengths(row *model.Row, op model.OpID) [2]model.Time {
	own := t.p.Duration(op)
	switch {
	case row.Choice == model.Always:
		return [2]model.Time{own, own}
	case row.Twin < 0:
		return [2]model.Time{split: own, fused: 0}
	}
	return [2]model.Time{split: own, fused: t.p.DurationIn(int(row.Twin), t.p.Index(op))}
}

// deltas returns what an operation takes and gives back on a device in both cases.
func (t *tables) deltas(row *model.Row, d int) [2]model.Delta {
	own := row.MemoryOn(d)
	switch twin := t.twin(row); {
	case row.Choice == model.Always:
		return [2]model.Delta{own, own}
	case twin == nil:
		return [2]model.Delta{split: own, fused: {}}
	default:
		return [2]model.Delta{split: own, fused: twin.MemoryOn(d)}
	}
}

// longestLag returns the largest lag with which a row, in either case, waits.
func (t *tables) longestLag(row *model.Row) model.Time {
	lag := model.Time(0)
	for _, pred := range row.Preds {
		lag = max(lag, pred.Lag)
	}
	if twin := t.twin(row); twin != nil {
		for _, pred := range twin.Preds {
			lag = max(lag, pred.Lag)
		}
	}
	return lag
}

// fillWaits sets what a sequence waits for in both cases of its choice.
func (t *tables) fillWaits(s *sequence, row *model.Row) error {
	for _, pred := range row.Preds {
		lag, ok := t.lagInBoth(row, pred)
		if !ok {
			continue
		}
		before := pred.Row
		if t.p.Rows[before].Choice == model.WhenFused {
			before = t.p.Rows[before].Twin
		}
		if row.Single || t.p.Rows[before].Single {
			for _, source := range t.ofRow[before] {
				s.waits = append(s.waits, wait{source, lag, true})
			}
			continue
		}
		source, err := t.sourceOf(s, before)
		if err != nil {
			return err
		}
		s.waits = append(s.waits, wait{source, lag, false})
	}
	return nil
}

// lagInBoth returns the lag of a predecessor that holds in both cases, false if there
// is none, or if a plan may hold neither the predecessor nor one in its stead. What runs
// once waits for all backward weights: those that a plan does not have stand right
// behind others for which it waits.
func (t *tables) lagInBoth(row *model.Row, pred model.Pred) (model.Time, bool) {
	if before := &t.p.Rows[pred.Row]; before.Choice != model.Always && before.Twin < 0 && !row.Single {
		return 0, false
	}
	twin := t.twin(row)
	if twin == nil {
		return pred.Lag, true
	}
	lag, ok := model.Time(0), false
	for _, other := range twin.Preds {
		if other.Row == pred.Row {
			lag, ok = max(lag, other.Lag), true
		}
	}
	return min(lag, pred.Lag), ok
}

// sourceOf returns the sequence of a row for which another one waits, index by index.
func (t *tables) sourceOf(s *sequence, row int32) (int32, error) {
	source := -1
	for i, op := range s.ops {
		q, j := t.vars.SequenceOf(t.p.Base(int(row)) + model.OpID(t.p.Index(op)))
		if source < 0 {
			source = q
		}
		if q < 0 || q != source || j != i || len(t.vars.Sequences[q].Ops) != len(s.ops) {
			return 0, fmt.Errorf("do not wait for those of row %d one by one", row)
		}
	}
	return int32(source), nil
}

// largest bounds the times that a proof may name: sums of two do not overflow, and
// model.Compile bounds the sum of all lengths and lags by it.
const largest = 1 << 61

// name resolves the meaning of each variable, and sets what is known at first.
func (t *tables) name() {
	t.meanings = make([]meaning, t.vars.Count())
	for x := range t.meanings {
		from := t.vars.Meaning(constraints.Variable(x))
		m := meaning{kind: from.Kind, place: place{-1, -1}, among: -1, device: int32(from.Device)}
		m.domain, m.allowed = interval{0, t.horizon}, interval{-largest, largest}
		switch m.kind {
		case constraints.StartVariable, constraints.PositionVariable:
			s, i := t.vars.SequenceOf(from.Op)
			m.place = place{int32(s), int32(i)}
			m.unused = s < 0
		case constraints.ChoiceVariable:
			m.domain = interval{split, fused}
			m.allowed = m.domain
		}
		if m.kind == constraints.PositionVariable {
			m.among = t.vars.Pairs[from.Pair].Q
			m.domain = interval{0, model.Time(len(t.sequences[m.among].ops))}
			m.allowed = m.domain
		}
		t.meanings[x] = m
	}
}

// domains returns what is known at first.
func (t *tables) domains() []interval {
	at := make([]interval, len(t.meanings))
	for x := range t.meanings {
		at[x] = t.meanings[x].domain
	}
	if x, ok := t.origin(); ok && t.p.Pipeline.Objective == model.Span {
		at[x] = interval{0, 0}
	}
	return at
}

// origin returns the start that is 0 in every schedule: that of the first operation
// of the only sequence that waits for nothing.
func (t *tables) origin() (constraints.Variable, bool) {
	found := constraints.Variable(-1)
	for s := range t.sequences {
		if !t.sequences[s].sources {
			continue
		}
		if found >= 0 {
			return 0, false
		}
		found = t.sequences[s].starts[0]
	}
	return found, found >= 0
}

// positions returns the first position variable of two sequences, which belongs to
// the lower one; false if they have none. Cost O(log sequences on a device).
func (t *tables) positions(a, b int32) (constraints.Variable, bool) {
	partners := t.sequences[a].partners
	lo, hi := 0, len(partners)
	for lo < hi {
		if mid := (lo + hi) / 2; partners[mid].sequence < b {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(partners) || partners[lo].sequence != b {
		return 0, false
	}
	return partners[lo].first, true
}

// placeOf returns the place of an operation; false if there is no such operation, or
// if it is the fused one of a choice.
func (t *tables) placeOf(op model.OpID) (place, bool) {
	if op < 0 || int(op) >= t.p.NumOps() {
		return place{}, false
	}
	s, i := t.vars.SequenceOf(op)
	return place{int32(s), int32(i)}, s >= 0
}
