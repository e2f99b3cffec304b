package config

// Unit is what a bare duration means.
type Unit string

// The units. A tick has no relation to physical time.
const (
	Tick        Unit = "tick"
	Nanosecond  Unit = "ns"
	Microsecond Unit = "us"
	Millisecond Unit = "ms"
	Second      Unit = "s"
)

// Seconds returns the exact length of the unit in seconds; ok is false for [Tick].
func (u Unit) Seconds() (length Decimal, ok bool) {
	switch u {
	case Nanosecond:
		return power10(-9), true
	case Microsecond:
		return power10(-6), true
	case Millisecond:
		return power10(-3), true
	case Second:
		return power10(0), true
	}
	return Decimal{}, false
}

// convert returns d, given in unit from, in unit to. Neither is a tick, or both are.
func (d Decimal) convert(from, to Unit) Decimal {
	if from == to {
		return d
	}
	given, _ := from.Seconds()
	wanted, _ := to.Seconds()
	return d.Mul(given).quo(wanted)
}
