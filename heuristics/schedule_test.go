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
	"hanayo": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return min(p, m) * v }, atMost: true}
		if m%p == 0 {
			f.makespan = ticks(3*m*v + 2*(p-1)*(m/p+1))
			f.peak, f.atMost = func(d int) int { return p*(v-1) + 1 + d }, false
		}
		return f
	},
	"chimera": func(p, m, v int) form {
		f := form{makespan: -1, span: -1, peak: func(int) int { return p }, atMost: true}
		if m%p == 0 {
			f.makespan = ticks((4*p-2)*m/p + p - 2)
			f.peak, f.atMost = func(d int) int { return p/2 + 1 + min(d, p-1-d) }, false
		}
		return f
	},
	"dualpipev": func(p, m, v int) form {
		return form{makespan: ticks(6*m + p - 1), span: -1, peak: func(int) int { return 2*p + 1 }}
	},
}

func ticks(n int) model.Time { return model.Time(n) }

// chunksOf returns the numbers of stages per device to test a schedule with.
func chunksOf(s heuristics.Schedule) []int {
	switch {
	case s.Placement == "linear":
		return []int{1}
	case s.Name == "hanayo":
		return []int{2, 4, 6}
	case s.Placement == "v":
		return []int{2}
	default:
		return []int{1, 2, 3, 4}
	}
}

// legal reports whether a schedule is defined for so many devices and micro-batches.
func legal(s heuristics.Schedule, p, m int) bool {
	switch s.Name {
	case "chimera":
		return p%2 == 0
	case "dualpipev":
		return m >= 2*p
	}
	return true
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
	if !legal(s, p, m) {
		return
	}
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

// TestWavesShrinkBubbles divides the same work of a device into more waves, which
// must shorten the iteration.
func TestWavesShrinkBubbles(t *testing.T) {
	for p := 2; p <= 8; p++ {
		for _, m := range []int{1, p - 1, p, p + 1, 2 * p, 3 * p, 3*p + 1} {
			last := model.Time(1 << 62)
			for _, v := range []int{2, 4, 6, 12} {
				c := ticks(12 / v)
				got := measure(t, "hanayo", setting{p, m, c, c, c, 0}, v)
				if got.Makespan >= last && m > 1 {
					t.Errorf("P=%d M=%d: makespan %d with %d stages per device, %d with fewer", p, m, got.Makespan, v, last)
				}
				last = got.Makespan
			}
		}
	}
}

// TestDualPipeVPairs runs the pairs of PyTorch's table as one operation each. The
// bubble is then what DeepSeek's README states for 2P stages, (P-1)(F&B + B - 3W);
// for 4 devices and 10 micro-batches the figures are those of the table in PyTorch's
// tests, dualpipev_4rank_10mb.csv.
func TestDualPipeVPairs(t *testing.T) {
	s, err := heuristics.Lookup("dualpipev")
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, line := range readGolden(t, "dualpipev") {
		if !line.by("pytorch") {
			continue
		}
		p := line.problem(s.Backward, unitCosts)
		plan, err := s.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		m := judge(t, p, paired(p, plan, line.pairs))
		bubble := ticks((line.P - 1) * (3 + 2 - 3))
		for d, dm := range m.Devices {
			if idle := m.Makespan - dm.Busy; idle != bubble || dm.Busy != ticks(6*line.M) || dm.Peak != model.Bytes(2*line.P+1) {
				t.Errorf("%s: device %d idle for %d, want %d, busy for %d, peak %d", line.ID, d, idle, bubble, dm.Busy, dm.Peak)
			}
		}
		if line.P == 4 && line.M == 10 {
			seen = true
			if m.Makespan != 66 || largestPeak(m) != 9 || bubble != 6 {
				t.Errorf("makespan %d, peak %d, bubble %d, want 66, 9, 6", m.Makespan, largestPeak(m), bubble)
			}
		}
	}
	if !seen {
		t.Error("no table for 4 devices and 10 micro-batches")
	}
}
