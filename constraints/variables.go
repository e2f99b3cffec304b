package constraints

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// Variable names an unknown of a problem's order formulation: integers that
// describe a schedule. Search proofs are about these; see Variables.
type Variable int32

// VariableKind says what a Variable means.
type VariableKind uint8

// The kinds of variables, in the order of their numbers.
const (
	ObjectiveVariable VariableKind = iota // the value of the objective, in ticks
	StartVariable                         // when an operation starts; for a backward input with a choice: it or the fused one
	ChoiceVariable                        // only with a choice: 0 split, 1 fused
	FirstVariable                         // only for the span: no later than any start on a device
	LastVariable                          // only for the span: no earlier than any end on a device
	PositionVariable                      // how many operations of one sequence stand before an operation of another one
)

// Pair is two sequences that share a device, A < Q by number. For each index i in
// A there is a position variable: how many operations of Q stand before A.Ops[i]
// in the orders of all devices that both occupy.
type Pair struct {
	A, Q  int32
	First Variable // that of A.Ops[0]; the others follow
}

// Variables numbers the unknowns of a problem: the objective is 0, then come the
// starts by operation (those of fused operations of a choice are not used), then the
// choices by alternative and index, then for the span the firsts and the lasts by
// device, then the positions by pair and index, pairs in lexicographic order.
//
// It is a naming, no more: what the variables must obey follows from the rules.
type Variables struct {
	Problem      *model.Problem
	Sequences    []Sequence
	Pairs        []Pair
	Alternatives []Alternative

	choices, firsts, lasts, positions, count Variable

	sequenceOf []int32 // by operation, -1 for fused ones of a choice
	indexOf    []int32 // by operation: its index in the sequence
	choiceOf   []Variable
	pairOf     map[[2]int32]int32
}

// NewVariables numbers the unknowns of a problem. Cost O(operations + pairs of
// sequences on a device × length).
func NewVariables(p *model.Problem) *Variables {
	v := &Variables{Problem: p, Sequences: Sequences(p), pairOf: map[[2]int32]int32{}}
	n := Variable(p.NumOps())
	v.sequenceOf, v.indexOf = make([]int32, n), make([]int32, n)
	for op := range v.sequenceOf {
		v.sequenceOf[op] = -1
	}
	for s := range v.Sequences {
		for i, op := range v.Sequences[s].Ops {
			v.sequenceOf[op], v.indexOf[op] = int32(s), int32(i)
		}
	}
	v.choices = 1 + n
	v.firsts = v.numberChoices(v.choices)
	v.lasts, v.positions = v.firsts, v.firsts
	if p.Pipeline.Objective == model.Span {
		v.lasts = v.firsts + Variable(p.NumDevices())
		v.positions = v.lasts + Variable(p.NumDevices())
	}
	v.count = v.numberPairs(v.positions)
	return v
}

func (v *Variables) numberChoices(next Variable) Variable {
	if !v.Problem.HasChoice {
		return next
	}
	v.choiceOf = make([]Variable, v.Problem.NumOps())
	for op := range v.choiceOf {
		v.choiceOf[op] = -1
	}
	for a := range Alternatives(v.Problem) {
		v.Alternatives = append(v.Alternatives, a)
		for k := range v.Problem.Count(int(a.Fused)) {
			for _, row := range []int32{a.Fused, a.Split[0], a.Split[1]} {
				v.choiceOf[int(v.Problem.Base(int(row)))+k] = next
			}
			next++
		}
	}
	return next
}

func (v *Variables) numberPairs(next Variable) Variable {
	for a := range v.Sequences {
		for q := a + 1; q < len(v.Sequences); q++ {
			if !shareDevice(v.Problem, v.Sequences[a].Row, v.Sequences[q].Row) {
				continue
			}
			v.pairOf[[2]int32{int32(a), int32(q)}] = int32(len(v.Pairs))
			v.Pairs = append(v.Pairs, Pair{int32(a), int32(q), next})
			next += Variable(len(v.Sequences[a].Ops))
		}
	}
	return next
}

