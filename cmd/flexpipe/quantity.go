package main

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// seconds writes a measured time.
func seconds(t float64) string {
	return rounded(time.Duration(math.Round(t * float64(time.Second)))).String()
}

// scale is the unit in which a table writes times.
type scale struct {
	unit   string
	length float64 // seconds
	digits int     // behind the point
}

// scaleOf returns the unit for times of which the longest is given, in seconds.
func scaleOf(longest float64) scale {
	switch {
	case longest >= 10:
		return scale{"s", 1, 3}
	case longest >= 10e-3:
		return scale{"ms", 1e-3, 3}
	}
	return scale{"us", 1e-6, 1}
}

// column returns an empty column of times.
func (s scale) column(name string) column { return column{name: name + " " + s.unit} }

// text writes a time of so many seconds, without the unit.
func (s scale) text(t float64) string { return strconv.FormatFloat(t/s.length, 'f', s.digits, 64) }

// signed writes a relative deviation.
func signed(share float64) string {
	if math.Abs(share) < 0.0005 {
		return "0.0%"
	}
	return fmt.Sprintf("%+.1f%%", 100*share)
}

// against words a prediction's deviation from what was measured.
func against(deviation float64) string {
	switch {
	case math.Abs(deviation) < 0.0005:
		return "as measured"
	case deviation < 0:
		return fmt.Sprintf("%.1f%% less than measured", -100*deviation)
	}
	return fmt.Sprintf("%.1f%% more than measured", 100*deviation)
}

// figure writes a number with three or four digits.
func figure(x float64) string {
	for _, prefix := range []struct {
		from, size float64
		name       string
	}{{999.5e6, 1e9, "G"}, {999.5e3, 1e6, "M"}, {9999.5, 1e3, "k"}} {
		if x >= prefix.from {
			return fmt.Sprintf("%.3g%s", x/prefix.size, prefix.name)
		}
	}
	return fmt.Sprintf("%.4g", x)
}
