package cssr

import (
	"fmt"
	"math/big"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// maxSteps bounds the absolute value of a whole number, so that the sum of two
// never overflows.
const maxSteps = 1 << 61

// ScaleError reports numbers of a configuration that 64 bits cannot hold
// together exactly.
type ScaleError struct {
	What  string   // "durations", "sizes" or "factors"
	Key   string   // of the number at fault, such as costs.forward[3]
	Value *big.Rat // the number, on its device, in Unit
	Step  *big.Rat // the largest step in which all numbers are whole, in Unit
	Unit  string   // "" for bare numbers
}

func (e *ScaleError) Error() string { return e.Key + ": " + e.problem() + "; " + e.remedy() }

func (e *ScaleError) problem() string {
	return fmt.Sprintf("%s, where the largest step in which all %s are whole is %s: 64 bits cannot hold that",
		e.format(e.Value), e.What, e.format(e.Step))
}

// remedy says what brings number and step nearer to each other, or to 1.
func (e *ScaleError) remedy() string {
	switch {
	case !e.Step.Num().IsInt64():
		return "write all " + e.What + " in a larger unit"
	case !e.Step.Denom().IsInt64():
		return "round the " + e.What + " to fewer digits, or write all in a smaller unit"
	}
	return "round the " + e.What + " to fewer digits"
}

// format writes a number with its unit.
func (e *ScaleError) format(r *big.Rat) string {
	text := r.RatString()
	if digits, exact := r.FloatPrec(); exact {
		text = r.FloatString(digits)
	}
	switch e.Unit {
	case "":
		return text
	case string(config.Tick):
		return text + " ticks"
	}
	return text + " " + e.Unit
}

// scale turns exact numbers into whole ones: multiples of the largest step that
// divides all numbers it has seen. First see every number, then ask. The first
// error sticks.
type scale struct {
	cfg        *config.Config
	what, unit string
	step       big.Rat // 0 until a number other than 0 was seen
	err        error   // a *config.Error around a *ScaleError
}

// see makes the step divide amount / parts. nil amounts are passed over.
//
// The largest common divisor of two fractions in lowest terms has the greatest
// common divisor of their numerators over the least common multiple of their
// denominators.
func (s *scale) see(amount *big.Rat, parts int64, at site) {
	if amount == nil || amount.Sign() == 0 || s.err != nil {
		return
	}
	part := new(big.Rat).Abs(amount)
	if parts > 1 {
		part.Quo(part, new(big.Rat).SetInt64(parts))
	}
	if s.step.Sign() != 0 {
		part = commonStep(&s.step, part)
	}
	s.step.Set(part)
	if !s.step.Denom().IsInt64() {
		s.fail(amount, at)
	}
}

// commonStep returns the largest number of which a and b, both positive, are
// multiples.
func commonStep(a, b *big.Rat) *big.Rat {
	num := new(big.Int).GCD(nil, nil, a.Num(), b.Num())
	gcd := new(big.Int).GCD(nil, nil, a.Denom(), b.Denom())
	den := new(big.Int).Div(a.Denom(), gcd)
	return new(big.Rat).SetFrac(num, den.Mul(den, b.Denom()))
}

// steps returns how many steps an amount that was seen is.
func (s *scale) steps(amount *big.Rat, at site) int64 {
	if amount.Sign() == 0 || s.err != nil {
		return 0
	}
	count := new(big.Rat).Quo(amount, &s.step).Num()
	if !s.step.Num().IsInt64() || !count.IsInt64() || count.CmpAbs(big.NewInt(maxSteps)) > 0 {
		s.fail(amount, at)
		return 0
	}
	return count.Int64()
}

// fail records that an amount has no whole number.
func (s *scale) fail(amount *big.Rat, at site) {
	place := at.place(s.cfg)
	err := &ScaleError{What: s.what, Key: place.Key, Value: amount, Step: new(big.Rat).Set(&s.step), Unit: s.unit}
	s.err = place.Refuse(err.problem(), err.remedy(), err)
}

// modelUnit returns what a step is, under the given name. It holds once steps
// has succeeded.
func (s *scale) modelUnit(name string) model.Unit {
	if s.step.Sign() == 0 {
		return model.Unit{Name: name, Multiplier: 1, Divisor: 1}
	}
	return model.Unit{Name: name, Multiplier: s.step.Num().Int64(), Divisor: s.step.Denom().Int64()}
}