func shareDevice(p *model.Problem, a, b int32) bool {
	for _, d := range p.Rows[a].Devices {
		for _, e := range p.Rows[b].Devices {
			if d == e {
				return true
			}
		}
	}
	return false
}

// Count returns the number of variables.
func (v *Variables) Count() int { return int(v.count) }

// Objective returns the variable of the objective.
func (v *Variables) Objective() Variable { return 0 }

// Start returns the start variable of an operation; that of the backward input
// also for the fused one of a choice.
func (v *Variables) Start(op model.OpID) Variable {
	if row := v.Problem.Row(op); row.Choice == model.WhenFused {
		op = v.Problem.Base(int(row.Twin)) + model.OpID(v.Problem.Index(op))
	}
	return 1 + Variable(op)
}

// Choice returns the choice variable on which an operation depends, -1 if none.
func (v *Variables) Choice(op model.OpID) Variable {
	if v.choiceOf == nil {
		return -1
	}
	return v.choiceOf[op]
}

// First returns the variable that is no later than any start on a device.
func (v *Variables) First(device int) Variable { return v.firsts + Variable(device) }

// Last returns the variable that is no earlier than any end on a device.
func (v *Variables) Last(device int) Variable { return v.lasts + Variable(device) }

// SequenceOf returns the sequence of an operation and its index there; -1 for the
// fused operation of a choice.
func (v *Variables) SequenceOf(op model.OpID) (sequence, index int) {
	return int(v.sequenceOf[op]), int(v.indexOf[op])
}

// PairOf returns the number of the pair of two sequences, given in any order, or
// -1 if they share no device.
func (v *Variables) PairOf(a, b int) int {
	if i, ok := v.pairOf[[2]int32{int32(min(a, b)), int32(max(a, b))}]; ok {
		return int(i)
	}
	return -1
}

// Meaning describes a variable.
type Meaning struct {
	Kind   VariableKind
	Op     model.OpID // start, position: the operation; choice: the fused operation
	Device int        // first, last
	Pair   int        // position
}

// Meaning returns what a variable means; it panics if there is no such variable.
// Cost O(log pairs).
func (v *Variables) Meaning(x Variable) Meaning {
	m := Meaning{Device: -1, Pair: -1, Op: -1}
	switch {
	case x < 0 || x >= v.count:
		panic(fmt.Sprintf("constraints: variable %d of %d", x, v.count))
	case x == 0:
	case x < v.choices:
		m.Kind, m.Op = StartVariable, model.OpID(x-1)
	case x < v.firsts:
		m.Kind = ChoiceVariable
		x -= v.choices
		for _, a := range v.Alternatives {
			if n := Variable(v.Problem.Count(int(a.Fused))); x >= n {
				x -= n
				continue
			}
			m.Op = v.Problem.Base(int(a.Fused)) + model.OpID(x)
			break
		}
	case x < v.lasts:
		m.Kind, m.Device = FirstVariable, int(x-v.firsts)
	case x < v.positions:
		m.Kind, m.Device = LastVariable, int(x-v.lasts)
	default:
		lo, hi := 0, len(v.Pairs)
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; v.Pairs[mid].First <= x {
				lo = mid
			} else {
				hi = mid
			}
		}
		pair := v.Pairs[lo]
		m.Kind, m.Pair, m.Op = PositionVariable, lo, v.Sequences[pair.A].Ops[x-pair.First]
	}
	return m
}

// Name returns a text for messages, such as "start of 2F3" or "number of 2I* before
// 2F3".
func (v *Variables) Name(x Variable) string {
	m := v.Meaning(x)
	switch m.Kind {
	case ObjectiveVariable:
		return v.Problem.Pipeline.Objective.String()
	case StartVariable:
		return "start of " + v.Problem.Name(m.Op)
	case ChoiceVariable:
		return "fused " + v.Problem.Name(m.Op)
	case FirstVariable:
		return "first start on " + v.Problem.DeviceName(m.Device)
	case LastVariable:
		return "last end on " + v.Problem.DeviceName(m.Device)
	}
	q := v.Sequences[v.Pairs[m.Pair].Q]
	return fmt.Sprintf("number of %s.. before %s", v.Problem.Name(q.Ops[0]), v.Problem.Name(m.Op))
}
