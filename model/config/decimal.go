package config

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Limits on the text of a number: what lies beyond has no use in a configuration,
// and an exponent of millions would exhaust the memory.
const (
	maxDigits   = 40
	maxExponent = 30
)

// Decimal is an exact number: the one that a decimal text such as 16.3 or 1e9
// writes, or a sum, product or difference of such. It is immutable, and its zero
// value is 0. Compare with Cmp or Equal, not with ==.
type Decimal struct {
	rat *big.Rat // nil is 0; never written to once set; a power of ten clears its denominator
}

// NewDecimal returns n.
func NewDecimal(n int64) Decimal { return Decimal{rat: new(big.Rat).SetInt64(n)} }

// ParseDecimal reads an optional sign, digits with at most one point among them, and
// an optional exponent: -16.3, .5, 1e9. There may be 40 digits at most, and the
// exponent lies in [-30, 30]. Other forms that languages know, such as 0x1F, 1_000,
// 010, NaN and Inf, are errors.
func ParseDecimal(text string) (Decimal, error) {
	number, rest := splitNumber(text)
	if number == "" || rest != "" {
		return Decimal{}, fmt.Errorf("%s is not a decimal number", quote(text))
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if err := checkMantissa(mantissa); err != nil {
		return Decimal{}, err
	}
	if power, err := strconv.Atoi(exponent); exponent != "" && (err != nil || power < -maxExponent || power > maxExponent) {
		return Decimal{}, fmt.Errorf("the exponent of %s lies outside -%d to %d", quote(text), maxExponent, maxExponent)
	}
	rat, ok := new(big.Rat).SetString(number)
	if !ok {
		return Decimal{}, fmt.Errorf("%s is not a decimal number", quote(text))
	}
	return Decimal{rat: rat}, nil
}

// checkMantissa refuses too many digits, and the leading zeros that some languages
// read as octal.
func checkMantissa(mantissa string) error {
	digits := strings.TrimLeft(mantissa, "+-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(whole)+len(fraction) > maxDigits {
		return fmt.Errorf("%s has more than %d digits", quote(mantissa), maxDigits)
	}
	if len(whole) > 1 && whole[0] == '0' {
		return fmt.Errorf("%s has a leading zero", quote(mantissa))
	}
	return nil
}

// splitNumber returns the longest prefix of text that writes a decimal number, and
// what follows it. The number is empty when text does not start with one.
func splitNumber(text string) (number, rest string) {
	end := 0
	if end < len(text) && (text[end] == '+' || text[end] == '-') {
		end++
	}
	whole := digitRun(text[end:])
	end += whole
	fraction := 0
	if end < len(text) && text[end] == '.' {
		fraction = digitRun(text[end+1:])
		end += 1 + fraction
	}
	if whole+fraction == 0 {
		return "", text
	}
	end += exponentRun(text[end:])
	return text[:end], text[end:]
}

// exponentRun returns the length of the exponent that text starts with, 0 without one.
func exponentRun(text string) int {
	if text == "" || (text[0] != 'e' && text[0] != 'E') {
		return 0
	}
	start := 1
	if start < len(text) && (text[start] == '+' || text[start] == '-') {
		start++
	}
	digits := digitRun(text[start:])
	if digits == 0 {
		return 0
	}
	return start + digits
}

// digitRun returns how many decimal digits text starts with.
func digitRun(text string) int {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return i
		}
	}
	return len(text)
}

// power10 returns 10^n for n in [-30, 30].
func power10(n int) Decimal {
	d, err := ParseDecimal("1e" + strconv.Itoa(n))
	if err != nil {
		panic(err)
	}
	return d
}

// Rat returns the number as a fraction that the caller owns.
func (d Decimal) Rat() *big.Rat { return new(big.Rat).Set(d.view()) }

// view returns the number as a fraction that must not be written to.
func (d Decimal) view() *big.Rat {
	if d.rat == nil {
		return new(big.Rat)
	}
	return d.rat
}

// Float64 returns the nearest float64.
func (d Decimal) Float64() float64 {
	f, _ := d.view().Float64()
	return f
}

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int { return d.view().Sign() }

// Cmp returns -1, 0 or 1 as d is less than, equal to or greater than e.
func (d Decimal) Cmp(e Decimal) int { return d.view().Cmp(e.view()) }

// Equal reports whether d and e are the same number.
func (d Decimal) Equal(e Decimal) bool { return d.Cmp(e) == 0 }

// Add returns d + e.
func (d Decimal) Add(e Decimal) Decimal {
	return Decimal{rat: new(big.Rat).Add(d.view(), e.view())}
}

// Sub returns d - e.
func (d Decimal) Sub(e Decimal) Decimal {
	return Decimal{rat: new(big.Rat).Sub(d.view(), e.view())}
}

// Mul returns d · e.
func (d Decimal) Mul(e Decimal) Decimal {
	return Decimal{rat: new(big.Rat).Mul(d.view(), e.view())}
}

// quo returns d / e; e is a power of ten, so that the result is a decimal again.
func (d Decimal) quo(e Decimal) Decimal {
	return Decimal{rat: new(big.Rat).Quo(d.view(), e.view())}
}

// String writes the number in full, without exponent and without trailing zeros.
func (d Decimal) String() string {
	places, _ := d.view().FloatPrec()
	return d.view().FloatString(places)
}

// MarshalJSON writes the number as a JSON number, exactly. [ParseDecimal] reads it
// back when it made the number: what is too long in full is written with an exponent.
func (d Decimal) MarshalJSON() ([]byte, error) {
	text := d.String()
	if countDigits(text) <= maxDigits {
		return []byte(text), nil
	}
	for _, exponent := range []int{maxExponent, -maxExponent} {
		short := d.quo(power10(exponent)).String()
		if countDigits(short) <= maxDigits {
			return fmt.Appendf(nil, "%se%d", short, exponent), nil
		}
	}
	return []byte(text), nil
}

// countDigits returns how many decimal digits text holds.
func countDigits(text string) int {
	count := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			count++
		}
	}
	return count
}
