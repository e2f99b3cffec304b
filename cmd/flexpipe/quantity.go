package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// shortest is the number of decimals that tables show at most. JSON shows all.
const shortest = 3

// amount writes a number of ticks or memory units in the user's unit, rounded to
// a few decimals.
func amount[T model.Time | model.Bytes](u model.Unit, n T) string {
	r := u.Rat(int64(n))
	if digits, exact := r.FloatPrec(); exact && digits <= shortest {
		return r.FloatString(digits)
	}
	return strings.TrimRight(strings.TrimRight(r.FloatString(shortest), "0"), ".")
}

// duration writes a time with its unit.
func duration(p *model.Problem, t model.Time) string {
	name := unitName(p.Pipeline.TimeUnit)
	text := amount(p.Pipeline.TimeUnit, t)
	if name == "tick" && text != "1" {
		name = "ticks"
	}
	return text + " " + name
}

// size writes an amount of memory: bare numbers as they are, bytes for people.
func size(p *model.Problem, b model.Bytes) string {
	u := p.Pipeline.MemoryUnit
	if !inBytes(u) {
		return amount(u, b)
	}
	bytes, _ := u.Rat(int64(b)).Float64()
	for _, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if bytes < 1024 || unit == "TiB" {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", bytes), ".0") + " " + unit
		}
		bytes /= 1024
	}
	panic("unreachable")
}

// inBytes reports whether memory is in bytes rather than in numbers of no unit.
func inBytes(u model.Unit) bool { return u.Name != "" }

// limit writes the memory limit of a device.
func limit(p *model.Problem, d int) string {
	if p.Limits[d] == model.Unlimited {
		return "none"
	}
	return size(p, p.Limits[d])
}

// percent writes a share with two decimals at most.
func percent(share float64) string {
	text := strconv.FormatFloat(share*100, 'f', 2, 64)
	if text == "0.00" && share > 0 {
		return "< 0.01 %"
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " %"
}

// plural writes a count of things.
func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"), strings.HasSuffix(thing, "s"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
