package config

import "strings"

// sizeSuffixes are the units of sizes with their lengths in bytes.
var sizeSuffixes = map[string]Decimal{
	"B":  NewDecimal(1),
	"KB": power10(3), "MB": power10(6), "GB": power10(9), "TB": power10(12),
	"KiB": NewDecimal(1 << 10), "MiB": NewDecimal(1 << 20), "GiB": NewDecimal(1 << 30), "TiB": NewDecimal(1 << 40),
}

// Remedies for quantities that cannot be read.
const (
	numberRemedy   = "write a decimal number such as 16.3"
	durationRemedy = "write a decimal number such as 16.3, or one with ns, us, ms or s such as 5us"
	sizeRemedy     = "write a decimal number, or one with B, KB, MB, GB, TB, KiB, MiB, GiB or TiB such as 1.5GiB"
)

// quantity reads a decimal number with or without a suffix, which one space may
// precede. A number without suffix must not be quoted.
func (v value) quantity(remedy string) (number Decimal, suffix string, ok bool) {
	text, unquoted := v.plain()
	digits, suffix := splitNumber(text)
	suffix = strings.TrimPrefix(suffix, " ")
	switch {
	case digits == "":
		v.fail(describe(v.node)+" is not a number", remedy)
		return Decimal{}, "", false
	case !unquoted && suffix == "":
		v.fail(describe(v.node)+" is text, not a number", "leave the quotes out")
		return Decimal{}, "", false
	}
	number, err := ParseDecimal(digits)
	if err != nil {
		v.fail(err.Error(), remedy)
		return Decimal{}, "", false
	}
	return number, suffix, true
}

// number reads a decimal number without suffix.
func (v value) number() (Decimal, bool) {
	number, suffix, ok := v.quantity(numberRemedy)
	if ok && suffix != "" {
		v.fail(describe(v.node)+" is not a number", numberRemedy)
		return Decimal{}, false
	}
	return number, ok
}

// positive reads a number above 0.
func (v value) positive() (Decimal, bool) {
	number, ok := v.number()
	if ok && number.Sign() <= 0 {
		v.fail(describe(v.node)+" is not positive", "write a number above 0")
		return Decimal{}, false
	}
	return number, ok
}

// notNegative fails when number, read from v, is below 0.
func (v value) notNegative(number Decimal, ok bool) (Decimal, bool) {
	if ok && number.Sign() < 0 {
		v.fail(describe(v.node)+" is negative", "write 0 or a number above it")
		return Decimal{}, false
	}
	return number, ok
}

// duration reads a duration, not negative, and returns it in unit.
func (v value) duration(unit Unit) (Decimal, bool) {
	number, suffix, ok := v.notNegativeQuantity(durationRemedy)
	if !ok || suffix == "" {
		return number, ok
	}
	written := Unit(suffix)
	if _, physical := written.Seconds(); !physical {
		v.fail(describe(v.node)+" is not a duration", durationRemedy)
		return Decimal{}, false
	}
	if unit == Tick {
		v.fail(describe(v.node)+" has a unit, but bare durations are ticks", "set unit to ns, us, ms or s, or leave "+suffix+" out")
		return Decimal{}, false
	}
	return number.convert(written, unit), true
}

// notNegativeQuantity reads a quantity that is 0 or above it.
func (v value) notNegativeQuantity(remedy string) (number Decimal, suffix string, ok bool) {
	number, suffix, ok = v.quantity(remedy)
	number, ok = v.notNegative(number, ok)
	return number, suffix, ok
}

// signedSize reads a size of either sign. inBytes reports that it has a suffix, and
// is returned in bytes.
func (v value) signedSize() (size Decimal, inBytes, ok bool) {
	number, suffix, ok := v.quantity(sizeRemedy)
	if !ok || suffix == "" {
		return number, false, ok
	}
	scale, known := sizeSuffixes[suffix]
	if !known {
		v.fail(describe(v.node)+" is not a size", didYouMeanSize(suffix))
		return Decimal{}, false, false
	}
	return number.Mul(scale), true, true
}

// didYouMeanSize suggests the suffix that differs from the given one in case only.
func didYouMeanSize(suffix string) string {
	for _, known := range []string{"B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"} {
		if strings.EqualFold(suffix, known) {
			return "did you mean " + known + "?"
		}
	}
	return sizeRemedy
}
