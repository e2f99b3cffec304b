package model

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
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

// tickName is the name of the unit of times that have no relation to physical
// time.
const tickName = "tick"

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

// Rounded writes n ticks as Format does where that takes three decimals at most.
// Else it rounds, to three decimals or four digits, whichever says more.
func (u Unit) Rounded(n int64) string {
	r, decimals := u.Rat(n), 3
	if exact, ok := r.FloatPrec(); ok && exact <= decimals {
		return r.FloatString(exact)
	}
	least := big.NewRat(1, 1)
	for size := new(big.Rat).Abs(r); size.Cmp(least) < 0; decimals++ {
		least.Quo(least, big.NewRat(10, 1))
	}
	return strings.TrimRight(strings.TrimRight(r.FloatString(decimals), "0"), ".")
}

// Amount writes n ticks as Format does, with the name of the unit: "2.5 us",
// "27 ticks".
func (u Unit) Amount(n int64) string {
	text := u.Format(n)
	switch {
	case u.Name == "":
		return text
	case text == "1":
		return text + " " + u.Name
	}
	return text + " " + u.Plural()
}

// Plural is the name of the unit for more than one of it.
func (u Unit) Plural() string {
	if u.Name == tickName {
		return "ticks"
	}
	return u.Name
}

// Size writes an amount of memory: bytes in the largest binary unit that fits,
// rounded to one decimal, such as 1.5 GiB; other units as Amount does.
func (u Unit) Size(n int64) string {
	return u.size(n, func(r *big.Rat) *big.Rat { return tenths(r) })
}

// SizeUp is Size, but never less than what is there, for what must fit.
func (u Unit) SizeUp(n int64) string {
	return u.size(n, func(r *big.Rat) *big.Rat {
		rounded := tenths(r)
		if rounded.Cmp(r) < 0 {
			rounded.Add(rounded, big.NewRat(1, 10))
		}
		return rounded
	})
}

// tenths rounds to one decimal.
func tenths(r *big.Rat) *big.Rat {
	rounded, _ := new(big.Rat).SetString(r.FloatString(1))
	return rounded
}

var byteNames = []string{"B", "byte", "bytes"}

func (u Unit) size(n int64, round func(*big.Rat) *big.Rat) string {
	if !slices.Contains(byteNames, u.Name) {
		return u.Amount(n)
	}
	names := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	step := big.NewRat(1024, 1)
	r, rounded := u.Rat(n), new(big.Rat)
	for {
		rounded = round(r)
		if rounded.Cmp(step) < 0 || len(names) == 1 {
			return strings.TrimSuffix(rounded.FloatString(1), ".0") + " " + names[0]
		}
		r, names = r.Quo(r, step), names[1:]
	}
}

// Validate reports a unit that cannot scale: a negative part.
func (u Unit) Validate() error {
	if u.Multiplier < 0 || u.Divisor < 0 {
		return fmt.Errorf("unit %q: multiplier %d and divisor %d must not be negative", u.Name, u.Multiplier, u.Divisor)
	}
	return nil
}

// TimeUnit is the unit of the problem's times, which always has a name.
func (p *Problem) TimeUnit() Unit {
	u := p.Pipeline.TimeUnit
	if u.Name == "" {
		u.Name = tickName
	}
	return u
}

// FormatTime writes a time exactly, in the user's unit, with its name.
func (p *Problem) FormatTime(t Time) string { return p.TimeUnit().Amount(int64(t)) }

// FormatRecorded writes a time that a plan file records: as FormatTime does, and
// where the number in the file is another one, that too.
func (p *Problem) FormatRecorded(t Time) string {
	text, number := p.FormatTime(t), strconv.FormatInt(int64(t), 10)
	if p.Pipeline.TimeUnit.Format(int64(t)) == number {
		return text
	}
	return fmt.Sprintf("%s (%s in the file)", text, number)
}

// FormatMemory writes an amount of memory for people.
func (p *Problem) FormatMemory(b Bytes) string { return p.Pipeline.MemoryUnit.Size(int64(b)) }
