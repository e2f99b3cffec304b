package model

import (
	"fmt"
	"math/big"
)

// Time is a point in time or a duration, in ticks of the problem's TimeUnit.
type Time int64

// Bytes is an amount of memory, in units of the problem's MemoryUnit.
type Bytes int64

// Absent marks an operation that a stage does not have, where a duration is
// expected, and the start of an operation that a timeline does not hold.
const Absent Time = -1

// Unlimited is the memory limit of a device that has none.
const Unlimited Bytes = 1 << 62

// maxTotal bounds the sum of all durations and latencies of a problem, and the
// sum of all its memory deltas, so that no later addition can overflow.
const maxTotal = 1 << 61

// Unit relates integers to the user's numbers: n ticks are
// n × Multiplier / Divisor of the unit called Name. The zero value stands for
// plain numbers (1/1, no name).
type Unit struct {
	Name       string `json:"name,omitempty"`
	Multiplier int64  `json:"multiplier"`
	Divisor    int64  `json:"divisor"`
}

// Rat returns n ticks as an exact number of the unit.
func (u Unit) Rat(n int64) *big.Rat {
	m, d := max(u.Multiplier, 1), max(u.Divisor, 1)
	r := new(big.Rat).SetFrac(big.NewInt(m), big.NewInt(d))
	return r.Mul(r, new(big.Rat).SetInt64(n))
}

// Format writes n ticks as a decimal number of the unit, without its name. The
// decimal is exact: scaled inputs were decimals, so the divisor has no other
// prime factors than 2 and 5. A unit that breaks this prints as a fraction.
func (u Unit) Format(n int64) string {
	r := u.Rat(n)
	digits, exact := r.FloatPrec()
	if !exact {
		return r.RatString()
	}
	return r.FloatString(digits)
}

// Validate reports a unit that cannot scale: a negative part.
func (u Unit) Validate() error {
	if u.Multiplier < 0 || u.Divisor < 0 {
		return fmt.Errorf("unit %q: multiplier %d and divisor %d must not be negative", u.Name, u.Multiplier, u.Divisor)
	}
	return nil
}
