package periodic

import (
	"context"
	"math"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve/ilp"
	"github.com/flexpipe/flexpipe/solve/lp"
)

// program states the search for a pattern as an integer linear program, written
// down from the rules and not from an instance: minimise the span of a
// micro-batch for a period. Columns: the starts by row, the span, and for every two
// rows that share a device how they interleave.
func program(p *model.Problem, period model.Time) *ilp.Problem {
	q := &ilp.Problem{}
	n := len(p.Rows)
	column := func(cost, lower, upper float64, whole bool) int {
		q.Objective = append(q.Objective, cost)
		q.Lower, q.Upper = append(q.Lower, lower), append(q.Upper, upper)
		q.Integer = append(q.Integer, whole)
		return len(q.Objective) - 1
	}
	inf := math.Inf(1)
	row := func(lower, upper float64, cols []int, values []float64) {
		q.Rows = append(q.Rows, lp.Row{Cols: cols, Values: values, Lower: lower, Upper: upper})
	}
	for range n {
		column(0, 0, inf, false)
	}
	span := column(1, 0, inf, false)
	for r := range n {
		row(float64(p.Rows[r].Duration), inf, []int{span, r}, []float64{1, -1})
		for _, pred := range p.Rows[r].Preds {
			row(float64(p.Rows[pred.Row].Duration+pred.Lag), inf, []int{r, int(pred.Row)}, []float64{1, -1})
		}
	}
	y := map[[2]int32]int{}
	for _, on := range p.RowsOn {
		for _, a := range on {
			for _, b := range on {
				if _, ok := y[[2]int32{a, b}]; ok || a >= b {
					continue
				}
				k := column(0, -8, 8, true)
				y[[2]int32{a, b}] = k
				row(float64(p.Rows[a].Duration), float64(period-p.Rows[b].Duration), []int{int(b), int(a), k}, []float64{1, -1, -float64(period)})
			}
		}
	}
	for d, limit := range p.Limits {
		if limit >= model.Unlimited {
			continue
		}
		for _, a := range p.RowsOn[d] {
			m := p.Rows[a].MemoryOn(d)
			if m.AtStart <= 0 {
				continue
			}
			var cols []int
			var values []float64
			room := float64(limit - p.Statics[d] - m.AtStart)
			for _, b := range p.RowsOn[d] {
				o := p.Rows[b].MemoryOn(d)
				net := float64(o.AtStart + o.AtEnd)
				switch {
				case a < b:
					cols, values = append(cols, y[[2]int32{a, b}]), append(values, -net)
				case a > b: // b runs before a as often as a, but for the micro-batches of -1 - y
					cols, values = append(cols, y[[2]int32{b, a}]), append(values, net)
					room -= net
				}
			}
			row(-inf, room, cols, values)
		}
	}
	return q
}

// small draws problems of two stages at most, without operations of no length, in
// which memory is short.
func small(seed uint64) *model.Problem {
	s := modelgen.Random(seed, 3)
	s.Backward = model.Mode(seed % 2)
	for k := range s.F {
		s.F[k], s.I[k], s.W[k] = 1+s.F[k]%3, 1+s.I[k]%3, 1+s.W[k]%3
	}
	if len(s.F) > 2 {
		return nil
	}
	s.Limit = make([]model.Bytes, s.Devices)
	for k, devices := range s.Placement {
		s.Limit[devices[0]] += s.Activation[k] + max(0, -s.FreedByI[k])
	}
	s.Limit[0] += model.Bytes(seed % 3)
	return modelgen.Problem(s)
}

// TestAgainstIntegerProgram compares smallest periods and shortest spans.
func TestAgainstIntegerProgram(t *testing.T) {
	compared, above := 0, 0
	for seed := uint64(0); compared < 30; seed++ {
		p := small(seed)
		if p == nil {
			continue
		}
		got, err := Find(context.Background(), p, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !got.Proved {
			t.Fatalf("seed %d: not proved", seed)
		}
		work := newInstance(p, allSplit).work
		for period := work; period <= got.Period; period++ {
			r, err := ilp.Solve(context.Background(), lp.Gonum(), program(p, period), ilp.Options{MaxNodes: 300})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			switch {
			case period < got.Period && r.X != nil:
				t.Fatalf("seed %d: period %d, the integer program finds %d", seed, got.Period, period)
			case period == got.Period && r.Status == ilp.Optimal && math.Round(r.Objective) != float64(got.Span):
				t.Fatalf("seed %d: period %d: span %d, the integer program finds %g", seed, period, got.Span, r.Objective)
			case period == got.Period && r.Status == ilp.Infeasible:
				t.Fatalf("seed %d: period %d, the integer program finds none", seed, period)
			}
		}
		compared++
		if got.Period > work {
			above++
		}
	}
	t.Logf("%d compared, %d with a period above the work", compared, above)
	if above < 5 {
		t.Fatalf("only %d of %d have a period above the work", above, compared)
	}
}
