package heuristics_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
)

// form is what the closed forms of a schedule say for a shape, -1 where they say
// nothing.
type form struct {
	makespan, span model.Time
	peak           func(d int) int // nil: nothing
	atMost         bool            // the peak is a bound
}

// closedForms are the forms in the table of schedules, as functions of devices,
// micro-batches and stages per device, for unit costs.
var closedForms = map[string]func(p, m, v int) form{
	"gpipe": func(p, m, v int) form {
		return form{makespan: ticks(3 * (m + p - 1)), span: -1, peak: func(int) int { return m }}
	},
	"1f1b": func(p, m, v int) form {
		return form{makespan: ticks(3 * (m + p - 1)), span: -1, peak: func(d int) int { return min(p-d, m) }}
	},
	"interleaved": func(p, m, v int) form {
		f := form{makespan: -1, span: -1}
		if m >= p {
			f.makespan = ticks(3 * (m*v + p - 1))
		}
		if m%p == 0 {
			f.peak = func(d int) int { return min(2*(p-1-d)+(v-1)*p+1, m*v) }
		}
		return f
	},
	"looped-bfs": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return m * v }}
		if m >= p {
			f.makespan = ticks(3 * (m*v + p - 1))
		}
		return f
	},
	"zb-h1": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return min(p, m) }}
		if m >= p {
			f.makespan = ticks(3*m + p - 1)
		}
		return f
	},
	"zb-h2": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return min(2*p-1, m) }}
		if m >= 2*p-1 {
			f.makespan, f.span = ticks(3*m+p-1), ticks(3*m)
		}
		return f
	},
	"zbv": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return 2 * p }, atMost: true}
		if m >= 2*p-1 {
			f.makespan, f.span, f.atMost = ticks(6*m+p-1), ticks(6*m), false
		}
		return f
	},
	"v-half": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return 2 * ((p + 2) / 2) }, atMost: true}
		if m >= 2*p && p > 2 {
			f.makespan = ticks(6*m + 6*((p+1)/2) - 7)
		}
		return f
	},
	"v-min": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return 2 * ((p + 4) / 3) }, atMost: true}
		if m >= 2*p && p > 2 {
			f.makespan = ticks(6*m + 3*p + 3*((p+2)/3) - 7)
		}
		return f
	},
}

func ticks(n int) model.Time { return model.Time(n) }

// chunksOf returns the numbers of stages per device to test a schedule with.
func chunksOf(s heuristics.Schedule) []int {
	switch {
	case s.Placement == "linear":
		return []int{1}
	case s.Placement == "v":
		return []int{2}
	default:
		return []int{1, 2, 3, 4}
	}
}

// TestSweep judges every schedule on every small shape and some larger ones, and
// compares it with the closed forms.
func TestSweep(t *testing.T) {
	for _, s := range heuristics.Schedules() {
		t.Run(s.Name, func(t *testing.T) {
			for _, v := range chunksOf(s) {
				for p := 1; p <= 8; p++ {
					for m := 1; m <= 24; m++ {
						sweep(t, s, p, m, v)
					}
				}
				for _, p := range []int{15, 17, 32} {
					sweep(t, s, p, 2*p, v)
					sweep(t, s, p, 3*p+1, v)
				}
			}
		})
	}
}

func sweep(t *testing.T, s heuristics.Schedule, p, m, v int) {
	t.Helper()
	got := measure(t, s.Name, setting{p, m, 1, 1, 1, 0}, v)
	want := closedForms[s.Name](p, m, v)
	if want.makespan >= 0 && got.Makespan != want.makespan {
		t.Errorf("P=%d M=%d v=%d: makespan %d, closed form %d", p, m, v, got.Makespan, want.makespan)
	}
	if want.span >= 0 && got.Span != want.span {
		t.Errorf("P=%d M=%d v=%d: span %d, closed form %d", p, m, v, got.Span, want.span)
	}
	for d := range got.Devices {
		peak := int(got.Devices[d].Peak)
		if want.peak != nil && (peak > want.peak(d) || peak < want.peak(d) && !want.atMost) {
			t.Errorf("P=%d M=%d v=%d: peak %d on device %d, closed form %d", p, m, v, peak, d, want.peak(d))
		}
	}
}
