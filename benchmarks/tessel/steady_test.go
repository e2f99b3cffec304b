package tessel

import (
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve/periodic"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// searched is what Tessel's own search gave, from README.md: the bubbles in a period,
// -1 if it came to no end, and its seconds.
type searched struct {
	file    string
	limit   model.Bytes // 0: that of the file
	work    model.Time  // of the busiest device for a micro-batch
	bubbles model.Time
	seconds float64
}

var published = []searched{
	{"vshape.yaml", 0, 4, 0, 5.3},
	{"vshape.yaml", 3, 4, 4, 4.6},
	{"vshape.yaml", 2, 4, 4, 4.1},
	{"xshape.yaml", 0, 8, 0, 39.9},
	{"mshape.yaml", 0, 6, 0, 324.8},
	{"nnshape.yaml", 0, 8, -1, 420},
	{"kshape.yaml", 0, 6, 0, 12.6},
}

// TestSteadyStates finds the steady state of each placement and unrolls it to a whole
// plan, warm-up and cool-down included. It must have no more bubbles than Tessel found
// and none where the memory limit is that of the file. How long Tessel's search took
// is logged beside the time here; it is no demand.
func TestSteadyStates(t *testing.T) {
	t.Logf("%-12s %5s %6s %7s %8s %9s %9s %9s", "placement", "limit", "period", "bubbles", "Tessel's", "makespan", "here, ms", "Tessel, s")
	for _, c := range published {
		p := problem(t, c.file, 12, c.limit)
		begin := time.Now()
		pattern, err := periodic.Find(t.Context(), p, periodic.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		r, err := portfolio.JudgePlan(p, pattern.Unroll(p))
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		took := time.Since(begin)
		bubbles := pattern.Period - c.work
		t.Logf("%-12s %5d %6d %7d %8d %9d %9.2f %9.1f", c.file, p.Limits[0], pattern.Period, bubbles, c.bubbles, r.Value,
			took.Seconds()*1000, c.seconds)
		if bubbles < 0 || c.limit == 0 && bubbles > 0 || c.bubbles >= 0 && bubbles > c.bubbles {
			t.Errorf("%s: %d bubbles in a period, Tessel has %d", c.file, bubbles, c.bubbles)
		}
		if !pattern.Proved {
			t.Errorf("%s: the period %d is not proved", c.file, pattern.Period)
		}
		if most := 11*pattern.Period + pattern.Span; r.Value > most {
			t.Errorf("%s: the whole plan takes %d, want at most %d", c.file, r.Value, most)
		}
	}
}
