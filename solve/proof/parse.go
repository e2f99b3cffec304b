package proof

import (
	"bytes"
	"fmt"
	"math"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// rules are the rules by name.
var rules = func() map[string]solve.ProofRule {
	m := map[string]solve.ProofRule{}
	for r := solve.LearnedRule; r <= solve.SpanRule; r++ {
		m[r.String()] = r
	}
	return m
}()

// failf returns an error about the place at hand.
func (f *reader) failf(format string, args ...any) error {
	return &FileError{f.number, f.at + 1, fmt.Errorf(format, args...)}
}

// word reads up to a space or the end of the line.
func (f *reader) word() []byte {
	if f.at > len(f.line) {
		return nil
	}
	word := f.line[f.at:]
	if n := bytes.IndexByte(word, ' '); n >= 0 {
		word = word[:n]
	}
	f.at += len(word)
	return word
}

func (f *reader) lineEnds() error {
	if f.at != len(f.line) {
		return f.failf("the end of the line expected")
	}
	return nil
}

// literal reads a text if it is next.
func (f *reader) literal(text string) bool {
	if !bytes.HasPrefix(f.line[min(f.at, len(f.line)):], []byte(text)) {
		return false
	}
	f.at += len(text)
	return true
}

// int64 reads a space and a number.
func (f *reader) int64() (int64, error) {
	if !f.literal(" ") {
		return 0, f.failf("a space and a number expected")
	}
	return f.digits()
}

// int32 reads a space and a number of 32 bits.
func (f *reader) int32() (int32, error) {
	at := f.at
	n, err := f.int64()
	if err == nil && n != int64(int32(n)) {
		f.at = at + 1
		err = f.failf("%d is out of range", n)
	}
	return int32(n), err
}

// digits reads a number as strconv.Itoa writes it, except the smallest of all.
func (f *reader) digits() (int64, error) {
	begin, n := f.at, int64(0)
	negative := f.literal("-")
	first := f.at
	for ; f.at < len(f.line) && f.line[f.at] >= '0' && f.line[f.at] <= '9'; f.at++ {
		d := int64(f.line[f.at] - '0')
		if n > (math.MaxInt64-d)/10 {
			f.at = begin
			return 0, f.failf("the number is out of range")
		}
		n = 10*n + d
	}
	if f.at == first || f.line[first] == '0' && (negative || f.at > first+1) {
		f.at = begin
		return 0, f.failf("a number without leading zeros expected")
	}
	if negative {
		n = -n
	}
	return n, nil
}

// readFacts reads facts up to the end of the line. They are valid until the next call.
func (f *reader) readFacts() ([]solve.Fact, error) {
	f.facts = f.facts[:0]
	for f.at < len(f.line) {
		x, err := f.int32()
		if err != nil {
			return nil, err
		}
		atLeast := f.literal(">=")
		if !atLeast && !f.literal("<=") {
			return nil, f.failf(`">=" or "<=" expected`)
		}
		value, err := f.digits()
		if err != nil {
			return nil, err
		}
		f.facts = append(f.facts, solve.Fact{Variable: constraints.Variable(x), AtLeast: atLeast, Value: model.Time(value)})
	}
	return f.facts, nil
}

// readStep reads the rest of the line of a step into f.stepped.
func (f *reader) readStep(rule solve.ProofRule) error {
	s := &f.stepped
	*s = solve.Step{Rule: rule, Ops: s.Ops[:0]}
	if err := f.parameters(s); err != nil {
		return err
	}
	if f.at == len(f.line) {
		return nil
	}
	if rule == solve.LearnedRule {
		return f.lineEnds()
	}
	if !f.literal(" :") || f.at == len(f.line) {
		return f.failf(`" :" and facts expected`)
	}
	facts, err := f.readFacts()
	s.Facts = facts
	return err
}

func (f *reader) parameters(s *solve.Step) (err error) {
	switch s.Rule {
	case solve.LearnedRule:
		s.Nogood, err = f.int64()
	case solve.EdgeRule, solve.MonotoneRule:
		if s.From, err = f.variable(); err == nil {
			s.To, err = f.variable()
		}
	case solve.OrderRule:
		s.From, err = f.variable()
	case solve.WindowRule:
		return f.windowParameters(s)
	case solve.MemoryRule:
		if s.Device, err = f.int32(); err == nil {
			s.Op, err = f.op()
		}
	case solve.CycleRule:
		for err == nil && f.at < len(f.line) && !bytes.HasPrefix(f.line[f.at:], []byte(" :")) {
			var op model.OpID
			op, err = f.op()
			s.Ops = append(s.Ops, op)
		}
	case solve.SpanRule:
		s.Device, err = f.int32()
	}
	return err
}

func (f *reader) windowParameters(s *solve.Step) (err error) {
	if s.Device, err = f.int32(); err != nil {
		return err
	}
	begin, err := f.int64()
	if err != nil {
		return err
	}
	end, err := f.int64()
	s.Begin, s.End = model.Time(begin), model.Time(end)
	return err
}

func (f *reader) variable() (constraints.Variable, error) {
	x, err := f.int32()
	return constraints.Variable(x), err
}

func (f *reader) op() (model.OpID, error) {
	op, err := f.int32()
	return model.OpID(op), err
}
